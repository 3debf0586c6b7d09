"""ROUGE on ACI-Bench's recorded notes, judged by the figures that its authors published."""

import csv

import pandas as pd
import pytest

from beyondqa.scoring import score_pairs

SPLITS = {"test1": "clinicalnlp_taskB_test1", "test2": "clinicalnlp_taskC_test2"}

# Row of the published table -> start of the name of its file.
FILES = {
    "longest spearker turn": "longest_speaker_turn_{split}",
    "longest doctor turn": "longest_doctor_turn_{split}",
    "12 speaker turns": "12_speaker_turns_{split}",
    "12 doctor turns": "12_doctor_turns_{split}",
    "transcript": "transcript_{split}",
    "train$_{\\mathrm{UMLS}}$": "UMLS_similarity_{split}",
    "train$_{\\mathrm{sent}}$": "spacy_similarity_{split}",
    "BART": "BART_large_{split}_full",
    "BART (Division)": "BART_large_{split}_division_combined",
    "BART+FT$_{\\mathrm{SAMSum}}$": "bart-large-xsum-samsum_{split}_full",
    "BART+FT$_{\\mathrm{SAMSum}}$ (Division)": "bart-large-xsum-samsum_{split}_division_combined",
    "BioBART": "BioBART_{split}_full",
    "BioBART (Division)": "BioBART_{split}_division_combined",
    "LED": "LED_{split}_full",
    "LED (Division)": "LED_{split}_division_combined",
    "LED+FT$_{\\mathrm{PubMed}}$": "LED_pubmed_{split}_full",
    "LED+FT$_{\\mathrm{PubMed}}$ (Division)": "LED_pubmed_{split}_division_combined",
    "Text-Davinci-002": "{test}Text-Davinci-002_",
    "Text-Davinci-003": "{test}Text-Davinci-003_",
    "ChatGPT": "{test}ChatGPT_",
    "GPT-4": "{test}GPT-4_",
}

# The source has no predictions of these two rows of test1.
ABSENT = {("test1", "BART (Division)"), ("test1", "LED+FT$_{\\mathrm{PubMed}}$ (Division)")}

# The table's "ROUGE-L" is the summary-level one.
COLUMNS = {"ROUGE-1": "rouge1[nostem]", "ROUGE-2": "rouge2[nostem]", "ROUGE-L": "rougeLsum[nostem]"}


def published(shared, test):
    """The block "ALL" of a table: the rows before the next block."""
    with open(shared / f"recorded/aci_bench_baselines/tables/{test}.csv", newline="", encoding="utf-8") as file:
        rows = [row for row in csv.reader(file) if row]
    header = next(row for row in rows if row[0] == "Model")
    start = rows.index(header) + 1
    found = {}
    for row in rows[start:]:
        if row[0] == "Model":
            break
        if row[0] in FILES and row[0] not in found:
            found[row[0]] = dict(zip(header, row, strict=True))
    return found


def pairs_of(shared, test, system):
    name = FILES[system].format(split=SPLITS[test], test=test)
    predictions = pd.read_csv(shared / f"recorded/aci_bench_baselines/predictions/{name}.csv.gz", keep_default_na=False)
    references = pd.read_csv(shared / f"data/aci_bench/{SPLITS[test]}.csv").set_index("encounter_id").note
    return [(row.note, references[row.encounter_id]) for row in predictions.itertuples()]


@pytest.mark.parametrize("test", list(SPLITS))
@pytest.mark.parametrize("system", list(FILES))
def test_rouge_is_the_published_one_to_two_decimals(shared, test, system):
    if (test, system) in ABSENT:
        assert not list(
            (shared / "recorded/aci_bench_baselines/predictions").glob(
                FILES[system].format(split=SPLITS[test], test=test) + "*"
            )
        )
        return
    expected = published(shared, test)[system]
    pairs = pairs_of(shared, test, system)
    assert len(pairs) == 40
    columns, _ = score_pairs(pairs, {"rouge": {}})
    for column, metric in COLUMNS.items():
        values = columns[metric].values
        assert round(100 * sum(values) / len(values), 2) == float(expected[column]), column
