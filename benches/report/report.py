#!/usr/bin/env python3
"""Measures the benches and those who do the same, and draws docs/performance.md.

report.py [--benches pokec,recursion,...] [--sizes small,medium] [--without-reference] [--draw]

The run is recorded in docs/charts/run.json; --draw draws the page from it again without measuring. All together takes about an
hour on two processors, and the first time longer, to compile CozoDB 0.7.6 with the same benches outside of the workspace.
"""

import argparse
import sys
from pathlib import Path

import measure
import page

DOCS = Path(__file__).resolve().parents[2] / "docs"
CHOSEN = "turns,pokec,recursion,patterns,spill,social,values,records,http"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--benches", default=CHOSEN, help=f"which benches, of {CHOSEN}")
    parser.add_argument("--sizes", default=",".join(measure.SIZES), help="which sizes of the network of benches pokec and turns")
    parser.add_argument("--without-reference", action="store_true", help="leave CozoDB 0.7.6 out")
    parser.add_argument("--draw", action="store_true", help="draw what was recorded")
    options = parser.parse_args()
    recorded = DOCS / "charts" / "run.json"
    recorded.parent.mkdir(exist_ok=True)
    if not options.draw:
        measure.record(options.benches.split(","), options.sizes.split(","), recorded, not options.without_reference)
    page.drawn(recorded, DOCS)
    print(DOCS / "performance.md")
    return 0


sys.exit(main())
