"""Prompt templates: text files in which names in braces stand for what is filled in."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .errors import StudyError

# Parts the instruction, which stands once in a prompt, from the item, which stands once a worked example.
DIVIDER = "---\n"


class Template:
    """A prompt template: an instruction, a line of three dashes, and the item's text; or the text alone.

    `{name}` stands for a field. The last newline of the file is not part of the prompt.
    """

    def __init__(self, path: str | Path):
        self.path = Path(path)
        try:
            content = self.path.read_text(encoding="utf-8")
            first, divider, second = content.removesuffix("\n").partition(DIVIDER)
            self.instruction, self.text = (first, second) if divider else ("", first)
            self.names = {
                name for _, name, _, _ in string.Formatter().parse(self.instruction + self.text) if name is not None
            }
        except OSError as error:
            raise StudyError(error.strerror or str(error), file=path, remedy="Write the prompt template") from error
        except ValueError as error:
            raise StudyError(f"not a template: {error}", file=path, remedy="Write a literal brace twice") from error

    def fill(self, values: Mapping[str, Any], examples: Sequence[tuple[Mapping[str, Any], str]] = ()) -> str:
        """The prompt of one item, behind worked examples with their answers, two newlines between them."""
        if unknown := sorted(self.names - values.keys()):
            raise StudyError(
                f"knows no {{{unknown[0]}}}", file=self.path, remedy=f"It may be one of: {', '.join(sorted(values))}"
            )
        shown = [self.text.format_map(example) + answer for example, answer in examples]
        return self.instruction.format_map(values) + "\n\n".join([*shown, self.text.format_map(values)])
