"""The claims of both papers, and what this run says of each."""

from __future__ import annotations

from ..statistics.claims import CLAIMS, HELD, NOT_HELD, UNDECIDED, verdict_on
from ..statistics.elo import ELO
from ..statistics.inputs import Inputs
from .base import Sheet, Table


def build(inputs: Inputs) -> Sheet:
    """One row a claim."""
    import pandas as pd

    rows = []
    for claim in CLAIMS:
        found = verdict_on(claim, inputs)
        rows.append((claim.name, claim.source, claim.text, claim.statistic, found.result, found.verdict))
    data = pd.DataFrame(rows, columns=["claim", "source", "text", "statistic", "result", "verdict"])
    display = data.set_axis(["", "Source", "Claim", "Statistic", "This run", "Verdict"], axis=1)
    counts = data["verdict"].value_counts()
    return Sheet(
        data,
        display,
        (
            "; ".join(f"{counts.get(verdict, 0)} {verdict}" for verdict in (HELD, NOT_HELD, UNDECIDED)) + ".",
            "Held: every interval that the statistic has supports the claim. Not held: more of them contradict it than "
            "chance lets. Stand-ins and derived models decide nothing.",
            *inputs.model_notes(list(inputs.models)),
        ),
    )


TABLE = Table(
    name="claims",
    slug="claims",
    title="The papers' claims",
    caption="Each claim with the statistic that decides it and what this run gives.",
    covers=lambda benchmark: True,
    needs=(
        "means",
        "accuracy_correlations",
        "benchmark_correlations",
        "clusters",
        "resilience",
        "self_consistency",
        "entqa_group_level",
        "entqa_case_level",
        "entqa_scale",
    ),
    resources=(ELO,),
    build=build,
)
