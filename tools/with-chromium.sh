#!/bin/sh
# Runs a command with COZO_CHROMIUM naming a Chromium, for the tests of the server's page: the one that it names already, the
# system's, or else Debian's, unpacked with the libraries that are missing here into a folder that is kept for the next time.
# That needs apt, but no root: nothing is installed.
set -eu

system=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
root=${XDG_CACHE_HOME:-$HOME/.cache}/cozo/chromium
packages="chromium fonts-dejavu-core"

# Prints the packages that are not installed, those that they depend on included.
missing() {
    apt "$@" install --no-install-recommends --simulate $packages | sed -n 's/^Inst \([^ ]*\).*/\1/p'
}

# apt-get with lists of packages of its own: those of the system may be old or not there, and belong to root.
apt() {
    apt-get -qq -o Dir::State::Lists="$root.new/lists" -o APT::Sandbox::User="$(id -un)" -o Dir::Cache="$root.new/cache" -o Debug::NoLocking=true "$@"
}

unpack() {
    rm -rf "$root.new"
    mkdir -p "$root.new/lists/partial" "$root.new/cache/archives/partial" "$root.new/packages"
    apt update
    # shellcheck disable=SC2046  # Names of packages, one a word.
    (cd "$root.new/packages" && apt download $(missing))
    for package in "$root.new"/packages/*.deb; do
        dpkg-deb -x "$package" "$root.new"
    done
    rm -rf "$root.new/lists" "$root.new/cache" "$root.new/packages"
    cat >"$root.new/fonts.conf" <<END
<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>$root/usr/share/fonts</dir><dir>/usr/share/fonts</dir><cachedir>$root/fonts-cache</cachedir></fontconfig>
END
    cat >"$root.new/chromium" <<END
#!/bin/sh
LD_LIBRARY_PATH=\$(find "$root/lib" "$root/usr/lib" -name '*.so*' -printf '%h\n' 2>/dev/null | sort -u | paste -sd :)
export LD_LIBRARY_PATH
FONTCONFIG_FILE="$root/fonts.conf" exec "$root/usr/lib/chromium/chromium" "\$@"
END
    chmod +x "$root.new/chromium"
    rm -rf "$root"
    mv "$root.new" "$root"
}

if [ -z "${COZO_CHROMIUM:-}" ]; then
    COZO_CHROMIUM=$system
    if [ -z "$system" ]; then
        if [ ! -x "$root/chromium" ]; then
            echo "unpacking Chromium into $root" >&2
            unpack || echo "cannot get Chromium: install it, or have COZO_CHROMIUM name one" >&2
        fi
        COZO_CHROMIUM=$root/chromium
    fi
fi
export COZO_CHROMIUM
exec "$@"
