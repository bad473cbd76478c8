"""Figures of the bench search and of its peers, side by side."""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

QUERIES = 200


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


class Figures:
    """The figures of all parts; those of the bench are in a file of its folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.titles: dict[str, str] = {}
        self.values: dict[tuple[str, str, str], dict[str, float]] = {}
        for line in (folder / "figures.json").read_text().splitlines():
            figure = json.loads(line)
            part = figure["title"].split(":")[0]
            self.titles[part] = figure["title"]
            self.add(part, figure["system"], figure["test"], figure["value"], figure["unit"])

    def add(self, part: str, system: str, test: str, value: float, unit: str) -> None:
        self.values.setdefault((part, test, unit), {})[system] = value

    def ask(self, part: str, peer: Callable[["Figures", str], None]) -> None:
        """Asks a peer for the figures of a part that was measured. What is not installed, or fails, is left out."""
        if part not in self.titles:
            return
        print(f"{part}: {peer.__name__}", file=sys.stderr, flush=True)
        try:
            peer(self, part)
        except Exception as error:  # noqa: BLE001 - a peer may fail in any way
            text = str(error).strip().splitlines()[:1]
            print(f"{part}: {peer.__name__} is left out: {type(error).__name__} {''.join(text)}", flush=True)

    def micros(self, part: str, system: str, test: str, work: Callable[[], object], times: int = QUERIES) -> None:
        """Adds how many microseconds one of some times of work takes."""
        self.add(part, system, test, seconds(work) * 1e6 / times, "us")

    def show(self) -> None:
        """Prints a table of each part: a row for each test, a column for each system."""
        for part, title in self.titles.items():
            rows = {(test, unit): of for (other, test, unit), of in self.values.items() if other == part}
            systems = list(dict.fromkeys(system for of in rows.values() for system in of))
            print(f"\n{title}\n\n{'':34}" + "".join(f" {system:>13}" for system in systems))
            for (test, unit), of in rows.items():
                cells = (f"{of[system]:13.3f}" if system in of else " " * 13 for system in systems)
                print(f"{test + ', ' + unit:34}" + "".join(" " + cell for cell in cells))
