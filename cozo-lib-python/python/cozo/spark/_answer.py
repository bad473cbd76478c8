"""What a run gives: a frame with the types of the language, and the ways back into a program or a database."""

from __future__ import annotations

import json
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple

from .._errors import Error
from .._schema import column_names
from ._errors import task_errors, translated_tasks
from ._relations import Table
from ._shapes import Shape

PLAIN = {"Int": "bigint", "Float": "double", "String": "string", "Bool": "boolean", "Bytes": "binary"}


class Answer:
    """The rows of a script. All that a DataFrame does, it does too, for instance `answer.write.parquet(path)`.

    A column of values of one type, and nulls, has the type `bigint`, `double`, `string`, `boolean` or `binary`. Any
    other column is a struct of `json`, the value as JSON, and `ordered`, its bytes: these are equal for identical
    values, and sort as values do.

    Rows are computed when they are asked for, from tables that stay in the cluster until `close`.
    """

    def __init__(self, program: Any, table: Table, headers: List[str], is_sorted: bool) -> None:
        self._program, self._table, self._is_sorted = program, table, is_sorted
        self.headers = headers
        self.frame = presented(table, headers)
        """The DataFrame."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "frame":
            raise AttributeError(name)
        return getattr(self.frame, name)

    def rows(self) -> List[Tuple[Any, ...]]:
        """All rows, in the order of the language, as the objects that a local run gives. They must fit into the
        memory of this process."""
        return exact_rows(self._table, self._is_sorted)

    def to_cozo(self, db: Any, name: str, key: Any = None) -> None:
        """Makes a relation of a database out of the rows. `key` names the columns that tell rows apart; without it
        all do.

        >>> answer.to_cozo(db, "near", key="node")
        """
        names = relation_names(self.headers)
        keys = names if key is None else [key] if isinstance(key, str) else list(key)
        others = [column for column in names if column not in keys]
        columns = ", ".join(keys) + (" => " + ", ".join(others) if others else "")
        rows = [list(row) for row in self.rows()]
        db.run(f"?[{', '.join(names)}] <- $rows :create {name} {{{columns}}}", {"rows": rows})

    def close(self) -> None:
        """Lets the cluster forget the tables of the run. The rows can be computed again, which takes as long as at
        first."""
        self._program.close()

    def __enter__(self) -> Answer:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<cozo.spark.Answer {self.frame}>"


def relation_names(headers: Sequence[str]) -> List[str]:
    """Headers as names of columns: `count(x)` becomes `count_x`."""
    return column_names([header.replace("(", "_").rstrip(")") for header in headers])


def presented(table: Table, headers: Sequence[str]) -> Any:
    """A table with the types of the language."""
    from pyspark.sql import functions as F

    shapes = table.shapes
    if all(shape.encoding != "Ordered" for shape in shapes):
        return table.frame.select(*[F.col(f"c{at}").alias(header) for at, header in enumerate(headers)])
    kinds = [only_type(shape) for shape in shapes]
    fields = [
        f"c{at} {PLAIN[kind] if kind else 'struct<json: string, ordered: binary>'}" for at, kind in enumerate(kinds)
    ]
    frame = table.frame.mapInArrow(Presentation([shape.encoding for shape in shapes], kinds), ", ".join(fields))
    return frame.select(*[F.col(f"c{at}").alias(header) for at, header in enumerate(headers)])


def only_type(shape: Shape) -> Optional[str]:
    """The type of all values but null, if it is known and Spark has it."""
    types = (shape.types or frozenset()) - {"Null"}
    kind = next(iter(types)) if len(types) == 1 else None
    return kind if kind in PLAIN else None


class Presentation:
    """The function of a task that gives values their types."""

    def __init__(self, encodings: List[str], kinds: List[Optional[str]]) -> None:
        self.encodings, self.kinds = encodings, kinds

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow
        from cozo_embedded import PortableRows, decode_value

        types = {
            "Int": pyarrow.int64(),
            "Float": pyarrow.float64(),
            "String": pyarrow.string(),
            "Bool": pyarrow.bool_(),
            "Bytes": pyarrow.binary(),
        }
        inputs = [{"slot": at, "encoding": encoding} for at, encoding in enumerate(self.encodings)]
        known = [(at, kind) for at, kind in enumerate(self.kinds) if kind]
        outputs = [{"slot": at, "encoding": "Native", "type": kind} for at, kind in known]
        with task_errors():
            rows = PortableRows(json.dumps({"inputs": inputs, "operators": [], "outputs": outputs}))
            for batch in batches:
                given = pyarrow.Table.from_batches([batch])
                native = pyarrow.table(rows.run(given))
                columns: Dict[int, Any] = {
                    at: native.column(to).cast(types[kind]) for to, (at, kind) in enumerate(known)
                }
                for at, kind in enumerate(self.kinds):
                    if not kind:
                        columns[at] = mixed(batch.column(at), decode_value)
                names = [f"c{at}" for at in range(len(self.kinds))]
                yield from pyarrow.Table.from_arrays(
                    [columns[at] for at in range(len(names))], names=names
                ).to_batches()


def mixed(ordered: Any, decode: Callable[[bytes], Any]) -> Any:
    """Bytes of values as structs with their JSON."""
    import pyarrow

    texts = [json.dumps(decode(value), default=str) for value in ordered.to_pylist()]
    return pyarrow.StructArray.from_arrays(
        [pyarrow.array(texts, pyarrow.string()), ordered.cast(pyarrow.binary())], ["json", "ordered"]
    )


def exact_rows(table: Table, is_sorted: bool) -> List[Tuple[Any, ...]]:
    """The rows of a table as Python objects."""
    import pyarrow
    from cozo_embedded import PortableRows

    names = [f"c{at}" for at in range(len(table.shapes))]
    frame = table.frame if is_sorted else table.frame.orderBy(*names)
    with translated_tasks():
        arrow = frame.toArrow()
    spec = {
        "inputs": [{"slot": at, "encoding": shape.encoding} for at, shape in enumerate(table.shapes)],
        "operators": [],
        "outputs": [{"slot": at, "encoding": "Native"} for at in range(len(names))],
    }
    if not arrow.num_rows:
        return []
    return PortableRows(json.dumps(spec)).run(pyarrow.table(arrow)).rows()


def arranged(table: Table, options: Mapping[str, Any]) -> Tuple[Table, bool]:
    """The rows that the options of a query ask for, and whether they have an order."""
    from pyspark.sql import functions as F

    frame = table.frame
    with translated_tasks():
        if options["assert"] == "none" and not frame.isEmpty():
            raise Error(
                {"code": "eval::assert_none_failure", "message": "the query has rows, but ':assert none' is given"}
            )
        if options["assert"] == "some" and frame.isEmpty():
            raise Error(
                {"code": "eval::assert_some_failure", "message": "the query has no rows, but ':assert some' is given"}
            )
    is_sorted = bool(options["order"]) or options["limit"] is not None or options["offset"] > 0
    if is_sorted:
        keys = [F.col(f"c{key['column']}") for key in options["order"]]
        keys = [key.desc() if given["descending"] else key.asc() for key, given in zip(keys, options["order"])]
        frame = frame.orderBy(*keys, *[f"c{at}" for at in range(len(table.shapes))])
    if options["offset"]:
        frame = frame.offset(min(options["offset"], MAX_ROWS))
    if options["limit"] is not None:
        frame = frame.limit(min(options["limit"], MAX_ROWS))
    return Table(frame, table.shapes), is_sorted


MAX_ROWS = (1 << 31) - 1
"""The most rows that Spark's `limit` and `offset` count."""
