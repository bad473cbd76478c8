#!/bin/sh
# run.sh FOLDER: asks peers from PyPI what the bench `search` asks, with the files that it has written into COZO_BENCH_SEARCH_DIR.
# Peers that cannot be installed are left out.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
venv=$("$here/../../tools/venv.sh" bench-search/peers 'numpy>=1.26')
for peer in 'usearch>=2.16' 'hnswlib>=0.8' 'sqlite-vec>=0.1.6' 'apsw>=3.46' 'lancedb>=0.30' 'tantivy>=0.22' 'datasketch>=1.6' \
    'cozo-embedded==0.7.6'; do
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$peer" >&2 || echo "$peer cannot be installed" >&2
done
exec "$venv/bin/python" "$here/peers.py" "$@"
