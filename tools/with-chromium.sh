#!/bin/sh
# Runs a command with COZO_CHROMIUM naming a Chromium, for the tests of the server's page: the one that it names already, the
# system's, or else Debian's, unpacked with the libraries that are missing here into a folder that is kept for the next time.
# That needs apt, but no root: nothing is installed.
set -eu

system=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
root=${XDG_CACHE_HOME:-$HOME/.cache}/cozo/chromium

unpack() {
    "$(dirname "$0")/unpack-debian.sh" "$root" chromium fonts-dejavu-core || return 1
    cat >"$root/fonts.conf" <<END
<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>$root/usr/share/fonts</dir><dir>/usr/share/fonts</dir><cachedir>$root/fonts-cache</cachedir></fontconfig>
END
    cat >"$root/chromium" <<END
#!/bin/sh
LD_LIBRARY_PATH=\$(find "$root/lib" "$root/usr/lib" -name '*.so*' -printf '%h\n' 2>/dev/null | sort -u | paste -sd :)
export LD_LIBRARY_PATH
FONTCONFIG_FILE="$root/fonts.conf" exec "$root/usr/lib/chromium/chromium" "\$@"
END
    chmod +x "$root/chromium"
}

if [ -z "${COZO_CHROMIUM:-}" ]; then
    COZO_CHROMIUM=$system
    if [ -z "$system" ]; then
        if [ ! -x "$root/chromium" ]; then
            unpack || echo "cannot get Chromium: install it, or have COZO_CHROMIUM name one" >&2
        fi
        COZO_CHROMIUM=$root/chromium
    fi
fi
export COZO_CHROMIUM
exec "$@"
