"""Medical text classification, easy: the topic of an abstract, among five."""

from ._medical_topics import topic_fields
from ._read import table_rows
from .base import Benchmark, CredentialedSource, Filter, first_tenth

BENCHMARK = Benchmark(
    name="medical_text_classification",
    title="Medical Text classification (easy)",
    task="text_classification",
    kind="multiple_choice",
    source=CredentialedSource(
        read=table_rows,
        columns=("text", "class"),
        licence="as stated by its page on Kaggle (chaitanyakck/medical-text)",
        access="the file train.dat of chaitanyakck/medical-text on Kaggle, as a table with the columns text and class",
    ),
    fields=lambda row: topic_fields(row, "text", "class"),
    filters=(Filter("first tenth", first_tenth, of_source=True),),
    groups=("topic",),
    prompt="medical_topics",
    notes="The first tenth of the file, as in the authors' task. The benchmark medical_abstracts is the open kin.",
    cite="lm-evaluation-harness, med_text_classification",
)
