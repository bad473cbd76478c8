#!/bin/sh
# run.sh FOLDER: asks peers from PyPI what the bench `search` asks, with the files that it has written into COZO_BENCH_SEARCH_DIR.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
venv=$("$here/../../tools/venv.sh" bench-search/venv 'usearch>=2.16' 'hnswlib>=0.8' 'tantivy>=0.22' 'numpy>=1.26')
exec "$venv/bin/python" "$here/peers.py" "$@"
