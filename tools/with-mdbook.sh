#!/bin/sh
# Runs a command with mdBook on its path: the system's if it is there, otherwise compiled into a folder that is kept for
# the next time. Only the search of its features is needed; the build of the profile dev is fast enough for one book.
set -eu

if ! command -v mdbook >/dev/null; then
    root=${XDG_CACHE_HOME:-$HOME/.cache}/cozo/mdbook
    if [ ! -x "$root/bin/mdbook" ]; then
        echo "compiling mdBook into $root" >&2
        # The projects' own target directory and flags stay out of it.
        env -u CARGO_TARGET_DIR cargo install --quiet --locked --debug --no-default-features --features search \
            --root "$root" mdbook@0.5.4
    fi
    PATH=$root/bin:$PATH
    export PATH
fi
exec "$@"
