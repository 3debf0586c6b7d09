"""Edit the references of the open benchmarks, one edit a text."""

from beyondqa.logs import to_file
from beyondqa.records import read_items, write_csv, write_json
from beyondqa.sensitivity.corruptions import corrupted, entities
from beyondqa.sensitivity.preferences import applicability, chosen

with to_file(snakemake.log[0]) as log:
    texts = {}
    for path in snakemake.input.datasets:
        texts |= chosen({item.id: item.reference for item in read_items([path]).values() if item.reference.strip()})
    edits = corrupted(texts, entities(texts))
    log.info("%d texts, edits: %s", len(texts), {kind: len(found) for kind, found in edits.items()})
    write_json(snakemake.output.texts, {"texts": texts, "edits": edits})
    write_csv(snakemake.output.applicability, applicability(texts, edits))
