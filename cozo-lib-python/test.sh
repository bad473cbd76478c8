#!/bin/sh
# Builds the Python module and tests it, and the server of the binary with a Python client and with a browser, in a private
# virtual environment that is kept for the next time. Needs cargo and python3 with venv. Arguments go to pytest.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
venv=${XDG_CACHE_HOME:-$HOME/.cache}/cozo/venv
wanted="duckdb ipython networkx pandas playwright polars pyarrow pytest pycozo requests"

if [ ! -x "$venv/bin/python" ]; then
    mkdir -p "$(dirname "$venv")"
    python3 -m venv "$venv"
fi
if [ "$(cat "$venv/wanted" 2>/dev/null)" != "$wanted" ]; then
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check 'networkx>=3.2,<4' 'pytest>=8' \
        'duckdb>=1.1' 'ipython>=8' 'pandas>=2.2' 'playwright>=1.50,<2' 'polars>=1' 'pyarrow>=16' 'requests>=2.32,<3'
    # Only the client itself: the module that it drives is the one built here.
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps 'pycozo==0.7.6'
    echo "$wanted" >"$venv/wanted"
fi

# All of the workspace at once, because crates have the same features then as in the tests of Rust, and are not compiled again.
target=${CARGO_TARGET_DIR:-$here/../target}
"$here/../tools/with-libclang.sh" cargo build --quiet --workspace --manifest-path "$here/../Cargo.toml"
site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')
# The package as a wheel has it.
rm -rf "$site"/cozo_embedded*
mkdir "$site/cozo_embedded"
for module in "$target/debug/libcozo_embedded.so" "$target/debug/libcozo_embedded.dylib"; do
    if [ -f "$module" ]; then cp "$module" "$site/cozo_embedded/cozo_embedded.abi3.so"; fi
done
echo 'from .cozo_embedded import *' >"$site/cozo_embedded/__init__.py"
cp "$here/cozo_embedded.pyi" "$site/cozo_embedded/__init__.pyi"
touch "$site/cozo_embedded/py.typed"
export COZO_BINARY="$target/debug/cozo"
exec "$here/../tools/with-chromium.sh" "$venv/bin/python" -m pytest -q "$here/tests" "$@"
