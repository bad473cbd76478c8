#!/bin/sh
# Runs report.py with its peers from PyPI, in a private virtual environment that is kept for the next time. Arguments go to report.py.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
venv=${XDG_CACHE_HOME:-$HOME/.cache}/cozo/bench-report/venv
wanted="duckdb igraph kuzu"

if [ ! -x "$venv/bin/python" ]; then
    mkdir -p "$(dirname "$venv")"
    python3 -m venv "$venv"
fi
if [ "$(cat "$venv/wanted" 2>/dev/null)" != "$wanted" ]; then
    # DuckDB hands out columns as arrays of numpy.
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check 'duckdb>=1.1' 'igraph>=0.11' 'kuzu>=0.11' 'numpy>=1.26'
    echo "$wanted" >"$venv/wanted"
fi
exec "$venv/bin/python" "$here/report.py" "$@"
