#!/bin/sh
# Runs report.py with its peers from PyPI. Arguments go to report.py.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# DuckDB hands out columns as arrays of numpy.
venv=$("$here/../../tools/venv.sh" bench-report/venv 'duckdb>=1.1' 'igraph>=0.11' 'kuzu>=0.11' 'ladybug>=0.22' 'numpy>=1.26')
exec "$venv/bin/python" "$here/report.py" "$@"
