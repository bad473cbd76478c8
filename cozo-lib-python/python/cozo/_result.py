"""What a script gives: rows under columns, and the tables of other packages made of them."""

from __future__ import annotations

from typing import Any, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple

from . import _display
from ._errors import refused, translated

ARROW_TYPES = {"Bool": "bool_", "Int": "int64", "Float": "float64", "String": "string", "Bytes": "binary"}
POLARS_TYPES = {"Bool": "Boolean", "Int": "Int64", "Float": "Float64", "String": "String", "Bytes": "Binary"}


class Result:
    """The rows of a script. Below it is an Arrow table: the values become Python objects only when the rows are asked for.

    >>> result = db.run("?[x, y] := x in [1, 2], y = x * x")
    >>> result.columns, result.rows
    (['x', 'y'], [(1, 1), (2, 4)])
    """

    def __init__(self, native: Any, types: Optional[Sequence[str]] = None) -> None:
        self._native = native
        self._types = types
        self._rows: Optional[List[Tuple[Any, ...]]] = None
        self.columns: List[str] = native.column_names
        self.warnings: List[str] = native.warnings

    @property
    def rows(self) -> List[Tuple[Any, ...]]:
        """The rows as tuples."""
        if self._rows is None:
            with translated():
                self._rows = self._native.rows()
        return self._rows

    @property
    def next(self) -> Optional[Result]:
        """A further result, where a script returns several with `%return`."""
        return Result(self._native.next) if self._native.next is not None else None

    def dicts(self) -> List[Dict[str, Any]]:
        """The rows as dicts.

        >>> db.run("?[x] := x = 1").dicts()
        [{'x': 1}]
        """
        return [dict(zip(self.columns, row)) for row in self.rows]

    def one(self) -> Tuple[Any, ...]:
        """The only row; an error if there are more or none."""
        if len(self) != 1:
            raise refused("not_one_row", f"there are {len(self)} rows, not one", "use rows, or ':limit 1' in the script")
        return self.rows[0]

    def value(self) -> Any:
        """The only value; an error if there are more or none.

        >>> db.run("?[count(x)] := x in [5, 6]").value()
        2
        """
        row = self.one()
        if len(row) != 1:
            raise refused("not_one_value", f"there are {len(row)} columns, not one", "use one()")
        return row[0]

    def arrow(self, times: Iterable[str] = ()) -> Any:
        """A table of pyarrow. Lists, objects and validities are text with Json there. `times` as with `df`.

        >>> db.run("?[at] := at = 0.5").arrow(times=["at"]).schema.field("at").type
        TimestampType(timestamp[us, tz=UTC])
        """
        pyarrow = package("pyarrow", "arrow")
        times = self._check(times)
        table = pyarrow.table(self._native)
        for at, kind in self._declared(ARROW_TYPES):
            if pyarrow.types.is_null(table.schema.field(at).type):
                table = table.set_column(at, table.column_names[at], table.column(at).cast(getattr(pyarrow, kind)()))
        for name in times:
            column = pyarrow.array(self._micros(name), pyarrow.timestamp("us", "UTC"))
            table = table.set_column(self.columns.index(name), name, column)
        return table

    def df(self, times: Iterable[str] = ()) -> Any:
        """A frame of pandas. Columns of Int or Bool with nulls have pandas' types `Int64` and `boolean`, so that no
        digit is lost.

        `times` are columns of seconds, or of the type Validity, which become `datetime64[us, UTC]`.

        >>> db.run("?[at] := at = 0.5").df(times=["at"]).at[0, "at"]
        Timestamp('1970-01-01 00:00:00.500000+0000', tz='UTC')
        """
        pandas = package("pandas", "df")
        times = self._check(times)
        try:
            import pyarrow
        except ImportError:
            frame = pandas.DataFrame.from_records(self.rows, columns=self.columns)
        else:
            frame = self._df_of_arrow(pandas, pyarrow)
        for name in times:
            frame[name] = self._pandas_times(pandas, name)
        return frame

    def pl(self, times: Iterable[str] = ()) -> Any:
        """A frame of polars. Lists, objects and validities are text with Json there. `times` as with `df`."""
        polars = package("polars", "pl")
        times = self._check(times)
        frame = polars.DataFrame(self._native)
        for at, kind in self._declared(POLARS_TYPES):
            if frame.dtypes[at] == polars.Null:
                frame = frame.with_columns(polars.col(frame.columns[at]).cast(getattr(polars, kind)))
        utc = polars.Datetime("us", "UTC")
        return frame.with_columns([polars.Series(name, self._micros(name), polars.Int64).cast(utc) for name in times])

    def _declared(self, names: Dict[str, str]) -> List[Tuple[int, str]]:
        """The positions of columns whose type is known without any value, with its name elsewhere."""
        types = enumerate(kind.rstrip("?") for kind in self._types or [])
        return [(at, names[kind]) for at, kind in types if kind in names]

    def _check(self, names: Iterable[str]) -> List[str]:
        names = [names] if isinstance(names, str) else list(names)
        for name in names:
            if name not in self.columns:
                raise refused("no_column", f"there is no column {name!r}", f"the columns are {', '.join(self.columns)}")
        return names

    def _micros(self, name: str) -> List[Optional[int]]:
        """A column of seconds, or of validities, in microseconds."""

        def micros(value: Any) -> Optional[int]:
            if value is None or isinstance(value, list):
                return value and value[0]
            # The fraction by itself: the product of all digits would be rounded.
            whole = int(value)
            return whole * 1_000_000 + round((value - whole) * 1e6)

        return [micros(value) for value in self[name]]

    def _df_of_arrow(self, pandas: Any, pyarrow: Any) -> Any:
        table = self.arrow()
        nullable = {pyarrow.int64(): pandas.Int64Dtype(), pyarrow.bool_(): pandas.BooleanDtype()}
        columns: Dict[str, Any] = {}
        for at, field in enumerate(table.schema):
            column = table.column(at)
            if getattr(field.type, "extension_name", None) or b"ARROW:extension:name" in (field.metadata or {}):
                columns[field.name] = pandas.Series(self[field.name], dtype=object)
            else:
                columns[field.name] = column.to_pandas(types_mapper=nullable.get if column.null_count else None)
        return pandas.DataFrame(columns, columns=table.column_names)

    def _pandas_times(self, pandas: Any, name: str) -> Any:
        micros = pandas.Series(self._micros(name), dtype="Int64")
        return pandas.to_datetime(micros, unit="us", utc=True).dt.as_unit("us")

    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object:
        return self._native.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._native.__arrow_c_schema__()

    def __len__(self) -> int:
        return self._native.num_rows

    def __bool__(self) -> bool:
        return len(self) > 0

    def __iter__(self) -> Iterator[Tuple[Any, ...]]:
        return iter(self.rows)

    def __getitem__(self, which: Any) -> Any:
        """A row by its number, several by a slice, or the values of a column by its name."""
        if isinstance(which, str):
            [name] = self._check([which])
            at = self.columns.index(name)
            return [row[at] for row in self.rows]
        return self.rows[which]

    def __repr__(self) -> str:
        return _display.text_table(self.columns, self.rows)

    def _repr_html_(self) -> str:
        return _display.html_table(self.columns, self.rows)


def package(name: str, method: str) -> Any:
    """A package that the user may have."""
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        raise ImportError(f"{method}() needs the package {name}: pip install {name}") from None
