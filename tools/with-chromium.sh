#!/bin/sh
# Runs a command with COZO_CHROMIUM naming a Chromium, for the tests of the server's page: the one that it names already, the
# system's, or else Debian's, unpacked with the libraries that are missing here into a folder that is kept for the next time.
# That needs apt, but no root: nothing is installed.
set -eu

system=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
root=${XDG_CACHE_HOME:-$HOME/.cache}/cozo/chromium
# Where it is made ready.
new=$root.$$
packages="chromium fonts-dejavu-core"

# Prints the packages that are not installed, with those that they depend on.
missing() {
    apt install --no-install-recommends --simulate $packages | sed -n 's/^Inst \([^ ]*\).*/\1/p'
}

# apt-get with lists of packages of its own: those of the system may be old or not there, and belong to root.
apt() {
    apt-get -qq -o Dir::State::Lists="$new/lists" -o Dir::Cache="$new/cache" -o APT::Sandbox::User="$(id -un)" \
        -o Debug::NoLocking=true "$@"
}

unpack() {
    mkdir -p "$new/lists/partial" "$new/cache/archives/partial" "$new/packages"
    # What follows `||` would otherwise have the shell go on after a command that failed.
    apt update && wanted=$(missing) && cd "$new/packages" || return 1
    # shellcheck disable=SC2086  # Names of packages, one a word.
    apt download $wanted || return 1
    for package in *.deb; do
        dpkg-deb -x "$package" "$new" || return 1
    done
    cd / && rm -rf "$new/lists" "$new/cache" "$new/packages"
    cat >"$new/fonts.conf" <<END
<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>$root/usr/share/fonts</dir><dir>/usr/share/fonts</dir><cachedir>$root/fonts-cache</cachedir></fontconfig>
END
    cat >"$new/chromium" <<END
#!/bin/sh
LD_LIBRARY_PATH=\$(find "$root/lib" "$root/usr/lib" -name '*.so*' -printf '%h\n' 2>/dev/null | sort -u | paste -sd :)
export LD_LIBRARY_PATH
FONTCONFIG_FILE="$root/fonts.conf" exec "$root/usr/lib/chromium/chromium" "\$@"
END
    chmod +x "$new/chromium"
    rm -rf "$root" && mv "$new" "$root"
}

if [ -z "${COZO_CHROMIUM:-}" ]; then
    COZO_CHROMIUM=$system
    if [ -z "$system" ]; then
        if [ ! -x "$root/chromium" ]; then
            echo "unpacking Chromium into $root" >&2
            # In a shell of its own, for it goes to another directory.
            (unpack) || echo "cannot get Chromium: install it, or have COZO_CHROMIUM name one" >&2
            rm -rf "$new"
        fi
        COZO_CHROMIUM=$root/chromium
    fi
fi
export COZO_CHROMIUM
exec "$@"
