"""Names that every rule file uses. Parsing is cheap: no torch, no network, no tables."""

import functools
import sys
from pathlib import Path

sys.path.insert(0, str(Path(workflow.basedir) / "workflow" / "scripts"))

from beyondqa import engines as engine_registry, predictions as prediction_formats, stages as stage_registry
from beyondqa.config import validated
from beyondqa.errors import StudyError
from beyondqa.study import Study

try:
    config = validated(config)
except StudyError as error:
    sys.exit(f"Beyond-QA: {error}")

STUDY = Study(config)
RESULTS = config["results"]
LIBRARY = "workflow/scripts/beyondqa"


def one_of(names):
    """A wildcard constraint: exactly one of the names, or nothing where there are none."""
    return "|".join(map(re.escape, names)) or "(?!)"


def library(*modules):
    """Files of library modules that a rule depends on, so that an edit of one remakes its outputs."""
    paths = [Path(LIBRARY) / module for module in modules]
    return sorted(str(p) for path in paths for p in (path.glob("*.py") if path.is_dir() else [path]))


def dataset_files(benchmarks):
    return [f"{RESULTS}/datasets/{name}.jsonl" for name in benchmarks]


def inference_files(stage, model, pack, folder="inference"):
    """All shards of one (stage, model, pack); none where the stage asks this model nothing."""
    if not STUDY.stage_benchmarks(stage, pack, model):
        return []
    shards = STUDY.shards(stage)
    return [f"{RESULTS}/{folder}/{stage}/{model}/{pack}/{i}-of-{shards}.jsonl" for i in range(1, shards + 1)]


def helper_files(stage, pack):
    """All shards of the helper model's work on the answers of every model."""
    if not STUDY.stage_benchmarks(stage, pack):
        return []
    helper, shards = STUDY.helper_stages[stage], STUDY.shards(stage)
    return [f"{RESULTS}/inference/{stage}/{helper}/{pack}/{i}-of-{shards}.jsonl" for i in range(1, shards + 1)]


@functools.cache
def score_files(family, pack, stage=None):
    """Score files of a metric family for all models of the pack that can have it.

    Without a stage: of the answers that tables are about (greedy ones, or log-likelihoods).
    """
    stage = stage or STUDY.main_stage(family)
    return [
        f"{RESULTS}/scores/{family}/{stage}/{model}/{pack}.parquet"
        for model in STUDY.models_of(pack)
        if STUDY.scored_benchmarks(family, stage, model, pack)
    ]


wildcard_constraints:
    model=one_of(STUDY.models),
    pack=one_of(STUDY.packs),
    benchmark=one_of(STUDY.benchmarks),
    family=one_of(STUDY.families),
    stage=one_of(stage_registry.names()),
    shard=r"\d+",
    shards=r"\d+",
