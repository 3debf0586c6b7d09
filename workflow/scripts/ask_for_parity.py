"""Ask one engine about a few items of each benchmark, so that its answers can be compared with another engine's."""

from itertools import islice

from beyondqa import parity
from beyondqa.logs import to_file
from beyondqa.progress import progress
from beyondqa.records import read_records, write_records


def main() -> None:
    params = snakemake.params
    items = [item for path in snakemake.input.datasets for item in islice(read_records(path), params.per_benchmark)]
    asked = parity.requests(items)
    engine = parity.load({**params.entry, "threads": snakemake.threads}, params.engine)
    answers = []
    with progress(len(asked), f"{engine.model}, {engine.name}") as done:
        for answer in parity.answers(asked, engine):
            answers.append(answer)
            done.advance(1, len(answer.token_log_probabilities))
    write_records(snakemake.output[0], answers)


# vLLM starts processes that import this module again.
if __name__ == "__main__":
    with to_file(snakemake.log[0]):
        main()
