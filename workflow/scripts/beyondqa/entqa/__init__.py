"""EntQA: how much of a patient's story and of the question an answer takes up.

Source: "Entity-centric evaluation of large language model responses for medical question-answering
tasks" (medRxiv 2025.11.12.25340106) and its public code, of which the variants keep both readings.
"""
