#!/bin/sh
# spill.sh FOLDER [--json FILE ...]: asks DuckDB from PyPI what the bench `spill` asks, with the files that it has written into
# COZO_BENCH_SPILL_CSV. Arguments go to spill.py.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
venv=$("$here/../../tools/venv.sh" bench-report/spill 'duckdb>=1.1')
exec "$venv/bin/python" "$here/spill.py" "$@"
