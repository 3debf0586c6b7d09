"""Edited references as targets of a model, with probabilities made up and preferences worked out by hand."""

import math

from beyondqa.benchmarks.base import Benchmark, CredentialedSource
from beyondqa.items import BranchLikelihoods, Generation, LogLikelihood, OpenItem
from beyondqa.sensitivity.edits import ORIGINAL, Edit
from beyondqa.sensitivity.targets import item_of, requests, target_items, target_preferences
from beyondqa.stages.base import Job

ITEMS = {
    name: OpenItem(name, "b", "Q?", "It was 5 mg", "Q?", must_have=("5 mg",)) for name in ("b:1", "b:2")
}  # fmt: skip
EDITED = {"unit": "It was 5 milligrams", "number": "It was 50 mg"}
TEXTS = {ORIGINAL: "It was 5 mg", **EDITED}
EDITS = [Edit("b", item, "", kind, text, "It was 5 mg") for kind, text in TEXTS.items() for item in ITEMS]
EDITS.append(Edit("b", "b:1", "m", "number", "an answer", "It was 5 mg"))


def test_edited_references_take_the_reference_s_place():
    targets = target_items(EDITS, ITEMS, 2)
    assert {name: target.reference for name, target in targets.items()} == {
        f"{item}#{kind}": text for item in ITEMS for kind, text in EDITED.items()
    }
    assert targets["b:1#unit"].prompt == "Q?"
    assert targets["b:1#unit"].must_have == ()
    assert {item_of(name) for name in target_items(EDITS, ITEMS, 1)} == {"b:1"}
    without = [edit for edit in EDITS if (edit.item_id, edit.kind) != ("b:1", "unit")]
    assert {item_of(name) for name in target_items(without, ITEMS, 1)} == {"b:2"}


RELAXED = {
    "tokens": 1, "stride": 1, "best": 1, "samples": 1, "seeds": 1, "top_p": 0.9, "temperature": 1.0,
    "variants": ["main"],
}  # fmt: skip


def completion(item, index=0):
    return Generation(
        item,
        "b",
        "m",
        "fixed",
        index,
        "x",
        "length",
        token_ids=(7,),
        token_log_probabilities=(-1.0,),
        token_margins=(0.0,),
    )


def test_a_model_is_asked_for_each_edit_after_the_same_completions():
    described = Benchmark(
        name="b",
        title="b",
        task="open_questions",
        kind="open",
        source=CredentialedSource(read=iter, columns=(), licence="", access=""),
        fields=dict,
    )
    targets = target_items(EDITS, ITEMS, 2)
    job = Job("edits", "m", 1, list(targets.values()), {"b": described}, RELAXED)
    second_seed = completion("b:1", index=1)
    asked = requests(job, [completion("b:1"), second_seed], variants=["reference"])
    alone = [(r.item_id, r.variant, r.continuation) for r in asked if not hasattr(r, "completion")]
    assert alone == [(name, "reference", target.reference) for name, target in targets.items()]
    branches = [(r.item_id, r.completion, r.positions, r.continuation) for r in asked if hasattr(r, "completion")]
    assert sorted(branches) == sorted((f"b:1#{kind}", (7,), (0, 1), f" {text}") for kind, text in EDITED.items())
    assert len(requests(job, [], variants=["reference", "reference_given_prompt"])) == 2 * len(targets)


def likelihood(item, kind, per_word):
    words = len(EDITED[kind].split())
    return LogLikelihood(f"{item}#{kind}", "b", "m", "reference", 0, (per_word,) * words, False)


def test_the_less_perplexing_edit_is_preferred_per_word():
    """Both texts have four words; in b:1 the harmless one is the more probable, in b:2 they are equal."""
    records = [
        likelihood("b:1", "unit", -1.0), likelihood("b:1", "number", -2.0),
        likelihood("b:2", "unit", -3.0), likelihood("b:2", "number", -3.0),
    ]  # fmt: skip
    targets = target_items(EDITS, ITEMS, 2)
    found = target_preferences(targets, records, [], {"perplexity": {}, "accuracy": {}}, seed=1)
    assert set(found["metric"]) == {"word_perplexity", "byte_perplexity", "bits_per_byte"}
    rows = found[found["metric"] == "word_perplexity"].set_index("comparison")
    assert tuple(rows.loc["number", ["n_items", "probability"]]) == (2, 0.75)
    assert rows.loc["negation"].reason == "no item has both texts"
    assert set(found["source"]) == {"target"}
    # In bytes "milligrams" is the longer text: 4 * 3 nats over 19 bytes are less than over 12.
    bytes_ = found[found["metric"] == "byte_perplexity"].set_index("comparison")
    assert bytes_.loc["number"].probability == 1.0


def test_relaxed_perplexity_looks_for_the_edited_text():
    """n = 1, T = 2 positions: C = -(log P0 + log P1). The harmless text is the more probable at both."""
    probabilities = {"unit": (0.5, 0.5), "number": (0.5, 0.25)}
    records = [
        BranchLikelihoods(f"b:1#{kind}", "b", "m", "fixed/reference/0", 0, (0, 1), tuple(map(math.log, found)), 4)
        for kind, found in probabilities.items()
    ]
    targets = target_items(EDITS, ITEMS, 1)
    found = target_preferences(targets, records, [completion("b:1")], {"relaxed_perplexity": RELAXED}, seed=1)
    rows = found[found["comparison"] == "number"].set_index("metric")
    assert set(rows["probability"]) == {1.0}
    assert set(rows["n_items"]) == {1}
    assert all("[reference," in name for name in rows.index)
    assert rows.loc["relaxed_perplexity[reference,n1,stride1,l1,s1,main,p0.9,T1]"].headline
    worse = {"unit": (0.5, 0.1), "number": (0.5, 0.25)}
    records = [
        BranchLikelihoods(f"b:1#{kind}", "b", "m", "fixed/reference/0", 0, (0, 1), tuple(map(math.log, p)), 4)
        for kind, p in worse.items()
    ]
    found = target_preferences(targets, records, [completion("b:1")], {"relaxed_perplexity": RELAXED}, seed=1)
    rows = found[found["comparison"] == "number"].set_index("metric")["probability"]
    assert rows["relaxed_perplexity[reference,n1,stride1,l1,s1,main,p0.9,T1]"] == 0.0
    # The harmless text is the longer one: log 20 / 19 bytes are less than log 8 / 12.
    assert rows["relaxed_cross_entropy_per_byte[reference,n1,stride1,l1,s1,main,p0.9,T1]"] == 1.0
