"""Filling the template: one file, nothing from elsewhere, nothing unescaped."""

from __future__ import annotations

import base64
import csv
import hashlib
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..records import read_json

_FOLDER = Path(__file__).parent
# Rows of a figure's numbers that the page shows; the CSV has them all.
SHOWN_ROWS = 200


def page(content: Mapping[str, Any]) -> str:
    """The report as HTML. Text is escaped by the template; the style and the script are named by their hashes
    in the content-security policy, so that no other script runs and nothing is loaded from anywhere."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style, script = ((_FOLDER / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    policy = "; ".join(
        [
            "default-src 'none'",
            f"style-src '{_source_hash(style)}'",
            f"script-src '{_source_hash(script)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    return environment.get_template("page.html.j2").render(policy=policy, style=style, script=script, **content)


def table_content(path: str | Path) -> dict[str, Any]:
    """What the page needs of one table, from its JSON file."""
    content = read_json(path)
    return {**content, "csv": Path(path).with_suffix(".csv").as_posix()}


def figure_content(path: str | Path) -> dict[str, Any]:
    """What the page needs of one figure: the picture as a data URI, and the numbers that it draws."""
    content = read_json(path)
    picture, numbers = Path(path).with_suffix(".png"), Path(path).with_suffix(".csv")
    with open(numbers, encoding="utf-8", newline="") as file:
        columns, *rows = csv.reader(file)
    image = picture.read_bytes()
    return {
        **content,
        "csv": numbers.as_posix(),
        "image": f"data:image/png;base64,{base64.b64encode(image).decode('ascii')}",
        # Width and height in pixels stand in the first chunk of every PNG.
        "size": struct.unpack(">II", image[16:24]),
        "numbers": {"columns": columns, "rows": [list(map(_short, row)) for row in rows[:SHOWN_ROWS]]},
        "n_rows": len(rows),
    }


def command(target: str, configfiles: Sequence[str]) -> str:
    """What remakes a target. The target stands first: options that take several values would swallow it."""
    overlay = f" --configfile {' '.join(configfiles)}" if configfiles else ""
    return f"snakemake {target} --profile profiles/local{overlay}"


def _short(cell: str) -> str:
    try:
        number = float(cell)
    except ValueError:
        return cell
    return cell if number.is_integer() else f"{number:.4g}"


def _source_hash(source: str) -> str:
    digest = hashlib.sha256(source.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
