"""Bars as SVG: a group of bars for each test, a bar for each system, on a scale where each step is ten times the last."""

import math
from xml.sax.saxutils import escape

WIDTH, LABELS, BAR, GAP = 860, 250, 13, 12
# Of the database; the others are in greys and browns, so that it is seen which bar is whose.
COLOURS = {"cozo mem": "#1f6feb", "cozo mem, prepared": "#79b8ff", "cozo mem, indices": "#0a3069", "cozo sqlite": "#2ea98f", "cozo rocksdb": "#8957e5"}
OTHERS = ("#9a8c7a", "#6e7781", "#b08d57", "#57606a", "#a8763e", "#8c959f", "#7d5a3c", "#afb8c1")


def colours(systems: list[str]) -> dict[str, str]:
    others = [system for system in systems if system not in COLOURS]
    return COLOURS | {system: OTHERS[place % len(OTHERS)] for place, system in enumerate(others)}


def shown(value: float) -> str:
    """Three digits that count."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.{max(0, 2 - math.floor(math.log10(value)))}f}" if value > 0 else "0"


def bars(title: str, unit: str, tests: dict[str, dict[str, float]], systems: list[str]) -> str:
    """A chart of tests; each has a value above zero for some of the systems."""
    values = [value for row in tests.values() for value in row.values() if value > 0]
    low = math.floor(math.log10(min(values)) - 0.05)
    high = max(low + 1, math.log10(max(values)))
    plot = WIDTH - LABELS - 80
    length = lambda value: max(2.0, (math.log10(value) - low) / (high - low) * plot)
    colour, parts, y = colours(systems), [], 64
    for power in range(low, math.floor(high) + 1):
        x = LABELS + (power - low) / (high - low) * plot
        parts.append(f'<line x1="{x:.1f}" y1="58" x2="{x:.1f}" y2="{{bottom}}" class="grid"/>')
    for test, row in tests.items():
        middle = y + BAR * len(row) / 2 + 4
        parts.append(f'<text x="{LABELS - 8}" y="{middle:.1f}" class="test">{escape(test)}</text>')
        for system in (system for system in systems if row.get(system, 0) > 0):
            long = length(row[system])
            parts.append(
                f'<rect x="{LABELS}" y="{y}" width="{long:.1f}" height="{BAR - 2}" fill="{colour[system]}">'
                f"<title>{escape(system)}: {shown(row[system])} {unit}</title></rect>"
                f'<text x="{LABELS + long + 4:.1f}" y="{y + BAR - 4}" class="value">{shown(row[system])}</text>'
            )
            y += BAR
        y += GAP
    return frame(title, unit, legend(systems, colour), parts, y)


def legend(systems: list[str], colour: dict[str, str]) -> list[str]:
    parts, x, y = [], 12, 40
    for system in systems:
        wide = 28 + 7 * len(system)
        parts.append(f'<rect x="{x:.0f}" y="{y - 9}" width="10" height="10" fill="{colour[system]}"/>')
        parts.append(f'<text x="{x + 14:.0f}" y="{y}" class="name">{escape(system)}</text>')
        x += wide
    return parts


def frame(title: str, unit: str, legend: list[str], parts: list[str], bottom: int) -> str:
    better = "more is better" if unit.endswith("/s") else "less is better"
    content = "\n".join(legend + parts).replace("{bottom}", str(bottom - 4))
    return f"""<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{bottom}" viewBox="0 0 {WIDTH} {bottom}" role="img">
<style>text{{font:11px system-ui,sans-serif;fill:#1f2328}}.title{{font-size:14px;font-weight:600}}.test{{text-anchor:end}}.value{{font-size:10px}}
.grid{{stroke:#d0d7de;stroke-width:1}}</style>
<rect width="{WIDTH}" height="{bottom}" fill="#ffffff"/>
<text x="12" y="20" class="title">{escape(title)}, {escape(unit)} (each line ten times the last; {better})</text>
{content}
</svg>
"""
