"""Comparing two engines' answers: agreements, near-ties and disagreements made by hand."""

import pytest
import yaml

from beyondqa.config import validated
from beyondqa.errors import StudyError
from beyondqa.items import Generation, LogLikelihood, MultipleChoiceItem, OpenItem
from beyondqa.parity import ENGINES, Agreement, compare, load, page, requests, rows
from beyondqa.study import Study


def likelihood(item, *values, variant="option"):
    return LogLikelihood(item, "bench", "m", variant, 0, values, False)


def greedy(item, tokens, margins=None):
    margins = tuple(margins or [1.0] * len(tokens))
    return Generation(item, "bench", "m", "greedy", 0, "", "stop", token_ids=tuple(tokens), token_margins=margins)


def test_log_likelihoods_agree_where_every_token_does():
    first = [likelihood("a", -1.0, -2.0), likelihood("b", -3.0), likelihood("c", -1.0, variant="reference")]
    second = [likelihood("b", -3.00005), likelihood("a", -1.0002, -2.0), likelihood("c", -1.0, variant="reference")]
    options, references = compare(first, second)
    assert (options.kind, options.count, options.equal, options.apart, options.worst) == ("option", 2, 1, ("a",), "a")
    assert options.max_abs_diff == pytest.approx(2e-4)
    assert not options.agrees
    assert references.agrees
    assert compare(first, second, tolerance=3e-4)[0].agrees
    # What each token may differ by adds up over a text, whatever engine: the sum is told, and judged by its tokens.
    (long,) = compare([likelihood("d", *[-1.0] * 50)], [likelihood("d", *[-1.00009] * 50)])
    assert long.agrees
    assert (long.max_abs_diff, long.max_abs_diff_total) == pytest.approx((9e-5, 4.5e-3))
    # Differences that cancel out do not hide.
    (crossed,) = compare([likelihood("e", -1.0, -2.0)], [likelihood("e", -1.5, -1.5)])
    assert (crossed.apart, crossed.max_abs_diff, crossed.max_abs_diff_total) == (("e",), 0.5, 0.0)


def test_a_first_difference_is_explained_by_a_near_tie_or_not():
    first = [greedy("same", [1, 2]), greedy("tie", [1, 2, 3], [1, 1e-4, 1]), greedy("apart", [1, 2, 3], [1, 1, 1e-5])]
    second = [greedy("same", [1, 2]), greedy("tie", [1, 5, 9], [1, 1e-3, 1]), greedy("apart", [1, 7, 3], [1, 0.5, 1])]
    (agreement,) = compare(first, second)
    assert (agreement.count, agreement.equal) == (3, 1)
    assert (agreement.near_ties, agreement.apart) == (("tie",), ("apart",))
    # One ends where the other goes on, without a token in which they differ.
    (cut,) = compare([greedy("x", [1, 2])], [greedy("x", [1, 2, 3])])
    assert cut.apart == ("x",)


def test_different_requests_cannot_be_compared():
    with pytest.raises(StudyError, match=r"bench, b, option, 0: 1 answers are in one set alone"):
        compare([likelihood("a", -1.0)], [likelihood("a", -1.0), likelihood("b", -1.0)])
    with pytest.raises(StudyError, match=r"record a: one engine scores 1 tokens, the other 2"):
        compare([likelihood("a", -1.0)], [likelihood("a", -0.5, -0.5)])


def test_what_both_are_asked():
    closed = MultipleChoiceItem("q", "careqa", "Which?", ("x", "y"), (" A", " B"), 0, "Which? Answer:")
    opened = OpenItem("r", "mediqa2019", "Why?", "Because.", "Why? Answer:")
    asked = requests([closed, opened], max_new_tokens=8)
    assert [(r.item_id, r.variant, r.index) for r in asked] == [
        ("q", "option", 0),
        ("q", "option", 1),
        ("r", "reference", 0),
        ("r", "reference_given_prompt", 0),
        ("r", "greedy", 0),
    ]
    assert asked[2].prompt == ""
    assert asked[4].keep_tokens


def test_only_models_that_both_engines_can_run_are_compared(root):
    config = yaml.safe_load((root / "config/demo.yaml").read_text())
    # The demo's smallest ones are equally large, so that the first counts.
    assert Study(validated(config)).parity_models == ["SmolLM2-135M-Instruct"]
    config["models"][2]["parameters"] = 0.1
    assert Study(validated(config)).parity_models == ["SmolLM2-135M-noise-0.1"]
    config["models"].append({"name": "read", "engine": "recorded", "predictions": {}, "parameters": 0.01})
    assert Study(validated(config)).parity_models == ["SmolLM2-135M-noise-0.1"]
    config["parity"] = {"models": ["read"]}
    with pytest.raises(StudyError, match=r"parity\.models names 'read', which is no model that both engines can run"):
        validated(config)


def test_both_engines_are_loaded_in_float32_with_the_shorter_context(tmp_path):
    (tmp_path / "config.json").write_text('{"max_position_embeddings": 100}')
    (tmp_path / "model.safetensors").touch()
    entry = {"name": "m", "engine": "vllm", "directory": str(tmp_path), "dtype": "bfloat16", "prefix_caching": True}
    for name in ENGINES:
        engine = load(entry, name)
        # vLLM keeps two tokens of the model's 100.
        assert (engine.name, engine.dtype, engine.context) == (name, "float32", 98)
        assert engine.entry["prefix_caching"]
        assert load({**entry, "context": 64}, name).context == 64


def test_a_page_shows_every_kind_and_names_what_is_apart_or_tied():
    agreements = {
        "m": [
            Agreement("option", 4, 3, apart=("q1",), max_abs_diff=0.25, max_abs_diff_total=0.5, worst="q1"),
            Agreement("greedy", 2, 1, near_ties=("q2",)),
        ]
    }
    lines = page(agreements, 1e-4).splitlines()
    assert "| m | option | 4 | 3 | 0 | 1 | 0.25 | 0.5 |" in lines
    assert "| m | greedy | 2 | 1 | 1 | 0 | – | – |" in lines
    assert lines[-2:] == ["- m, option, q1: apart", "- m, greedy, q2: near-tie"]
    option, text = rows(agreements)
    assert (option["model"], option["answers"], option["n"], option["apart_items"]) == ("m", "option", 4, "q1")
    assert (text["near_ties"], text["near_tie_items"], text["apart"]) == (1, "q2", 0)
