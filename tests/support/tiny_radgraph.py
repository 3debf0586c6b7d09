"""Writes weights of RadGraph, small and random, into the folder that is named; runs in RadGraph's environment.

The package reads its weights when it is made, so they are kept at the moment when it would read them.
"""

import json
import sys
from pathlib import Path
from unittest import mock

import radgraph.radgraph
import torch
import transformers
from radgraph.allennlp.data import Vocabulary

# With "a" and "b" the package finds out what surrounds a text.
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b"]
WORDS = [*SPECIAL, "no", "pleural", "effusion", "or", "heart", "size", "is", "normal", "mild", "edema", "##s", "."]
LABELS = {
    "radgraph__ner_labels": ("", "Observation::definitely present", "Observation::definitely absent"),
    "radgraph__relation_labels": ("", "located_at", "modify"),
}


def write_encoder(folder: Path) -> None:
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    transformers.BertConfig(vocab_size=len(WORDS), initializer_range=1.0, **sizes).save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(WORDS))
    transformers.BertTokenizerFast(vocab_file=str(folder / "vocab.txt")).save_pretrained(folder)


def config(encoder: Path) -> dict:
    bert = {"bert": {"model_name": str(encoder), "max_length": 512}}
    shares = {"trigger_spans_per_word": 0.3, "argument_spans_per_word": 0.8}
    modules = {
        "coref": {"spans_per_word": 0.3, "max_antecedents": 10},
        "ner": {},
        "relation": {"spans_per_word": 0.5},
        "events": {**shares, "loss_weights": {"trigger": 1.0, "arguments": 1.0}},
    }
    model = {
        "type": "dygie",
        "initializer": {},
        "module_initializer": {},
        "embedder": {"token_embedders": bert},
        "feature_size": 4,
        "max_span_width": 3,
        "target_task": "relation",
        "feedforward_params": {"num_layers": 1, "hidden_dims": 8, "dropout": 0.0},
        "loss_weights": {"ner": 1.0, "relation": 1.0, "coref": 0.0, "events": 0.0},
        "modules": modules,
    }
    return {"dataset_reader": {"max_span_width": 3, "token_indexers": bert}, "model": model}


def main(folder: Path) -> None:
    encoder, weights = folder / "encoder", folder / "radgraph"
    for made in (encoder, weights):
        made.mkdir(parents=True)
    torch.manual_seed(11)
    write_encoder(encoder)
    vocabulary = Vocabulary(non_padded_namespaces=["*labels"])
    for namespace, labels in LABELS.items():
        for label in labels:
            vocabulary.add_token_to_namespace(label, namespace)
    vocabulary.save_to_files(str(weights / "vocabulary"))
    (weights / "config.json").write_text(json.dumps(config(encoder)))

    def keep(model, state, strict):
        torch.save(model.state_dict(), weights / "weights.th")

    package = radgraph.radgraph
    with mock.patch.object(torch, "load"), mock.patch.object(package.dygie.DyGIE, "load_state_dict", keep):
        package.RadGraph(model_type="radgraph", model_cache_dir=str(folder))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
