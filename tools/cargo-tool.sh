#!/bin/sh
# cargo-tool.sh NAME@VERSION [ARGUMENT...]
# Prints the folder of a program from the registry of crates, which is compiled, with these arguments of cargo install, into a folder that is
# kept for the next time. The build of the profile dev is fast enough for tools.
set -eu

name=${1%@*}
root=${XDG_CACHE_HOME:-$HOME/.cache}/cozo/$name
if [ ! -x "$root/bin/$name" ]; then
    echo "compiling $name into $root" >&2
    # The project's own target directory and flags stay out of it.
    env -u CARGO_TARGET_DIR cargo install --quiet --locked --debug --root "$root" "$@" >&2
fi
echo "$root/bin"
