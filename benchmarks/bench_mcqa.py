"""Log-likelihoods of options at speed: this study's transformers engine against lm-evaluation-harness.

    python benchmarks/bench_mcqa.py [--model DIRECTORY] [--mirror DIRECTORY]

60 CareQA items with letters and the 20 with the longest options, whose strings are scored, put to both with the
same model directory, prompts and continuations. The harness runs in its own environment, .venv-lm-eval, made here
where it is missing; its time is that of its fastest batch size. Times include tokenising, not loading the model.
The last line is the result: ratios are the harness's time over ours.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "workflow" / "scripts"))

from beyondqa import engines  # noqa: E402
from beyondqa.engines.base import Engine, LikelihoodRequest  # noqa: E402
from beyondqa.items import MultipleChoiceItem  # noqa: E402
from beyondqa.loading import load  # noqa: E402
from beyondqa.models import prepare_embedded  # noqa: E402

MODEL = ROOT / "resources" / "models" / "SmolLM2-135M-Instruct"
HERE = Path(__file__).parent
ENVIRONMENT = ROOT / ".venv-lm-eval"
REQUIREMENTS = HERE / "lm_eval_requirements.txt"
LETTER_ITEMS, STRING_ITEMS = 60, 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default=str(MODEL))
    shared = os.environ.get("BEYONDQA_SHARED", str(ROOT.parent / "shared"))
    parser.add_argument("--mirror", default=f"{shared}/hub", help="Hub mirror that holds HPAI-BSC/CareQA")
    arguments = parser.parse_args()
    if not MODEL.exists():
        prepare_embedded(MODEL.name, MODEL)
    requests = {"letters": letters(arguments.mirror), "strings": strings(arguments.mirror)}
    harness = ask_harness(arguments.model, requests)
    engine = engines.load({"name": "bench", "engine": "transformers", "directory": arguments.model})
    list(engine.log_likelihoods(requests["letters"][:4] + requests["strings"][:4]))
    ratios, differences = {}, []
    for kind, its_requests in requests.items():
        seconds, values = ask_engine(engine, its_requests)
        theirs = harness[kind]
        best = min(theirs["seconds"], key=theirs["seconds"].get)
        ratios[kind] = theirs["seconds"][best] / seconds
        differences.append(max(abs(a - b) for a, b in zip(values, theirs["values"], strict=True)))
        print(
            f"{kind}: {len(its_requests)} continuations; here {seconds:.2f} s; harness "
            + ", ".join(f"{s:.2f} s at batch size {size}" for size, s in theirs["seconds"].items()),
            flush=True,
        )
    print(
        f"mcqa letters_ratio={ratios['letters']:.2f} strings_ratio={ratios['strings']:.2f}"
        f" max_abs_diff={max(differences):.1e}"
    )


def careqa(mirror: str) -> list[MultipleChoiceItem]:
    prompt = ROOT / "resources" / "prompts" / "careqa.txt"
    return load("careqa", hub_mirror=mirror, originals="", seed=0, prompt=prompt).items


def letters(mirror: str) -> list[LikelihoodRequest]:
    return [
        LikelihoodRequest(item.id, item.benchmark, "option", index, item.prompt, candidate)
        for item in careqa(mirror)[:LETTER_ITEMS]
        for index, candidate in enumerate(item.candidates)
    ]


def strings(mirror: str) -> list[LikelihoodRequest]:
    longest = sorted(careqa(mirror), key=lambda item: -min(map(len, item.options)))[:STRING_ITEMS]
    return [
        LikelihoodRequest(item.id, item.benchmark, "option", index, item.prompt, f" {option}")
        for item in longest
        for index, option in enumerate(item.options)
    ]


def ask_engine(engine: Engine, requests: list[LikelihoodRequest]) -> tuple[float, list[float]]:
    """Seconds, and log-likelihoods in the order of the requests."""
    start = time.perf_counter()
    prepared = engine.prepare(requests)
    by_key = {answer.key: answer.total for batch in engine.plan(prepared) for answer in engine.answer(batch)}
    seconds = time.perf_counter() - start
    return seconds, [by_key[p.key] for p in prepared]


def ask_harness(model: str, requests: dict[str, list[LikelihoodRequest]]) -> dict[str, dict]:
    """Seconds by batch size and log-likelihoods by kind, from lm-evaluation-harness in its own environment."""
    python = ENVIRONMENT / "bin" / "python"
    make_environment(python)
    pairs = {kind: [(r.prompt, r.continuation) for r in its_requests] for kind, its_requests in requests.items()}
    with tempfile.TemporaryDirectory() as folder:
        asked, answered = Path(folder) / "asked.json", Path(folder) / "answered.json"
        asked.write_text(json.dumps(pairs))
        command = [python, HERE / "lm_eval_worker.py", model, asked, answered]
        subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL)
        return json.loads(answered.read_text())


def make_environment(python: Path) -> None:
    made = ENVIRONMENT / ".installed"
    if made.exists():
        return
    print(f"making {ENVIRONMENT.name} from {REQUIREMENTS.name} (some minutes, 2 GB)", flush=True)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    torch = next(line for line in REQUIREMENTS.read_text().splitlines() if line.startswith("torch=="))
    subprocess.run([sys.executable, "-m", "venv", ENVIRONMENT], check=True)
    # Alone and first: a later requirement must not bring another build of it.
    subprocess.run([*pip, torch], check=True)
    subprocess.run([*pip, "--requirement", REQUIREMENTS], check=True)
    made.touch()


if __name__ == "__main__":
    main()
