#!/bin/sh
# patterns.sh FOLDER [--json FILE ...]: asks peers from PyPI what the bench `patterns` asks, with the files that it has written into
# COZO_BENCH_PATTERNS_CSV. Arguments go to patterns.py.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
venv=$("$here/../../tools/venv.sh" bench-report/patterns 'duckdb>=1.1' 'ladybug>=0.22')
exec "$venv/bin/python" "$here/patterns.py" "$@"
