"""CareQA in Spanish, the language of the examinations."""

import dataclasses

from .careqa import BENCHMARK as ENGLISH

BENCHMARK = dataclasses.replace(
    ENGLISH,
    name="careqa_es",
    title="CareQA (Spanish)",
    source=dataclasses.replace(ENGLISH.source, configs=("CareQA_es",)),
    prompt="careqa_es",
    rows="careqa_es",
    language="es",
    notes="`cop` counts from 1. The English items are translations of these, so the counts are the same.",
)
