"""A result that may be larger than memory."""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Optional, Tuple

from ._errors import translated
from ._result import package


class Stream:
    """The rows of a query, batch by batch: never in memory as a whole. What exceeds the option `query_memory_mb` waits on
    disk until the object goes. Each loop begins with the first row.

    >>> for x, y in db.stream("?[x, y] := x in int_range(3), y = x * x"):
    ...     print(x, y)
    0 0
    1 1
    2 4
    """

    def __init__(self, native: Any) -> None:
        self._native = native
        self.columns: List[str] = native.column_names
        self.warnings: List[str] = native.warnings

    def __iter__(self) -> Iterator[Tuple[Any, ...]]:
        """The rows as tuples."""
        with translated():
            for batch in self._native.batches():
                yield from batch

    def dicts(self) -> Iterator[Dict[str, Any]]:
        """The rows as dicts."""
        return (dict(zip(self.columns, row)) for row in self)

    def arrow(self) -> Any:
        """A `RecordBatchReader` of pyarrow: batches of some thousand rows. Lists, objects and validities are text with
        Json there.

        >>> sum(batch.num_rows for batch in db.stream("?[x] := x in int_range(100000)").arrow())
        100000
        """
        with translated():
            return package("pyarrow", "arrow").RecordBatchReader.from_stream(self._native)

    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object:
        return self._native.__arrow_c_stream__(requested_schema)
