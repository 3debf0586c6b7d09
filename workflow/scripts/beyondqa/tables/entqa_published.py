"""Paper 2's own figures held against themselves: p-values against coefficients, statements against tables."""

from __future__ import annotations

from ..entqa import published
from ..statistics.inputs import Inputs
from . import _entqa
from .base import Sheet, Table


def build(inputs: Inputs) -> Sheet:
    """The p-values that do not fit their coefficient and n, and every statement of the text."""
    import pandas as pd

    *files, claims_file = inputs.files["resources"]
    tables = {number: published.read(file) for number, file in zip(published.FILES, files, strict=True)}
    checks = published.check(tables)
    claims = published.check_claims(published.read(claims_file), tables)
    wrong = checks[~checks["agrees"]]
    display = [
        {"Statement": claim["claim"], "Holds": "yes" if claim["holds"] else "no", "Finding": f"{claim['finding']}."}
        for claim in claims.to_dict("records")
    ] + [
        {
            "Statement": f"Table {row['table']}, {row['benchmark']}, {row['metric']}: p = {row['p_published']:.4f}",
            "Holds": "no",
            "Finding": f"{row['coefficient']} {row['value']:+.4f}, n = {row['n']}: p = {row['p_recomputed']:.4f}.",
        }
        for row in wrong.to_dict("records")
    ]
    rows = published.fitting_rows(tables[2])
    fewer = [
        f"{name}: {printed} answers are printed, its p-values fit {least} to {most}"
        for name, (printed, least, most) in rows.items()
        if most < printed
    ]
    notes = [
        f"{len(checks) - len(wrong)} of {len(checks)} published p-values fit their coefficient and number of answers, "
        "rounding allowed for. Kendall's tau of table 3 has ties and is left out.",
        *(f"{sentence}. The paper's code leaves answers without an explanation out." for sentence in fewer),
    ]
    data = pd.concat([checks.assign(kind="p"), claims.assign(kind="statement")], ignore_index=True)
    return Sheet(data, pd.DataFrame(display), tuple(notes))


TABLE = Table(
    name="entqa_published",
    slug="entqa_published_checks",
    title="EntQA: the published figures held against themselves",
    caption="Statements of the paper's text against its tables, and printed p-values against their coefficients.",
    covers=_entqa.covers,
    needs=(),
    families=("entqa",),
    resources=(*(published.path(number) for number in published.FILES), f"{published.FOLDER}/{published.CLAIMS}"),
    build=build,
)
