"""What a table is and the three forms in which it comes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..records import atomic, write_csv, write_json
from ..statistics.digits import steady
from ..statistics.inputs import Analysis, Inputs

if TYPE_CHECKING:
    import pandas as pd

FORMATS = ("csv", "md", "tex", "json")
MISSING = "–"


@dataclass(frozen=True)
class Sheet:
    """A table's contents: `data` is what the CSV holds, full precision, one row a cell or a record;
    `display` is what a reader sees, all text. `notes` stand below it, a sentence each. `links`, in the shape
    of `display`, names the (model, benchmark) behind a cell, joined by a tab, or is "" where there is none."""

    data: pd.DataFrame
    display: pd.DataFrame
    notes: tuple[str, ...] = ()
    links: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Table(Analysis):
    """A table: one module, one rule, one file in each of FORMATS."""

    build: Callable[[Inputs], Sheet]


def write(table: Table, sheet: Sheet, stem: str | Path) -> None:
    """Write `{stem}.csv`, `.md`, `.tex` and `.json` (title, caption and notes, for the report)."""
    write_csv(f"{stem}.csv", steady(sheet.data))
    with atomic(f"{stem}.md") as file:
        file.write(markdown(table, sheet))
    with atomic(f"{stem}.tex") as file:
        file.write(latex(table, sheet))
    write_json(
        f"{stem}.json",
        {
            "name": table.name,
            "rule": table.name,
            "slug": table.slug,
            "title": table.title,
            "caption": table.caption,
            "notes": list(sheet.notes),
            "display": {
                "columns": list(sheet.display.columns),
                "rows": sheet.display.to_numpy().tolist(),
                "links": [list(row) for row in sheet.links],
            },
        },
    )


def markdown(table: Table, sheet: Sheet) -> str:
    """The table as Markdown, with its title, caption and notes."""
    lines = [f"# {table.title}", "", table.caption, ""]
    if len(sheet.display):
        lines += [_markdown_row(sheet.display.columns), _markdown_row(["---"] * sheet.display.shape[1])]
        lines += [_markdown_row(row) for row in sheet.display.itertuples(index=False)]
        lines.append("")
    return "\n".join([*lines, *(f"- {note}" for note in sheet.notes)]).rstrip() + "\n"


def latex(table: Table, sheet: Sheet) -> str:
    """The table as LaTeX: a longtable with booktabs rules, notes below."""
    lines = ["% needs: \\usepackage{booktabs,longtable}"]
    if len(sheet.display):
        style = (
            sheet.display.style.hide(axis="index").format(escape="latex").format_index(escape="latex", axis="columns")
        )
        lines.append(
            style.to_latex(
                environment="longtable",
                hrules=True,
                column_format="l" * sheet.display.shape[1],
                caption=_latex_escaped(f"{table.title}. {table.caption}"),
                label=f"tab:{table.name}",
            ).rstrip()
        )
    lines += [f"\\par\\noindent {_latex_escaped(note)}" for note in sheet.notes]
    return _latex_symbols("\n".join(lines)) + "\n"


def explanation(reason: str, *notes: str) -> Sheet:
    """A table that cannot be made, with the reason in its place."""
    import pandas as pd

    return Sheet(pd.DataFrame({"reason": [reason]}), pd.DataFrame(), (reason, *notes))


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(str(c).replace("|", "\\|").replace("\n", " ") for c in cells) + " |"


def _latex_escaped(text: str) -> str:
    return "".join(_SPECIAL.get(character, character) for character in text)


_SPECIAL = {c: f"\\{c}" for c in "&%$#_{}"} | {
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
}
_SYMBOLS = {
    "†": r"\textdagger{}",
    "‡": r"\textdaggerdbl{}",
    "–": "--",
    "α": r"$\alpha$",
    "β": r"$\beta$",
    "×": r"$\times$",
}


def _latex_symbols(text: str) -> str:
    for symbol, command in _SYMBOLS.items():
        text = text.replace(symbol, command)
    return text
