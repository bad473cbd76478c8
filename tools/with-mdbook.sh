#!/bin/sh
# Runs a command with mdBook on its path: the system's if it is there, otherwise compiled. Only the search of its features is needed.
set -eu

if ! command -v mdbook >/dev/null; then
    PATH=$("$(dirname "$0")/cargo-tool.sh" mdbook@0.5.4 --no-default-features --features search):$PATH
    export PATH
fi
exec "$@"
