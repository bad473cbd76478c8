"""Times and other objects as values.

The language has no type for a moment in time: functions of time give seconds since the epoch, as a Float. So times
become seconds, and microseconds for a column of the type Validity, which counts these. What has no time zone is UTC.
"""

from __future__ import annotations

import datetime
import uuid
from typing import Any, Sequence

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
MICROSECOND = datetime.timedelta(microseconds=1)
PLAIN = frozenset([bool, bytes, float, int, str, type(None)])


def is_missing(value: Any) -> bool:
    """Whether it is NaT or NA of pandas, or NaT of numpy."""
    kind = type(value).__name__
    return kind in ("NaTType", "NAType") or (kind in ("datetime64", "timedelta64") and str(value) == "NaT")


def micros(value: Any) -> Any:
    """The microseconds of a time or a span of time; None for another object."""
    if isinstance(value, datetime.datetime):
        utc = value.replace(tzinfo=datetime.timezone.utc) if value.tzinfo is None else value
        return (utc - EPOCH) // MICROSECOND
    if isinstance(value, datetime.date):
        return micros(datetime.datetime(value.year, value.month, value.day))
    if isinstance(value, datetime.timedelta):
        return value // MICROSECOND
    if type(value).__name__ in ("datetime64", "timedelta64") and type(value).__module__ == "numpy":
        return int(value.astype(type(value).__name__ + "[us]").astype("int64"))
    return None


def plain(value: Any, as_validity: bool = False) -> Any:
    """A value with all times in it as seconds, or as `[microseconds, True]`, which is a Validity; the same object if
    it has none.

    UUIDs become text, missing values of pandas None, frames of pandas lists of rows, series and arrays lists.
    """
    if type(value) in PLAIN:
        return value
    if isinstance(value, dict):
        items = {key: plain(item, as_validity) for key, item in value.items()}
        return value if all(items[key] is value[key] for key in items) else items
    if isinstance(value, (list, tuple)):
        items = [plain(item, as_validity) for item in value]
        return value if all(new is old for new, old in zip(items, value)) else items
    if is_missing(value):
        return None
    time = micros(value)
    if time is not None:
        return [time, True] if as_validity else time / 1e6
    if isinstance(value, uuid.UUID):
        return str(value)
    return of_arrays(value, as_validity)


def of_arrays(value: Any, as_validity: bool) -> Any:
    """Arrays of numpy with times, and what pandas has, as lists."""
    module = type(value).__module__.partition(".")[0]
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    if module == "numpy" and kind in ("M", "m", "O") and hasattr(value, "flat"):
        return [plain(item, as_validity) for item in value]
    if module == "pandas" and hasattr(value, "itertuples"):
        return [plain(list(row), as_validity) for row in value.itertuples(index=False, name=None)]
    if module == "pandas" and hasattr(value, "tolist"):
        return plain(value.tolist(), as_validity)
    return value


def plain_rows(rows: Sequence[Sequence[Any]], as_validity: Sequence[bool]) -> list:
    """Rows of plain values; `as_validity` says for each column whether it is of the type Validity."""
    if any(as_validity):
        return [[plain(value, wanted) for value, wanted in zip(row, as_validity)] for row in rows]
    return [list(plain(row)) for row in rows]
