"""CareQA-Open built from CareQA: keyword filter, two rephrasings, selection, validation (paper 1, section 2.1).

Each step turns the decisions of the step before into its own, one a question, kept or dropped with a
reason; a question's text enters the rebuilt set only through the last step. The prompts that the authors
used are unpublished: those in resources/prompts/careqa_open_*.txt are this study's.
"""
