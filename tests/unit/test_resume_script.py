"""The resume script with stand-ins for squeue and scancel; tests/slurm has it on a real SLURM."""

import os
import subprocess
import sys

import pytest

QUEUE = '#!/bin/sh\necho "7|beyondqa_run|$PWD"; echo "8|beyondqa_run|/elsewhere"; echo "9|other|$PWD"\n'
LOG = "\nSNAKEMAKE\n=========\n  Date: 2026-01-31 12:00:00\n  Host: {host}\n  User: u\n\n{end}"


@pytest.fixture
def resume(root, tmp_path):
    """Run the script in a folder with a workflow of one rule."""
    (tmp_path / "Snakefile").write_text('rule all:\n    output: "x"\n    shell: "touch x"\n')

    def run(*arguments, path=f"{tmp_path}/bin:/usr/bin:/bin", cwd=tmp_path):
        command = [sys.executable, root / "workflow/scripts/resume.py", *arguments]
        return subprocess.run(command, cwd=cwd, env={**os.environ, "PATH": path}, capture_output=True, text=True)

    return run


@pytest.fixture
def scancel(tmp_path):
    """squeue has one job of the folder, and scancel writes down what it is told."""
    for name, text in {"squeue": QUEUE, "scancel": '#!/bin/sh\necho "$@" > scancelled\n'}.items():
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(text)
        program.chmod(0o755)
    return tmp_path / "scancelled"


def test_help_is_only_help(resume):
    """With no program on the PATH, anything but printing would fail."""
    process = resume("--help", path="")
    assert process.returncode == 0, process.stderr
    assert "Go on with a run on SLURM" in process.stdout
    assert "Cancelled" not in process.stdout


def test_a_dry_run_cancels_and_unlocks_nothing(resume, scancel, tmp_path):
    (tmp_path / ".snakemake" / "locks").mkdir(parents=True)
    (tmp_path / ".snakemake" / "locks" / "0.output.lock").write_text(f"{tmp_path}/x\n")
    process = resume("-n", "--cores", "1")
    assert "Would cancel 1 jobs of an earlier run: 7\n" in process.stdout
    assert "Cancelled" not in process.stdout
    assert not scancel.exists()
    assert (tmp_path / ".snakemake" / "locks" / "0.output.lock").exists()


def test_a_run_without_an_end_on_another_machine_is_refused(resume, scancel, tmp_path):
    log = tmp_path / ".snakemake" / "log" / "2026-01-31T120000.000000.snakemake.log"
    log.parent.mkdir(parents=True)
    log.write_text(LOG.format(host="login2", end=""))
    process = resume("-n", "--cores", "1")
    assert process.returncode == 1
    assert "started on login2" in process.stderr
    assert str(log) in process.stderr
    assert "Would cancel" in resume("-n", "--cores", "1", "--main-process-is-dead").stdout
    log.write_text(LOG.format(host="login2", end=f"Complete log(s): {log}\nElapsed time: 0:00:01\n"))
    assert "Would cancel" in resume("-n", "--cores", "1").stdout
    assert not scancel.exists()


@pytest.mark.parametrize("inside_slurm", [False, True])
def test_a_main_process_at_work_is_seen_inside_a_job_of_slurm_too(resume, scancel, tmp_path, inside_slurm):
    (tmp_path / "Snakefile").write_text('rule all:\n    output: "x"\n    shell: "touch began; sleep 60"\n')
    environment = {**os.environ, "SLURM_JOB_ID": "1"} if inside_slurm else os.environ
    main = subprocess.Popen(
        [sys.executable, "-m", "snakemake", "--cores", "1"],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        process = resume("-n")
        assert process.returncode == 1
        assert f"(process {main.pid}) is at work" in process.stderr
        assert not scancel.exists()
    finally:
        os.killpg(main.pid, 9)
        main.wait()


def test_what_is_missing_is_said_in_a_sentence(resume, scancel, tmp_path):
    (tmp_path / "empty").mkdir()
    for process, words in (
        (resume(path=""), "there is no squeue here"),
        (resume(cwd=tmp_path / "empty"), "has no Snakefile"),
    ):
        assert process.returncode == 1
        assert words in process.stderr
        assert "Traceback" not in process.stderr
    (tmp_path / "bin" / "squeue").write_text("#!/bin/sh\necho 'slurm_load_jobs error: unable to contact' >&2; exit 1\n")
    process = resume()
    assert "unable to contact" in process.stderr
    assert "Traceback" not in process.stderr
