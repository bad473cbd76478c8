#!/bin/sh
# Runs a command that builds RocksDB with what RocksDB's bindings need: libclang, from the system if it is there, otherwise
# from PyPI. The environment is the same in every run, so that RocksDB, which takes half an hour of CPU time, is compiled once.
set -eu

has_libclang() {
    ls /usr/lib/llvm-*/lib/libclang.so* /usr/lib/llvm-*/lib/libclang-[0-9]*.so* /usr/lib/*/libclang.so* \
        /usr/lib/*/libclang-[0-9]*.so* /usr/lib*/libclang.so* 2>/dev/null | grep -q .
}

if [ -z "${LIBCLANG_PATH:-}" ] && ! has_libclang; then
    venv=$("$(dirname "$0")/venv.sh" libclang 'libclang>=18,<19')
    LIBCLANG_PATH=$(dirname "$(ls "$venv"/lib/python*/site-packages/clang/native/libclang.so)")
    export LIBCLANG_PATH
    # The wheel has no headers of its own.
    BINDGEN_EXTRA_CLANG_ARGS="-I$(${CC:-cc} -print-file-name=include)"
    export BINDGEN_EXTRA_CLANG_ARGS
fi
exec "$@"
