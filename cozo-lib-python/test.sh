#!/bin/sh
# Builds the Python module and tests it, and the server of the binary with a Python client and with a browser. Needs cargo and
# python3 with venv. Arguments go to pytest.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
venv=$("$here/../tools/venv.sh" venv 'duckdb>=1.1' 'ipython>=8' 'networkx>=3.2,<4' 'pandas>=2.2' 'playwright>=1.50,<2' 'polars>=1' \
    'pyarrow>=16' 'pytest>=8' 'requests>=2.32,<3' 'schemathesis>=4.10,<5')
site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')
# Only the client itself: the module that it drives is the one built here.
if [ ! -d "$site/pycozo" ]; then
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps 'pycozo==0.7.6'
fi

# All of the workspace at once, because crates have the same features then as in the tests of Rust, and are not compiled again.
target=${CARGO_TARGET_DIR:-$here/../target}
"$here/../tools/with-libclang.sh" cargo build --quiet --workspace --manifest-path "$here/../Cargo.toml"
# The packages as a wheel has them.
rm -rf "$site/cozo" "$site"/cozo_embedded*
cp -R "$here/python/cozo" "$here/python/cozo_embedded" "$site"
for module in "$target/debug/libcozo_embedded.so" "$target/debug/libcozo_embedded.dylib"; do
    if [ -f "$module" ]; then cp "$module" "$site/cozo_embedded/cozo_embedded.abi3.so"; fi
done
export COZO_BINARY="$target/debug/cozo"
exec "$here/../tools/with-chromium.sh" "$venv/bin/python" -m pytest -q "$here/tests" "$@"
