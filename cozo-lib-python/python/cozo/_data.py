"""Data of all kinds as one: a table with names, types, and rows or an Arrow stream.

Frames of pandas, tables of pyarrow and polars, and whatever speaks Arrow's PyCapsule interface go in as Arrow; lists
and dicts as rows.
"""

from __future__ import annotations

from typing import Any, Callable, Collection, NamedTuple, Optional, Sequence

from . import _times
from ._errors import refused
from ._schema import column_names, type_of_field, type_of_values

try:
    import pyarrow
except ImportError:  # Then rows do.
    pyarrow = None  # type: ignore[assignment]

HELP = "pass a frame of pandas or polars, a table of pyarrow, a list of dicts, or a dict of columns"


class Table(NamedTuple):
    """Data on its way into a relation."""

    names: list[str]
    types: list[str]
    rows: Callable[[], list]
    count: int
    stream: Optional[Any] = None
    """What has `__arrow_c_stream__`, with times as numbers."""


def table_of(data: Any, names: Optional[Sequence[str]] = None, in_micros: Collection[str] = ()) -> Table:
    """The table of any data; `names` are those of rows without names, `in_micros` columns whose times are microseconds."""
    module = type(data).__module__.partition(".")[0]
    if module == "pandas" and hasattr(data, "reset_index"):
        return of_pandas(data.to_frame() if not hasattr(data, "columns") else data, in_micros)
    if module == "polars" and hasattr(data, "collect_schema"):
        return of_polars(data.collect() if hasattr(data, "collect") else data, in_micros)
    if hasattr(data, "__arrow_c_stream__"):
        return of_stream(data, in_micros)
    if isinstance(data, dict):
        return of_dict(data, in_micros)
    if isinstance(data, (str, bytes)) or not hasattr(data, "__iter__"):
        raise refused("bad_data", f"an object of the type {type(data).__name__} is no table", HELP)
    return of_list(list(data), names, in_micros)


def of_rows(names: Sequence[Any], rows: list, in_micros: Collection[str]) -> Table:
    """The table of rows of any values."""
    names = column_names(names)
    columns = list(zip(*rows)) if rows else [() for _ in names]
    counted = [name in in_micros for name in names]
    return Table(names, [type_of_values(values) for values in columns], lambda: _times.plain_rows(rows, counted), len(rows))


def of_list(data: list, names: Optional[Sequence[str]], in_micros: Collection[str]) -> Table:
    """The table of a list of dicts, of named tuples, or of rows."""
    data = [row._asdict() if hasattr(row, "_asdict") else row for row in data]
    if not data:
        return of_rows(names or [], [], in_micros)
    if all(isinstance(row, dict) for row in data):
        keys = list(dict.fromkeys(key for row in data for key in row))
        return of_rows(keys, [[row.get(key) for key in keys] for row in data], in_micros)
    if names is None or not all(isinstance(row, (list, tuple)) for row in data):
        raise refused("bad_data", "the rows have no names of columns", HELP)
    for row in data:
        if len(row) > len(names):
            message = f"a row has {len(row)} values, the relation {len(names)} columns"
            raise refused("bad_data", message, "leave out the others")
    width = max(map(len, data))
    if any(len(row) != width for row in data):
        raise refused("bad_data", "the rows are not of one length", "fill up the short ones with None")
    return of_rows(list(names)[:width], data, in_micros)


def of_dict(data: dict, in_micros: Collection[str]) -> Table:
    """The table of a dict of columns; a dict of other values is one row."""
    if not all(isinstance(column, (list, tuple, range)) or getattr(column, "ndim", 0) for column in data.values()):
        return of_rows(list(data), [list(data.values())], in_micros)
    columns = [list(column) for column in data.values()]
    if len({len(column) for column in columns}) > 1:
        lengths = ", ".join(f"{name!r} {len(column)}" for name, column in zip(data, columns))
        raise refused("bad_data", f"the columns are not of one length: {lengths}", "fill up the short ones with None")
    return of_rows(list(data), [list(row) for row in zip(*columns)], in_micros)


def of_stream(data: Any, in_micros: Collection[str]) -> Table:
    """The table of a stream of Arrow."""
    if pyarrow is None:
        raise ImportError(f"pyarrow reads the object of the type {type(data).__name__}: pip install pyarrow")
    return of_arrow(pyarrow.table(data), in_micros)


def of_arrow(table: Any, in_micros: Collection[str]) -> Table:
    """The table of a table of pyarrow."""
    names, moments = column_names(table.column_names), set()
    for position, field in enumerate(table.schema):
        numbers = arrow_numbers(table.column(position), field.name in in_micros)
        if numbers is not None:
            table = table.set_column(position, field.name, numbers)
            moments.add(field.name)
    types = [type_of_field(field, table.column(at).null_count > 0) for at, field in enumerate(table.schema)]
    rows = lambda: list(zip(*(column.to_pylist() for column in table.columns)))
    return of_columns(Table(names, types, rows, table.num_rows, table), moments.intersection(in_micros))


def of_columns(table: Table, asserted: Collection[str]) -> Table:
    """A table of Arrow whose rows hold plain values. Columns with microseconds of a Validity go in as rows, since a
    number is none.
    """
    positions = [at for at, name in enumerate(table.names) if name in asserted]

    def rows() -> list:
        plain = _times.plain_rows(table.rows(), [])
        for row in plain:
            for at in positions:
                row[at] = None if row[at] is None else [row[at], True]
        return plain

    return table._replace(rows=rows, stream=None if positions else table.stream)


def arrow_numbers(column: Any, in_micros: bool) -> Any:
    """A column of times as numbers; None for another column."""
    import pyarrow.compute as compute

    kind = column.type
    if pyarrow.types.is_date(kind) or pyarrow.types.is_timestamp(kind):
        unit: Any = pyarrow.timestamp("us", getattr(kind, "tz", None))
    elif pyarrow.types.is_duration(kind):
        unit = pyarrow.duration("us")
    else:
        return None
    micros = column.cast(unit, safe=False).cast(pyarrow.int64())
    return micros if in_micros else compute.divide(micros.cast(pyarrow.float64(), safe=False), 1e6)


def seconds(micros: Any) -> Any:
    """A column of polars of microseconds in seconds: its own division by a constant is rounded twice."""
    import polars

    return (micros // 1_000_000).cast(polars.Float64) + (micros % 1_000_000) / 1e6


def of_pandas(frame: Any, in_micros: Collection[str]) -> Table:
    """The table of a frame of pandas; an index with a name is a column, too."""
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()
    names = column_names(frame.columns)
    if pyarrow is not None:
        try:
            return of_arrow(pyarrow.Table.from_pandas(frame, preserve_index=False), in_micros)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, pyarrow.ArrowNotImplementedError):
            # Arrow has one type for a column, an object column several.
            pass
    columns = [frame[name].astype(object) for name in names]
    rows = list(zip(*(column.where(column.notna(), None).tolist() for column in columns)))
    return of_rows(names, rows, in_micros)


POLARS = {
    "Binary": "Bytes",
    "Boolean": "Bool",
    "Categorical": "String",
    "Enum": "String",
    "String": "String",
    "Struct": "Json",
}


def of_polars(frame: Any, in_micros: Collection[str]) -> Table:
    """The table of a frame of polars."""
    import polars

    names, moments = column_names(frame.columns), set()
    for name, kind in frame.schema.items():
        column = polars.col(name)
        if kind in (polars.Datetime, polars.Date):
            micros = column.dt.epoch("us")
        elif kind == polars.Duration:
            micros = column.dt.total_microseconds()
        else:
            continue
        frame = frame.with_columns(micros if name in in_micros else seconds(micros).alias(name))
        moments.add(name)
    types = [polars_type(frame[name]) for name in names]
    return of_columns(Table(names, types, frame.rows, frame.height, frame), moments.intersection(in_micros))


def polars_type(column: Any) -> str:
    """The type for a column of polars."""
    kind = column.dtype
    if kind.is_integer():
        name = "Int"
    elif kind.is_float():
        name = "Float"
    elif str(kind.base_type()) == "Array" and kind.inner.is_float() and len(kind.shape) == 1:
        name = f"<{'F64' if str(kind.inner) == 'Float64' else 'F32'}; {kind.shape[0]}>"
    else:
        name = POLARS.get(str(kind.base_type()), "Any")
    return name + "?" if column.null_count() or name == "Any" else name
