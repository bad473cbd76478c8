#!/bin/sh
# Builds the Python module and tests it, and the server of the binary with a Python client and with a browser, in a private
# virtual environment that is kept for the next time. Needs cargo and python3 with venv. Arguments go to pytest.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
venv=${XDG_CACHE_HOME:-$HOME/.cache}/cozo/venv
wanted="duckdb ipython maturin networkx pandas playwright polars pyarrow pytest pycozo requests"

if [ ! -x "$venv/bin/python" ]; then
    mkdir -p "$(dirname "$venv")"
    python3 -m venv "$venv"
fi
if [ "$(cat "$venv/wanted" 2>/dev/null)" != "$wanted" ]; then
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check 'maturin>=1.9.4,<2' 'networkx>=3.2,<4' 'pytest>=8' \
        'duckdb>=1.1' 'ipython>=8' 'pandas>=2.2' 'playwright>=1.50,<2' 'polars>=1' 'pyarrow>=16' 'requests>=2.32,<3'
    # Only the client itself: the module that it drives is the one built here.
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps 'pycozo==0.7.6'
    echo "$wanted" >"$venv/wanted"
fi

# The profile is dev, so that dependencies compiled for other tests are used again.
unset CONDA_PREFIX
VIRTUAL_ENV=$venv PATH=$venv/bin:$PATH \
    "$here/../tools/with-libclang.sh" maturin develop --quiet --profile dev --manifest-path "$here/Cargo.toml"
"$here/../tools/with-libclang.sh" cargo build --quiet --package cozo-bin --manifest-path "$here/../Cargo.toml"
export COZO_BINARY="${CARGO_TARGET_DIR:-$here/../target}/debug/cozo"
exec "$here/../tools/with-chromium.sh" "$venv/bin/python" -m pytest -q "$here/tests" "$@"
