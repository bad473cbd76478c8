"""Draws docs/performance.md and docs/charts/*.svg from a recorded run."""

import json
import re
from pathlib import Path

import charts

ABOUT_POKEC = ("The other systems are called from Python, with prepared statements where they have them; only \"SQLite, prepared\" and "
               "\"raw RocksDB\" are called from Rust. The systems called from Python store friendships in one direction. igraph holds only "
               "the graph in memory: it counts who is within so many steps, and runs PageRank until scores hardly change. CozoScript "
               "runs ten rounds.")
BY_TURNS = ("with the same queries on both in turns of 10 ms, on one thread of one process, which allocates with mimalloc. If the machine "
            "changes its pace, it changes for both.")
BENCHES = {
    "turns small": ("Beside CozoDB 0.7.6 by turns, small", f"The network of the Pokec benchmark, 100,000 users and 1,768,515 friendships, {BY_TURNS}"),
    "turns medium": ("Beside CozoDB 0.7.6 by turns, medium", f"1,632,803 users and 30,622,564 friendships, {BY_TURNS}"),
    "pokec small": ("The Pokec benchmark, small", f"A social network of 100,000 users and 1,768,515 friendships. {ABOUT_POKEC}"),
    "pokec medium": ("The Pokec benchmark, medium", "1,632,803 users and 30,622,564 friendships, 62.9 million rows in all."),
    "recursion": ("Recursion", "`ascent` compiles the rules to Rust in advance: it shows the limit, and is not a database. DuckDB and SQLite "
                  "run recursive common table expressions from Python; SQLite has an index for each direction."),
    "patterns": ("Patterns over a social network", "The nine queries of LSQB, each a count of matches, over a generated network of the shape of "
                 "LDBC's at scale 1: ten thousand persons, three million messages. Two threads, everything in memory. The other systems are "
                 "called from Python; SQLite has an index for each direction of an edge. A query that takes over 60 s has no figure."),
    "spill": ("Queries larger than their memory", "Groups, sorted rows, closures, distinct pairs and a join whose intermediate results outgrow "
              "the limit of a query, with memory enough and with a limit. Two threads. The limit is `query_memory_mb`, and the data is in "
              "memory. DuckDB's `memory_limit` is for its tables, too: tables in memory get as much more as they take, \"file\" reads a "
              "database file; \"ordered\" is with `preserve_insertion_order`. Memory is the peak of the process above what it held before. A "
              "query that fails has no figure."),
    "social": ("A social network that many use at once", "The benchmark of agdb: 10 writers of posts and 10 of comments, 100 readers of "
               "each, 100 actions each. agdb has one lock for all."),
    "values": ("Large values", "Blocks are written at once, and keys are read one by one, as copies."),
    "records": ("Small records", "On one thread, in memory."),
    "http": ("HTTP", "`wrk` sends requests over kept-alive connections, on the same processors: for a fixed answer, for the sum of the "
             "factorials of 1 to 100, and for a row by its key. The others are Node.js and an empty handler of axum, the framework of the server."),
}


def drawn(path: Path, docs: Path) -> None:
    recorded = json.loads(path.read_text())
    folder = docs / "charts"
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.svg"):
        old.unlink()
    text = head(recorded["machine"]) + behind(recorded["figures"])
    for bench, (title, about) in BENCHES.items():
        figures = [figure for figure in recorded["figures"] if figure["bench"] == bench]
        if figures:
            text += f"\n## {title}\n\n{about}\n" + "".join(section(bench, title, figures, folder))
    (docs / "performance.md").write_text(text)


def head(machine: dict) -> str:
    load = f"{machine['load']:.1f}"
    remark = f"\n| remark | {machine['remark']} |" if "remark" in machine else ""
    return f"""# Performance

`make bench-report` measured and drew this: the database with each engine, and other systems that do the same work. The file
`benches/README.md` of the repository explains how to measure, what limits each workload, and where others are ahead.

| | |
|---|---|
| machine | {machine['processors']} processors, {machine['processor']}; {machine['memory_gb']} GB; {machine['system']} |
| load when it began | {load} processes{', so other programs ran: small differences mean nothing' if machine['load'] > 0.5 else ''} |
| compiler, commit, date | {machine['compiler']}; {machine['commit']}; {machine['date']} |
| durability | `"{machine['durability']}"` everywhere: a commit survives the death of the process, not a loss of power |{pace(machine)}{remark}
"""


def pace(machine: dict) -> str:
    """How steady the machine was, where that was measured."""
    if "pace" not in machine:
        return ""
    low, high = machine["pace"]
    uneven = ": figures that were not measured in turns may be off by as much" if high > 1.3 * low else ""
    return f"\n| pace | the same loop took {low:.2f} to {high:.2f} s between the benches{uneven} |"


def more_is_better(unit: str) -> bool:
    return unit.endswith("/s")


def times_as_good(one: float, other: float, unit: str) -> float:
    return one / other if more_is_better(unit) else other / one


def ahead(figures: list[dict]) -> list[tuple[float, dict, dict]]:
    """Where somebody else is ahead of the best of our engines: how far, whose figure, and ours."""
    tests: dict[tuple, list[dict]] = {}
    for figure in figures:
        tests.setdefault((figure["bench"], figure["test"], figure["unit"]), []).append(figure)
    found = []
    for (_, _, unit), of_test in tests.items():
        best = max if more_is_better(unit) else min
        mine = [figure for figure in of_test if figure["system"].startswith("cozo ")]
        others = [figure for figure in of_test if not figure["system"].startswith("cozo ") and figure["value"] > 0]
        if not mine or not others:
            continue
        ours, theirs = (best(group, key=lambda figure: figure["value"]) for group in (mine, others))
        ratio = times_as_good(theirs["value"], ours["value"], unit)
        if ratio > 1.05:
            found.append((ratio, theirs, ours))
    return sorted(found, key=lambda entry: -entry[0])


def behind(figures: list[dict]) -> str:
    found = ahead(figures)
    if not found:
        return "\nNobody measured here is ahead of the best engine by more than 5 %.\n"
    lines = ["\n## Where others are ahead\n", "The best of the others against the best of our engines, where the other is ahead by more than 5 %.\n",
             "| bench | test | who | their figure | ours | times |", "|---|---|---|---:|---:|---:|"]
    for ratio, theirs, ours in found:
        figure = lambda entry: f"{charts.shown(entry['value'])} {entry['unit']}"
        lines.append(f"| {theirs['bench']} | {theirs['test']} | {theirs['system']} | {figure(theirs)} | "
                     f"{figure(ours)} ({ours['system']}) | {ratio:.1f} |")
    return "\n".join(lines) + "\n"


def section(bench: str, title: str, figures: list[dict], folder: Path):
    """A chart and a table for each unit."""
    for unit in dict.fromkeys(figure["unit"] for figure in figures):
        of_unit = [figure for figure in figures if figure["unit"] == unit]
        # Our engines first.
        systems = sorted(dict.fromkeys(figure["system"] for figure in of_unit), key=lambda system: not system.startswith("cozo "))
        tests: dict[str, dict[str, float]] = {}
        for figure in of_unit:
            tests.setdefault(figure["test"], {})[figure["system"]] = figure["value"]
        tests = {test: row for test, row in tests.items() if any(value > 0 for value in row.values())}
        if not tests:
            continue
        name = f"{re.sub('[^a-z]+', '-', f'{bench} {unit}'.lower()).strip('-')}.svg"
        (folder / name).write_text(charts.bars(title, unit, tests, systems))
        yield f"\n![{title}, {unit}](charts/{name})\n\n"
        pairs = [(name, f"CozoDB 0.7.6 {name}") for name in ("mem", "sqlite") if {f"cozo {name}", f"CozoDB 0.7.6 {name}"} <= set(systems)]
        heads = systems + [f"{name}, times 0.7.6" for name, _ in pairs]
        yield f"| {unit} | {' | '.join(heads)} |\n|---|{'---:|' * len(heads)}\n"
        for test, row in tests.items():
            cells = [charts.shown(row[system]) if system in row else "" for system in systems]
            cells += [times(row.get(f"cozo {name}"), row.get(reference), unit) for name, reference in pairs]
            yield f"| {test} | {' | '.join(cells)} |\n"


def times(ours: float | None, theirs: float | None, unit: str) -> str:
    """How many times as good as another figure one is, in words."""
    return charts.shown(times_as_good(ours, theirs, unit)) if ours and theirs else ""
