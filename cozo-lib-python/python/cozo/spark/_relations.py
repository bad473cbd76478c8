"""Stored relations: frames, folders of Parquet or Delta, and what `cozo export --partition` has written."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from .._schema import Column, relation_name
from ._errors import refused
from ._rows import Outgoing, passed
from ._shapes import NATIVE, Shape, of_declared

SPARK_TO_COZO = {
    "tinyint": "Int",
    "smallint": "Int",
    "int": "Int",
    "bigint": "Int",
    "float": "Float",
    "double": "Float",
    "string": "String",
    "boolean": "Bool",
    "binary": "Bytes",
}
INTEGERS = ("tinyint", "smallint", "int", "bigint")
MIXED = "struct<json:string,ordered:binary>"
"""The type of a column of several types, as `run` gives it and as relations may have it."""


class Table(NamedTuple):
    """Rows in Spark: a frame with the columns `c0`, `c1`, ..., and the shape of each."""

    frame: Any
    shapes: Tuple[Shape, ...]


class Relation:
    """A stored relation.

    `data` is a DataFrame, or the path of a folder or file of Parquet, or of a table of Delta. `columns` declares
    the columns as `:create` does: `"{id: Int => name: String?}"`. Rows with the same keys must be the same row.
    Without it the columns are those of the data, all of them keys, and rows that occur twice count once.

    A column without `?` must have no nulls: a null in it ends the run. `rows` and `distinct` are sizes for the
    planner: the number of rows, and of different values by column.

    >>> cozo.spark.Relation("s3a://lake/edge", "{fr: Int, to: Int}", rows=5_000_000_000)
    """

    def __init__(
        self,
        data: Any,
        columns: Optional[str] = None,
        *,
        rows: Optional[float] = None,
        distinct: Optional[Mapping[str, float]] = None,
    ) -> None:
        self.data, self.declaration, self.rows, self.distinct = data, columns, rows, dict(distinct or {})
        self.forms: Dict[str, str] = {}

    @property
    def is_unique(self) -> bool:
        """Whether no two rows are the same."""
        return self.declaration is not None


def from_partition(folder: Union[str, "os.PathLike[str]"]) -> Dict[str, Relation]:
    """The relations of a folder that `cozo export --partition` has written. The folder must be reachable by all
    executors under the same path.

    >>> cozo.spark.run(spark, script, relations=cozo.spark.from_partition("/shared/export"))
    """
    folder = os.fspath(folder)
    with open(os.path.join(folder, "catalog.json"), encoding="utf-8") as file:
        catalog = json.load(file)
    relations = {}
    for entry in catalog["relations"]:
        columns = [*entry["keys"], *entry["values"]]
        written = [f"{column['name']}: {column['type']}" for column in columns]
        keys, values = written[: len(entry["keys"])], written[len(entry["keys"]) :]
        declaration = "{" + ", ".join(keys) + (" => " + ", ".join(values) if values else "") + "}"
        files = [os.path.join(folder, file["path"]) for file in entry["files"]]
        relation = Relation(files, declaration, rows=entry["rows"])
        relation.forms = {column["name"]: column.get("stored_as", "value") for column in columns}
        relations[entry["name"]] = relation
    return relations


def from_cozo(spark: Any, db: Any, relations: Optional[Sequence[str]] = None) -> Dict[str, Relation]:
    """Relations of a database as relations of `run`, all of them or those named. Their rows go through this
    process: it is for samples and for small tables that are joined with large ones.

    >>> cozo.spark.run(spark, script, relations={**cozo.spark.from_cozo(spark, db), "edge": "s3a://lake/edge"})
    """
    names = [name for name in db.relations() if ":" not in name] if relations is None else relations
    return {name: _from_cozo(spark, db, name) for name in names}


def _from_cozo(spark: Any, db: Any, name: str) -> Relation:
    import pyarrow
    from cozo_embedded import PortableRows

    columns: List[Column] = db.columns(name)
    listed = ", ".join(column.name for column in columns)
    result = db.native.run_script_arrow(
        f"?[{listed}] := *{relation_name(name)}{{{listed}}} :order {listed}", {}, True
    )
    encodings = [of_declared(column.type).encoding for column in columns]
    outputs = [{"slot": at, "encoding": encoding} for at, encoding in enumerate(encodings)]
    spec = {
        "inputs": [{"slot": at, "encoding": "Native"} for at in range(len(columns))],
        "operators": [],
        "outputs": outputs,
    }
    table = pyarrow.table(PortableRows(json.dumps(spec)).run(result))
    fields = []
    for at, (column, encoding) in enumerate(zip(columns, encodings)):
        values = table.column(at).combine_chunks()
        if encoding == "Ordered":
            nothing = pyarrow.nulls(len(values), pyarrow.string())
            values = pyarrow.StructArray.from_arrays([nothing, values.cast(pyarrow.binary())], ["json", "ordered"])
        fields.append((column.name, values))
    arrow = pyarrow.table({column: values for column, values in fields})
    keys = [f"{column.name}: {column.type}" for column in columns if column.is_key]
    values = [f"{column.name}: {column.type}" for column in columns if not column.is_key]
    declaration = "{" + ", ".join(keys) + (" => " + ", ".join(values) if values else "") + "}"
    return Relation(spark.createDataFrame(arrow), declaration, rows=arrow.num_rows)


class Stored:
    """A relation that is read, with its columns in the order of the language."""

    def __init__(self, spark: Any, name: str, relation: Any) -> None:
        self.relation = relation if isinstance(relation, Relation) else Relation(relation)
        self.name, self.frame = name, frame_of(spark, name, self.relation.data)
        self.types = {field.name: field.dataType.simpleString() for field in self.frame.schema.fields}
        self.nullable = {field.name: field.nullable for field in self.frame.schema.fields}

    def declaration(self) -> str:
        """The columns as `:create` takes them."""
        if self.relation.declaration is not None:
            return self.relation.declaration
        return "{" + ", ".join(f"{column}: {self._inferred(column)}" for column in self.types) + "}"

    def _inferred(self, column: str) -> str:
        found = self.types[column]
        if found in SPARK_TO_COZO:
            return SPARK_TO_COZO[found]
        if found == MIXED or found.startswith("array<"):
            return "Any?"
        message = f"the column {column!r} of {self.name!r} has the type {found}, which has no values in the language"
        raise refused("column_type", message, "cast it to bigint, double, string, boolean or binary, or leave it out")

    def check(self, columns: Sequence[Column]) -> None:
        """Refuses a relation that lacks a declared column, or has another type for it."""
        for column in columns:
            found = self.types.get(column.name)
            if found is None:
                message = f"{self.name!r} is declared with the column {column.name!r}, which its data has not"
                raise refused("no_column", message, f"its columns are {', '.join(self.types)}")
            shape = of_declared(column.type)
            fits = found in INTEGERS if shape.encoding == "Int" else SPARK_TO_COZO.get(found) == shape.encoding
            if shape.encoding in NATIVE and not fits:
                declared = f"is declared as {column.type}, and has the type {found}"
                message = f"the column {column.name!r} of {self.name!r} {declared}"
                raise refused("column_type", message, "declare it by the type of its data, or cast the data")

    def table(self, columns: Sequence[Column]) -> Tuple[Table, bool]:
        """The rows, and whether they went through the evaluator."""
        from pyspark.sql import functions as F

        shapes = tuple(of_declared(column.type) for column in columns)
        chosen, inputs, operators, outputs = [], [], [], []
        for at, (column, shape) in enumerate(zip(columns, shapes)):
            value, found, encoding = F.col(f"`{column.name}`"), self.types[column.name], shape.encoding
            if found == MIXED:
                value = value["ordered"]
            elif encoding == "Int" and found != "bigint":
                value = value.cast("bigint")
            elif encoding == "Ordered":
                encoding = "Native"
                if column.type.startswith("Float") and found in INTEGERS:
                    value = value.cast("double")
                operators += self._reading(column, at)
            if encoding in NATIVE and self.nullable[column.name]:
                advice = f"the column {column.name!r} of {self.name!r} has a null: declare it as {column.type}?"
                value = F.coalesce(value, F.raise_error(F.lit(null_error(advice))).cast(value_type(encoding)))
            chosen.append(value.alias(f"c{at}"))
            inputs.append((at, encoding))
            outputs.append(Outgoing(f"c{at}", at, shape.encoding))
        frame = self.frame.select(*chosen)
        if not any(encoding == "Native" for _, encoding in inputs):
            return Table(frame, shapes), False
        return Table(passed(frame, inputs, operators, outputs), shapes), True

    def _reading(self, column: Column, slot: int) -> List[Mapping[str, Any]]:
        """The functions that make values of text, for types that Parquet lacks."""
        found, kind = self.types[column.name], column.type.rstrip("?")
        function = {"Uuid": "to_uuid", "Json": "parse_json"}.get(kind)
        form = self.relation.forms.get(column.name, "value")
        if function is None or found != "string":
            if form not in ("value", "uuid_text", "json_text"):
                message = f"the column {column.name!r} of {self.name!r} has values of the type {column.type}"
                raise refused(
                    "column_type", message, "export it as another type, or import the relation into a database"
                )
            return []
        value = {"slot": slot}
        call = {"call": function, "arguments": [value]}
        case = {"if": {"call": "is_null", "arguments": [value]}, "then": value}
        otherwise = {"if": {"call": "and", "arguments": []}, "then": call}
        return [{"op": "assign", "slot": slot, "value": {"cases": [case, otherwise]}}]


def value_type(encoding: str) -> str:
    return {"Int": "bigint", "String": "string", "Bool": "boolean"}[encoding]


def null_error(message: str) -> str:
    """The text of the error of a null in a column that has none."""
    from ._errors import MARK

    return MARK + json.dumps({"code": "spark::null", "message": message})


def frame_of(spark: Any, name: str, data: Any) -> Any:
    """The frame of a relation."""
    if hasattr(data, "mapInArrow"):
        return data
    if isinstance(data, (list, tuple)) and data and all(isinstance(path, str) for path in data):
        return spark.read.parquet(*data)
    if isinstance(data, (str, os.PathLike)):
        path = os.fspath(data)
        is_delta = os.path.isdir(os.path.join(path, "_delta_log"))
        return spark.read.format("delta").load(path) if is_delta else spark.read.parquet(path)
    message = f"the relation {name!r} is of the type {type(data).__name__}"
    raise refused("relation", message, "pass a DataFrame, the path of a folder of Parquet, or a cozo.spark.Relation")
