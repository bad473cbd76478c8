"""Results as small tables: text for a terminal, HTML for a notebook."""

from __future__ import annotations

import html
from typing import Any, Sequence

TEXT_ROWS = 10
HTML_ROWS = 20
CELL_LETTERS = 40


def cell(value: Any) -> str:
    """A value as the text of a cell, on one line and cut."""
    if value is None:
        return "null"
    text = {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)
    text = " ".join(text.split("\n"))
    return text if len(text) <= CELL_LETTERS else text[: CELL_LETTERS - 1] + "…"


def counted(rows: int, shown: int) -> str:
    """How many rows there are, and how many of them are shown."""
    noun = "row" if rows == 1 else "rows"
    return f"{rows} {noun}" if rows <= shown else f"{rows} {noun}, the first {shown} shown"


def is_number(value: Any) -> bool:
    """Whether it stands at the right."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def text_table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table with a line for each of the first rows."""
    shown = rows[:TEXT_ROWS]
    cells = [[cell(value) for value in row] for row in shown]
    widths = [max([len(name), *(len(row[at]) for row in cells)]) for at, name in enumerate(columns)]
    right = [bool(shown) and all(row[at] is None or is_number(row[at]) for row in shown) for at in range(len(columns))]
    padded = lambda text, at: text.rjust(widths[at]) if right[at] else text.ljust(widths[at])
    line = lambda row: "  ".join(padded(text, at) for at, text in enumerate(row))
    lines = [line(columns), "  ".join("─" * width for width in widths), *map(line, cells)]
    return "\n".join([text.rstrip() for text in lines] + [f"({counted(len(rows), TEXT_ROWS)})"])


def html_table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table of HTML; nothing in a value becomes a tag."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
    body = "".join(
        "<tr>" + "".join(f'<td style="text-align: {side(value)}">{html.escape(cell(value))}</td>' for value in row) + "</tr>"
        for row in rows[:HTML_ROWS]
    )
    return (
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        f"<p><small>{counted(len(rows), HTML_ROWS)}</small></p>"
    )


def side(value: Any) -> str:
    """Where a value stands in its cell."""
    return "right" if is_number(value) else "left"
