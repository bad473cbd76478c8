"""Files that `cozo export` writes are read by pyarrow, and those of pyarrow by `cozo import`."""

import os
import subprocess

import pyarrow
import pytest
from pyarrow import feather, parquet

BINARY = os.environ.get("COZO_BINARY")
pytestmark = pytest.mark.skipif(not BINARY, reason="COZO_BINARY names the binary")

SCRIPT = "?[a, b, c, d] <- [[1, 1.5, 'x', decode_base64('AP8=')], [2, -0.0, null, null]]"
READ = {"parquet": parquet.read_table, "arrow": feather.read_table}


def cozo(*arguments):
    run = subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=60)
    return run.returncode, run.stdout, run.stderr


@pytest.mark.parametrize("extension", READ)
def test_exports_are_read(tmp_path, extension):
    path = tmp_path / f"r.{extension}"
    assert cozo("export", "--script", SCRIPT, path)[0] == 0
    table = READ[extension](path)
    assert [str(kind) for kind in table.schema.types] == ["int64", "double", "string", "binary"]
    assert table.to_pylist() == [
        {"a": 1, "b": 1.5, "c": "x", "d": b"\x00\xff"},
        {"a": 2, "b": -0.0, "c": None, "d": None},
    ]


TABLE = pyarrow.table(
    {
        "id": pyarrow.array([1, 2, 3], pyarrow.int16()),
        "name": pyarrow.array(["x", "y", "x"]).dictionary_encode(),
        "weight": pyarrow.array([1.5, None, 2.0], pyarrow.float32()),
        "tags": [["a"], [], None],
        "at": [{"x": 1}, {"x": 2}, {"x": 3}],
    }
)
READ_BACK = "?[id, name, weight, tags, x] := *r{id, name, weight, tags, at}, x = get(at, 'x')"
CSV = 'id,name,weight,tags,x\n1,x,1.5,"[""a""]",1\n2,y,,[],2\n3,x,2.0,,3\n'


@pytest.mark.parametrize("compression", ["none", "snappy", "gzip", "zstd", "lz4"])
def test_parquet_is_imported(tmp_path, compression):
    path = tmp_path / "r.parquet"
    parquet.write_table(TABLE, path, compression=compression)
    assert cozo("run", "--load", f"r={path}", "-e", READ_BACK, "--format", "csv")[:2] == (0, CSV)


@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
def test_feather_is_imported(tmp_path, compression):
    path = tmp_path / "r.feather"
    feather.write_feather(TABLE, path, compression=compression)
    assert cozo("run", "--load", f"r={path}", "-e", READ_BACK, "--format", "csv")[:2] == (0, CSV)


def test_what_has_no_counterpart_is_named(tmp_path):
    path = tmp_path / "r.parquet"
    parquet.write_table(pyarrow.table({"at": pyarrow.array([0], pyarrow.timestamp("us"))}), path)
    code, _, error = cozo("import", "r", path)
    assert code == 1 and "column 'at'" in error and "Timestamp" in error
