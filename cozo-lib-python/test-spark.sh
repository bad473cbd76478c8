#!/bin/sh
# Builds the Python module and tests scripts on Spark: with the script cases of the repository, and with random programs. Needs cargo,
# python3 with venv, and Java 17 or later. Arguments go to pytest. COZO_PROGRAMS=1000 runs so many random programs.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
version=$("$java" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p' | head -1)
if [ "${version:-0}" -lt 17 ]; then
    echo "Spark 4 needs Java 17 or later, and '$java' is ${version:-not there}: install a JDK (apt install openjdk-17-jre-headless)," \
        "or set JAVA_HOME" >&2
    exit 1
fi
venv=$("$here/../tools/venv.sh" spark 'pandas>=2.2,<3' 'pyarrow>=18' 'pyspark>=4,<5' 'pytest>=8')
site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')

# Without RocksDB, which takes half an hour to compile and which Spark has no use for.
target=${CARGO_TARGET_DIR:-$here/../target}
manifest=$here/../Cargo.toml
cargo build --quiet --package cozo-lib-python --no-default-features --manifest-path "$manifest"
rm -rf "$site/cozo" "$site"/cozo_embedded*
cp -R "$here/python/cozo" "$here/python/cozo_embedded" "$site"
for module in "$target/debug/libcozo_embedded.so" "$target/debug/libcozo_embedded.dylib"; do
    if [ -f "$module" ]; then cp "$module" "$site/cozo_embedded/cozo_embedded.abi3.so"; fi
done
COZO_PROGRAMS_FILE=$(mktemp)
export COZO_PROGRAMS_FILE COZO_PROGRAMS="${COZO_PROGRAMS:-100}"
trap 'rm -f "$COZO_PROGRAMS_FILE"' EXIT
cargo test --quiet --package cozo --no-default-features --features requests,text-chinese --manifest-path "$manifest" \
    --test random_programs programs_for_other_engines > /dev/null
"$venv/bin/python" -m pytest -q "$here/tests_spark" "$@"
