#!/bin/sh
# venv.sh NAME REQUIREMENT...
# Prints the folder of a private virtual environment with these packages from PyPI, which is kept for the next time. It is brought up
# to date when others are wanted.
set -eu

venv=${XDG_CACHE_HOME:-$HOME/.cache}/cozo/$1
shift
if [ "$(cat "$venv/wanted" 2>/dev/null)" != "$*" ]; then
    echo "installing into $venv: $*" >&2
    mkdir -p "$(dirname "$venv")"
    python3 -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$@" >&2
    echo "$*" >"$venv/wanted"
fi
echo "$venv"
