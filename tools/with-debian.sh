#!/bin/sh
# with-debian.sh PROGRAM PACKAGE... -- COMMAND...
# Runs a command with a program on its path: the system's if it is there, otherwise from Debian's packages (the program's and
# those of its libraries), unpacked without root into a folder that is kept for the next time.
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
        if ! command -v apt-get >/dev/null; then
            echo "$program is not here; install it, then try again" >&2
            exit 1
        fi
        echo "unpacking$packages into $root" >&2
        work=$(mktemp -d)
        trap 'rm -rf "$work"' EXIT
        mkdir -p "$work/lists" "$work/cache/archives/partial" "$work/unpacked" "$(dirname "$root")"
        # With lists of its own, since those of the system may be missing or old, and only root may bring them up to date.
        apt="apt-get -qq -o APT::Sandbox::User=root -o Dir::State::Lists=$work/lists -o Dir::Cache=$work/cache"
        $apt update
        # $packages are several words.
        # shellcheck disable=SC2086
        (cd "$work" && $apt download $packages)
        for package in "$work"/*.deb; do
            dpkg-deb -x "$package" "$work/unpacked"
        done
        rm -rf "$root"
        mv "$work/unpacked" "$root"
        rm -rf "$work"
        trap - EXIT
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
