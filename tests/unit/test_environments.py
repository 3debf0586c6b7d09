"""Environments are exactly pinned and hold every import of the rules that name them.

Snakemake appends its own packages to the path of a script, so that a run does not show a missing pin. Therefore
the imports are read from the source here, those inside functions too.
"""

import importlib.metadata
import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "envs"))

from containerise import containerfile  # noqa: E402
from reach import Reach  # noqa: E402

SCRIPTS = ROOT / "workflow" / "scripts"
ENVIRONMENTS = sorted((ROOT / "envs").glob("*.yaml"))
# Packages of which an environment cannot have the version of requirements.lock, and why.
OTHER_VERSIONS = {
    ("engine-vllm", "transformers"): "vLLM 0.32.0 takes 5.16.1 up to 5.19",
    ("engine-vllm", "numpy"): "vLLM's numba takes nothing above 2.3",
    ("bleurt", "transformers"): "bleurt-pytorch 0.0.1 does not import beside transformers 5",
    ("bleurt", "tokenizers"): "transformers 4.57.6 takes nothing above 0.22",
    ("bleurt", "huggingface-hub"): "transformers 4.57.6 takes nothing above 0",
    ("radgraph", "transformers"): "radgraph 0.1.18 asks tokenizers for encode_plus, which transformers 5 lacks",
    ("radgraph", "tokenizers"): "transformers 4.57.6 takes nothing above 0.22",
    ("radgraph", "huggingface-hub"): "transformers 4.57.6 takes nothing above 0",
}


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def exact_pins(lines, source):
    pins = {}
    for line in lines:
        match = re.fullmatch(r"([A-Za-z0-9._-]+)==(\d[A-Za-z0-9.]*)", line)
        assert match, f"{source}: {line!r} is no exact pin"
        assert canonical(match[1]) not in pins, f"{source}: {match[1]} stands there twice"
        pins[canonical(match[1])] = match[2]
    return pins


@cache
def pins_of(path):
    """Every package that the environment gets: its pip section, and what its post-deploy script installs."""
    sections = [part["pip"] for part in yaml.safe_load(path.read_text())["dependencies"] if isinstance(part, dict)]
    extra = path.with_name(f"{path.stem}.post-deploy.sh")
    after = re.findall(r"\S+==\S+", extra.read_text()) if extra.exists() else []
    return exact_pins([*(line for section in sections for line in section), *after], path.name)


@cache
def lock():
    return exact_pins((ROOT / "requirements.lock").read_text().split(), "requirements.lock")


@cache
def distributions():
    installed = importlib.metadata.packages_distributions()
    return {name: {canonical(d) for d in owners} for name, owners in installed.items()}


@cache
def missing(script, environment):
    """Sentences about imports that an environment lacks."""
    have = pins_of(ROOT / "envs" / f"{environment}.yaml")
    return [
        f"{script.name} in {environment}: {file.relative_to(ROOT)} imports {name}, which is not pinned"
        for name, file in sorted(Reach(SCRIPTS, environment).third_party(script).items())
        if name != "snakemake" and not distributions().get(name, {canonical(name)}) & set(have)
    ]


# Snakemake's own view of the rules, so that rules made in loops and environments chosen by functions count as
# they are. A process of its own, because the workflow changes paths and logging.
RULES = """
import json, sys
from pathlib import Path
from snakemake.api import SnakemakeApi
from snakemake.iocontainers import Wildcards
from snakemake.settings.types import ConfigSettings, OutputSettings, Quietness, ResourceSettings
with SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
    settings = ConfigSettings(configfiles=[Path(sys.argv[1])])
    workflow = api.workflow(ResourceSettings(cores=1), settings, snakefile=Path("Snakefile"))._workflow
    study = workflow.globals["STUDY"]
    for rule in workflow.rules:
        families = study.families if callable(rule.conda_env) else [""]
        families = [f for f in families if rule.name != "score" or f != "entqa"]
        specs = [rule.expand_conda_env(Wildcards(fromdict={"family": family})) for family in families]
        print("RULE " + json.dumps({
            "name": rule.name,
            "script": rule.script and str(Path(rule.basedir.get_path_or_uri(secret_free=True)) / rule.script),
            "environments": sorted({Path(s.file.get_path_or_uri(secret_free=True)).stem for s in specs if s}),
            # Snakemake takes a benchmark for an output, so that a rule without outputs has none.
            "needs": [k for k in ("log", "benchmark" if rule.output else "log") if not getattr(rule, k)],
            "shell": bool(rule.shellcmd) or rule.is_run,
        }))
"""


@pytest.fixture(scope="module", params=["config.yaml", "config/demo.yaml"])
def rules(request):
    done = subprocess.run(
        [sys.executable, "-c", RULES, request.param], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return [json.loads(line.removeprefix("RULE ")) for line in done.stdout.splitlines() if line.startswith("RULE ")]


def test_every_environment_pins_python_pip_and_packages_exactly():
    pythons = set()
    for path in ENVIRONMENTS:
        environment = yaml.safe_load(path.read_text())
        assert set(environment) == {"channels", "dependencies"}, path.name
        assert environment["channels"] == ["conda-forge", "nodefaults"], path.name
        python, pip, section = environment["dependencies"]
        assert re.fullmatch(r"python =3\.\d+\.\d+", python), path.name
        assert re.fullmatch(r"pip =\d+\.\d+", pip), path.name
        assert section.keys() == {"pip"}, path.name
        assert pins_of(path), path.name
        pythons.add(python)
    assert len(pythons) == 1, f"the environments differ in Python: {pythons}"
    assert {path.stem for path in ENVIRONMENTS} == {
        *("analysis", "engine-transformers", "engine-vllm", "metrics", "bleurt", "radgraph", "entqa")
    }


def test_versions_are_those_of_the_lock_but_for_named_exceptions():
    differing = {
        (path.stem, name)
        for path in ENVIRONMENTS
        for name, version in pins_of(path).items()
        if name in lock() and version != lock()[name] and path.stem != "engine-vllm"
    }
    direct = {
        ("engine-vllm", name)
        for name in ("transformers", "numpy", "torch", "tokenizers", "safetensors", "pandas", "pyarrow", "tqdm")
        if pins_of(ROOT / "envs/engine-vllm.yaml")[name] != lock()[name]
    }
    assert differing | direct == set(OTHER_VERSIONS)


def test_the_tests_run_the_vllm_of_the_study():
    lines = (ROOT / "envs/vllm_cpu.lock").read_text().splitlines()
    cpu = exact_pins([line for line in lines if not line.startswith("#")], "vllm_cpu.lock")
    gpu = pins_of(ROOT / "envs/engine-vllm.yaml")
    assert cpu["vllm-cpu"] == gpu["vllm"]
    # vllm-cpu names a setuptools of its own, and its triton is the one that xgrammar needs.
    assert {name for name in cpu.keys() & gpu.keys() if cpu[name] != gpu[name]} == {"setuptools", "triton"}


def test_what_embedded_models_come_from_is_pinned_where_they_are_converted():
    from beyondqa.models import EMBEDDED

    pins = pins_of(ROOT / "envs/engine-transformers.yaml")
    for embedded in EMBEDDED.values():
        name, version = embedded.distribution.split("==")
        assert pins[canonical(name)] == version == lock()[canonical(name)]


def test_every_rule_with_a_script_names_an_environment_that_exists(rules):
    assert len(rules) > 5
    names = {path.stem for path in ENVIRONMENTS}
    for rule in rules:
        assert not rule["shell"], f"{rule['name']} is no script rule"
        if rule["script"]:
            assert rule["environments"], f"{rule['name']} names no environment"
            assert set(rule["environments"]) <= names, rule["name"]
            assert not rule["needs"], f"{rule['name']} has no {' and no '.join(rule['needs'])}"


def test_every_import_of_a_rule_is_pinned_in_its_environment(rules):
    faults = [
        fault
        for rule in rules
        if rule["script"]
        for environment in rule["environments"]
        for fault in missing(Path(rule["script"]).resolve(), environment)
    ]
    assert not faults, "\n".join(sorted(set(faults)))


def test_every_metric_and_engine_is_covered_whether_a_config_names_it_or_not():
    from beyondqa import engines, metrics

    scripts = {metrics: SCRIPTS / "score.py", engines: SCRIPTS / "infer.py"}
    faults = [
        fault
        for registry, script in scripts.items()
        for name in registry.names()
        if hasattr(registry.module(name), "ENVIRONMENT")
        for fault in missing(script, registry.module(name).ENVIRONMENT)
    ]
    assert not faults, "\n".join(sorted(set(faults)))


@pytest.mark.parametrize("config", ["config.yaml", "config/demo.yaml"])
def test_metrics_that_entqa_takes_as_baselines_are_covered_where_they_run(config):
    from beyondqa.metrics import entqa_baselines

    named = yaml.safe_load((ROOT / config).read_text())["metrics"].get("entqa_baselines", {})
    modules = [SCRIPTS / "beyondqa" / "metrics" / f"{name}.py" for name in named]
    assert not [fault for module in modules for fault in missing(module, entqa_baselines.ENVIRONMENT)]


def test_a_missing_pin_is_named_with_the_file_that_imports_it(tmp_path, monkeypatch):
    (tmp_path / "envs").mkdir()
    (tmp_path / "envs" / "x.yaml").write_text("dependencies:\n  - pip:\n      - torch==1.0\n")
    (tmp_path / "job.py").write_text("import sys, torch\ndef f():\n    import numpy\n")
    monkeypatch.setitem(globals(), "SCRIPTS", tmp_path)
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    assert missing(tmp_path / "job.py", "x") == ["job.py in x: job.py imports numpy, which is not pinned"]


def test_imports_of_functions_count_where_the_function_can_be_called(tmp_path):
    library = tmp_path / "library"
    library.mkdir()
    (library / "__init__.py").write_text("from .shapes import Base\n")
    (library / "shapes.py").write_text("class Base:\n    def area(self):\n        import scipy\n")
    (library / "deep.py").write_text(
        "from . import other\ndef used():\n    other.named()\n    helper()\ndef helper():\n    import torch\n"
        "def unused():\n    import spacy\n    other.unnamed()\nclass Kept:\n    value = other.field()\n"
    )
    (library / "other.py").write_text(
        "import yaml\ndef named():\n    import numpy.linalg\ndef unnamed():\n    import pandas\n"
        "def field():\n    from jinja2 import Template\n"
    )
    (library / "tables.py").write_text("from .shapes import Base\nTABLE = {1: Base}\nOTHER = {}\n")
    scripts = {
        "from library.deep import used\nused()\n": {"torch", "numpy", "yaml", "jinja2"},
        "from library import Base\nBase()\n": {"scipy"},
        "import library.deep as deep\nrun = print(deep)\n": {"torch", "numpy", "yaml", "jinja2", "spacy", "pandas"},
        "from library.tables import TABLE\nprint(TABLE)\n": {"scipy"},
        "from library.tables import OTHER\nprint(OTHER)\n": set(),
    }
    for number, (source, packages) in enumerate(scripts.items()):
        script = tmp_path / f"job{number}.py"
        script.write_text(source)
        assert set(Reach(tmp_path, "x").third_party(script)) == packages


def test_modules_of_a_registry_count_whole_where_they_run(tmp_path):
    library = tmp_path / "kinds"
    library.mkdir()
    (library / "__init__.py").write_text(
        "from registry import module_names\ndef get(name):\n    return load(module_names(), name)\n"
    )
    (tmp_path / "registry.py").write_text("def module_names(): ...\n")
    (library / "here.py").write_text('ENVIRONMENT = "x"\ndef f():\n    import torch\n')
    (library / "there.py").write_text('ENVIRONMENT = "y"\nimport yaml\ndef f():\n    import spacy\n')
    script = tmp_path / "job.py"
    script.write_text("import kinds\nkinds.get('here')\n")
    assert set(Reach(tmp_path, "x").third_party(script)) == {"torch", "yaml"}
    assert set(Reach(tmp_path, "y").third_party(script)) == {"spacy", "yaml"}


def test_the_containerfile_is_in_step_with_the_environments(monkeypatch):
    monkeypatch.setenv("PATH", f"{ROOT / 'tests' / 'conda' / 'bin'}:{os.environ['PATH']}")
    written = (ROOT / "Containerfile").read_text()
    assert written == containerfile(), "renew it: make environments"
    named = set(re.findall(r"COPY envs/(\S+)\.yaml", written))
    assert named >= {"analysis", "engine-vllm", "metrics", "entqa"}
    # Each environment is copied, made from the copy, and finished by its own script.
    for name in named:
        prefix = re.search(rf"COPY envs/{name}\.yaml (\S+)/environment\.yaml", written)[1]
        assert f"conda env create --prefix {prefix} --file {prefix}/environment.yaml" in written
        script = f"{name}.post-deploy.sh"
        assert (f"bash {prefix}/{script}" in written) == (ROOT / "envs" / script).exists()


def test_the_library_imports_nothing_of_snakemake():
    for path in (SCRIPTS / "beyondqa").rglob("*.py"):
        assert not re.search(r"^\s*(import|from) snakemake", path.read_text(), flags=re.M), path


def test_registered_modules_import_nothing_heavy_when_the_workflow_is_parsed():
    heavy = ("torch", "transformers", "datasets", "pandas", "matplotlib", "vllm", "spacy", "scipy")
    code = (
        "import sys; from beyondqa import benchmarks, engines, figures, metrics, stages, tables\n"
        "from beyondqa.registry import module_names, load_module\n"
        "for p in (benchmarks, engines, figures, metrics, stages, tables):\n"
        "    [load_module(p, name, 'module') for name in module_names(p)]\n"
        f"print(*[name for name in {heavy} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=SCRIPTS, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []
