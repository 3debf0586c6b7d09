"""The tables: one named rule each, from the modules of beyondqa/tables."""

from beyondqa import tables as table_registry

TABLES = table_registry.collection()
STUDY_TABLES = [table for table in TABLES if is_in_study(table)]

TABLE_HELPERS = sorted(f"tables/{path.name}" for path in (Path(LIBRARY) / "tables").glob("_[a-z]*.py"))


def table_outputs(table):
    return {form: f"{RESULTS}/tables/{table.slug}.{form}" for form in ("csv", "md", "tex", "json")}


for table in TABLES:

    rule:
        name:
            table.name
        input:
            **analysis_files(table),
            manifests=manifest_files(covered(table)),
            resources=list(table.resources),
            library=library(
                "statistics/inputs.py", "statistics/labels.py", "tables/base.py", *TABLE_HELPERS, f"tables/{table.name}.py"
            ),
        output:
            **table_outputs(table),
        log:
            f"{RESULTS}/logs/tables/{table.slug}.log",
        benchmark:
            f"{RESULTS}/benchmarks/tables/{table.slug}.tsv"
        conda:
            "../envs/analysis.yaml"
        params:
            module=table.name,
            models=analysis_models(table),
            benchmarks=analysis_benchmarks(table),
            families=list(STUDY.families),
            groups=analysis_groups(),
            seed=config["study"]["seed"],
        threads: 1
        resources:
            mem_mb=2000,
            runtime=10,
        script:
            "../workflow/scripts/make_table.py"


rule tables:
    input:
        [path for table in STUDY_TABLES for path in table_outputs(table).values()],
