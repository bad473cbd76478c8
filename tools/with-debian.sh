#!/bin/sh
# with-debian.sh PROGRAM PACKAGE... -- COMMAND...
# Runs a command with a program on its path: the system's if it is there, otherwise from Debian's packages, unpacked into a
# folder that is kept for the next time.
set -eu

program=$1
shift
packages=
while [ "$1" != -- ]; do
    packages="$packages $1"
    shift
done
shift

if ! command -v "$program" >/dev/null; then
    root=${XDG_CACHE_HOME:-$HOME/.cache}/cozo/debian/$program
    if [ ! -x "$root/usr/bin/$program" ]; then
        # $packages are several words.
        # shellcheck disable=SC2086
        "$(dirname "$0")/unpack-debian.sh" "$root" $packages
    fi
    PATH=$root/usr/bin:$PATH
    for folder in "$root"/usr/lib/*-linux-*; do
        [ ! -d "$folder" ] || LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    done
    export PATH
    [ -z "${LD_LIBRARY_PATH:-}" ] || export LD_LIBRARY_PATH
    # Valgrind looks for its tools where Debian installs them.
    if [ -d "$root/usr/libexec/valgrind" ]; then
        VALGRIND_LIB=$root/usr/libexec/valgrind
        export VALGRIND_LIB
    fi
fi
exec "$@"
