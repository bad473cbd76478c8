"""Passes of rows through the native module: tests, assignments and lists of a rule, and changes of encodings.

A pass is a `mapInArrow` whose function makes a `PortableRows` in the task. Each batch of Arrow is evaluated as a
whole, by the same code as in a local run.
"""

from __future__ import annotations

import json
from typing import Any, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Sequence

from ._errors import task_errors
from ._shapes import Shape

SPARK_TYPES = {
    "Int": "bigint",
    "String": "string",
    "Bool": "boolean",
    "Ordered": "binary",
    "Float": "double",
    "Bytes": "binary",
}


class Outgoing(NamedTuple):
    """A column that a pass gives."""

    name: str
    slot: int
    encoding: str
    type: Optional[str] = None
    """For the encoding `Native`: the type of the values."""


def arrow_type(encoding: str) -> Any:
    import pyarrow

    return {
        "Int": pyarrow.int64(),
        "String": pyarrow.string(),
        "Bool": pyarrow.bool_(),
        "Ordered": pyarrow.binary(),
        "Float": pyarrow.float64(),
        "Bytes": pyarrow.binary(),
    }[encoding]


def schema_of(columns: Sequence[tuple]) -> str:
    """The schema of Spark of columns by name and encoding."""
    return ", ".join(f"`{name}` {SPARK_TYPES[encoding]}" for name, encoding in columns)


def spark_batches(result: Any, columns: Sequence[tuple]) -> Iterator[Any]:
    """A result of the native module as batches of the columns that Spark expects."""
    import pyarrow

    schema = pyarrow.schema([pyarrow.field(name, arrow_type(encoding)) for name, encoding in columns])
    table = pyarrow.table(result)
    arrays = [table.column(at).cast(field.type) for at, field in enumerate(schema)]
    yield from pyarrow.Table.from_arrays(arrays, schema=schema).to_batches()


class Pass:
    """The function of a task. It is made again in each task from the JSON of its operators."""

    def __init__(self, operators: str, columns: List[tuple]) -> None:
        self.operators, self.columns = operators, columns

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow
        from cozo_embedded import PortableRows

        with task_errors():
            rows = PortableRows(self.operators)
            for batch in batches:
                yield from spark_batches(rows.run(pyarrow.Table.from_batches([batch])), self.columns)


def passed(
    frame: Any, inputs: Sequence[tuple], operators: Sequence[Mapping[str, Any]], outputs: Sequence[Outgoing]
) -> Any:
    """A frame after operators. `inputs` has the slot and the encoding of each column of the frame."""
    text = json.dumps(
        {
            "inputs": [{"slot": slot, "encoding": encoding} for slot, encoding in inputs],
            "operators": list(operators),
            "outputs": [{"slot": out.slot, "encoding": out.encoding, "type": out.type} for out in outputs],
        }
    )
    columns = [(out.name, out.type.rstrip("?") if out.type else out.encoding) for out in outputs]
    return frame.mapInArrow(Pass(text, columns), schema_of(columns))


def recoded(frame: Any, shapes: Sequence[Shape], wanted: Sequence[Shape]) -> Any:
    """The columns `c0`, `c1`, ... of a frame in other encodings."""
    if [shape.encoding for shape in shapes] == [shape.encoding for shape in wanted]:
        return frame
    inputs = [(at, shape.encoding) for at, shape in enumerate(shapes)]
    outputs = [Outgoing(f"c{at}", at, shape.encoding) for at, shape in enumerate(wanted)]
    return passed(frame, inputs, [], outputs)
