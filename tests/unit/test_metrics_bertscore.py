"""BERTScore, judged by the package bert-score and by a plain computation, on encoders made here or embedded."""

import json
import shutil

import pytest

from beyondqa import encoders
from beyondqa.errors import StudyError
from beyondqa.metrics import score
from beyondqa.metrics.bertscore import metrics as bertscore_metrics
from beyondqa.scoring import score_pairs

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

MINILM = {"name": "all-minilm-l6-v2", "embedded": True, "layer": 5, "stand_in": "roberta-large"}
F1 = "bertscore_f1[all-minilm-l6-v2,L5]"
PAIRS = [
    ("The patient has a heart attack.", "Myocardial infarction was diagnosed."),
    ("No fever.", "The child has fever and a cough for three days, worse at night."),
    ("Metformin lowers glucose", "Metformin lowers glucose"),
    ("🩺 نعم", "A short text"),
    ("x", "y"),
]


@pytest.fixture(scope="module")
def folder():
    return encoders.directory(MINILM)


def of(name, pairs, entry=MINILM):
    return score(name, [p for p, _ in pairs], [r for _, r in pairs], encoders=[entry])


def test_values_are_those_of_bert_score(folder):
    bert_score = pytest.importorskip("bert_score")
    expected = bert_score.score(
        [p for p, _ in PAIRS], [r for _, r in PAIRS], model_type=str(folder), num_layers=5, batch_size=1
    )
    for part, values in zip(("precision", "recall", "f1"), expected, strict=True):
        assert of(f"bertscore_{part}[all-minilm-l6-v2,L5]", PAIRS) == pytest.approx(values.tolist(), abs=1e-5)


def plain_f1(folder, layer, prediction, reference):
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder).eval()

    def vectors(text):
        with torch.no_grad():
            out = model(**tokenizer(text, return_tensors="pt"), output_hidden_states=True)
        states = out.hidden_states[layer][0].double()
        return states / states.norm(dim=1, keepdim=True)

    left, right = vectors(prediction), vectors(reference)
    best_left = [max(float(a @ b) for b in right) for a in left[1:-1]]
    best_right = [max(float(a @ b) for a in left) for b in right[1:-1]]
    precision, recall = sum(best_left) / len(best_left), sum(best_right) / len(best_right)
    return 2 * precision * recall / (precision + recall)


def test_values_are_those_of_a_plain_loop_over_hidden_states(folder):
    assert of(F1, PAIRS[:2]) == pytest.approx([plain_f1(folder, 5, *pair) for pair in PAIRS[:2]], abs=1e-5)


def test_a_value_does_not_depend_on_its_neighbours():
    long = ("words of a long answer " * 60, "words of a long reference " * 50)
    together = of(F1, [*PAIRS, long, *reversed(PAIRS)])
    alone = [of(F1, [pair])[0] for pair in PAIRS]
    assert together[: len(PAIRS)] == pytest.approx(alone, abs=1e-5)
    assert together[len(PAIRS) + 1 :] == pytest.approx(alone[::-1], abs=1e-5)


def test_a_text_equal_to_its_reference_scores_one():
    assert of(F1, [PAIRS[2]]) == pytest.approx([1.0], abs=1e-6)


def test_truncated_texts_are_counted_and_others_are_not():
    pairs = [("pain " * 510, "pain"), ("pain " * 511, "pain"), ("pain", "pain " * 600)]
    columns, signatures = score_pairs(pairs, {"bertscore": {"encoders": [MINILM]}})
    assert columns[F1].truncated == {1, 2}
    assert signatures["bertscore"]["encoders"][0]["encoder"] == "all-minilm-l6-v2"


def test_hard_texts_give_values_or_flagged_nulls():
    texts = ["", " \t", "\u200b", "nul\0here", "lone \ud800 surrogate", "word " * 10_000, "\u0301", "حمى"]
    columns, _ = score_pairs(
        [(text, "a plain reference") for text in texts] + [("an answer", "a plain reference")],
        {"bertscore": {"encoders": [MINILM]}},
    )
    found = columns[F1]
    assert list(found.values[:3]) == [0.0, 0.0, 0.0]
    assert found.values[6] is None
    assert "no token" in found.reasons[6]
    assert all(found.values[n] is not None for n in (3, 4, 5, 7))
    assert found.values[8] == pytest.approx(of(F1, [("an answer", "a plain reference")])[0], abs=1e-5)


def test_chunks_hold_the_pairs_of_one_reference_together(monkeypatch):
    monkeypatch.setattr(encoders, "CHUNK_CHARACTERS", 25)
    pairs = [(f"answer {n}", f"reference {n % 2}") for n in range(8)]
    chunks = list(encoders._chunks(pairs))
    assert sorted(index for chunk in chunks for index in chunk) == list(range(8))
    assert len(chunks) > 1
    small = of(F1, pairs)
    monkeypatch.undo()
    assert small == pytest.approx(of(F1, pairs), abs=1e-5)


def test_a_stand_in_is_labelled():
    metric = {m.name: m for m in bertscore_metrics({"encoders": [MINILM]})}[F1]
    assert metric.stand_in == "roberta-large"
    assert "all-minilm-l6-v2" in metric.label
    assert bertscore_metrics({})[2].name == "bertscore_f1[roberta-large,L17]"


def test_an_absent_encoder_is_refused_with_a_remedy(tmp_path):
    with pytest.raises(StudyError, match=r"roberta-large.*fetch"):
        of("bertscore_f1[roberta-large,L17]", PAIRS, {"name": "roberta-large", "layer": 17, "path": str(tmp_path)})


def test_a_layer_that_the_encoder_lacks_is_refused():
    with pytest.raises(StudyError, match="layer 7 of an encoder with 6 layers"):
        of("bertscore_f1[all-minilm-l6-v2,L7]", PAIRS, {**MINILM, "layer": 7})


def test_weights_that_lack_a_part_are_refused(folder, tmp_path):
    from safetensors.torch import load_file, save_file

    broken = tmp_path / "broken"
    shutil.copytree(folder, broken)
    weights = load_file(broken / "model.safetensors")
    del weights["encoder.layer.1.output.dense.weight"]
    save_file(weights, broken / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(StudyError, match=r"weights lack encoder\.layer\.1\.output\.dense\.weight"):
        of("bertscore_f1[broken,L3]", PAIRS, {"name": "broken", "layer": 3, "path": str(broken)})


@pytest.fixture(scope="module")
def byte_level(tmp_path_factory):
    """A small RoBERTa with random weights, 30 usable positions and a byte-level tokenizer."""
    from tokenizers import ByteLevelBPETokenizer

    directory = tmp_path_factory.mktemp("roberta")
    tokenizer = ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    tokenizer.train_from_iterator(["fever and cough and fever in the night"] * 50, 300, special_tokens=special)
    tokenizer.save_model(str(directory))
    (directory / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "RobertaTokenizer"}))
    torch.manual_seed(0)
    config = transformers.RobertaConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=16,
        num_hidden_layers=3,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=32,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
    )
    transformers.RobertaModel(config).save_pretrained(directory)
    return {"name": "tiny", "layer": 2, "path": str(directory)}


def test_roberta_words_start_with_a_space_and_positions_are_offset(byte_level):
    encoder = encoders.load(byte_level, 2, 1)
    assert encoder.limit == 30
    by_text = dict(encoder.embed(["fever", "cough fever", " fever", "fever " * 40]))
    # A first word is the same token as inside a text: bert-score gives RoBERTa a space before the first word.
    assert by_text[0].tokens[1:-1] == by_text[1].tokens[-2:-1]
    assert by_text[0].tokens == by_text[2].tokens
    assert by_text[3].truncated
    assert not by_text[1].truncated
    assert len(by_text[3].tokens) == 30
