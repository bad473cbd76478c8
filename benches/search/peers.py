#!/usr/bin/env python3
"""The questions of the bench search to peers, and all figures side by side.

peers.py FOLDER

FOLDER is what COZO_BENCH_SEARCH_DIR was: it has the data of the parts that were measured, and the figures of the bench. Peers
build with all processors and search with one thread, but lancedb chooses by itself. What is not installed is left out.
"""

import os
import sys
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # before numpy is loaded

import alike  # noqa: E402
import texts  # noqa: E402
import vectors  # noqa: E402
from figures import Figures  # noqa: E402

PEERS = (
    ("vectors", (vectors.usearch, vectors.hnswlib, vectors.lancedb)),
    ("exact", (vectors.sqlite_vec, vectors.lancedb, vectors.numpy_scan)),
    ("few", (vectors.usearch, vectors.hnswlib, vectors.lancedb, vectors.cozo_0_7)),
    ("texts", (texts.tantivy, texts.fts5)),
    ("alike", (alike.datasketch,)),
)


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    figures = Figures(Path(sys.argv[1]))
    for part, peers in PEERS:
        for peer in peers:
            figures.ask(part, peer)
    figures.show()


if __name__ == "__main__":
    main()
