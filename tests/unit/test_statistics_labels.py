"""Names and orders that all tables and figures share."""

from beyondqa.statistics.labels import metric_rank, model_labels


def test_models_have_short_names_that_tell_them_apart():
    labels = model_labels(["gemma-2-9b-it", "llama3-8b", "llama3-8b-instruct", "my-model-chat"])
    assert labels["my-model-chat"] == "my-model"
    assert labels["gemma-2-9b-it"] == "Gemma-2-9B"  # resources/model_labels.csv
    assert (labels["llama3-8b"], labels["llama3-8b-instruct"]) == ("llama3-8b", "llama3-8b-instruct")


def test_bleurt_stands_behind_bleu_and_length_last():
    names = ["length[words]", "bleurt[b]", "rouge1[nostem]", "bleu[evaluate,13a,nosmooth]", "something new"]
    assert sorted(names, key=metric_rank)[:3] == ["bleu[evaluate,13a,nosmooth]", "rouge1[nostem]", "bleurt[b]"]
    assert {*sorted(names, key=metric_rank)[3:]} == {"length[words]", "something new"}
