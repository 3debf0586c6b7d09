"""Say where the tables, figures and the report of a run are."""

import sys
from pathlib import Path


def summary(results: Path) -> str:
    """A few lines that name the report, the tables and the figures under `results`."""
    tables = sorted(path.stem for path in results.glob("tables/*.csv"))
    figures = sorted(path.stem for path in results.glob("figures/*.png"))
    return "\n".join(
        [
            f"Report:  {results / 'report.html'}",
            f"Tables:  {results / 'tables'}  ({len(tables)}: {', '.join(tables)})",
            f"Figures: {results / 'figures'}  ({len(figures)}: {', '.join(figures)})",
        ]
    )


if __name__ == "__main__":
    print(summary(Path(sys.argv[1])))
