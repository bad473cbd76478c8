#!/bin/sh
# unpack-debian.sh FOLDER PACKAGE...
# Unpacks packages of Debian into a folder, and what they need and is not installed here. That needs apt, but no root: nothing is
# installed. The folder, whose path is absolute, is there when it is complete.
set -eu

root=$1
shift
if ! command -v apt-get >/dev/null; then
    echo "there is no apt-get to get $* with: install it, then try again" >&2
    exit 1
fi
echo "unpacking $* into $root" >&2
new=$root.$$
trap 'rm -rf "$new"' EXIT

# apt-get with lists of packages of its own: those of the system may be old or not there, and belong to root.
apt() {
    apt-get -qq -o Dir::State::Lists="$new/lists" -o Dir::Cache="$new/cache" -o APT::Sandbox::User="$(id -un)" \
        -o Debug::NoLocking=true "$@"
}

mkdir -p "$new/lists/partial" "$new/cache/archives/partial" "$new/packages"
apt update
wanted=$(apt install --no-install-recommends --simulate "$@" | sed -n 's/^Inst \([^ ]*\).*/\1/p')
cd "$new/packages"
# shellcheck disable=SC2086  # Names of packages, one a word.
apt download $wanted
for package in *.deb; do
    dpkg-deb -x "$package" "$new"
done
cd /
rm -rf "$new/lists" "$new/cache" "$new/packages" "$root"
mv "$new" "$root"
