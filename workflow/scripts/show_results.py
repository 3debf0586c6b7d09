"""Say where the tables, figures and the report of a run are."""

import sys
from pathlib import Path


def summary(results: Path) -> str:
    """A few lines that name the report, and how many tables and figures lie where, under `results`."""
    tables, figures = (sorted(results.glob(pattern)) for pattern in ("tables/*.csv", "figures/*.png"))
    return "\n".join(
        [
            f"Report:  {results / 'report.html'}",
            f"Tables:  {results / 'tables'}   {len(tables)}, each as .csv, .md and .tex",
            f"Figures: {results / 'figures'}  {len(figures)}, each as .pdf, .png and the .csv that it draws",
        ]
    )


if __name__ == "__main__":
    print(summary(Path(sys.argv[1])))
