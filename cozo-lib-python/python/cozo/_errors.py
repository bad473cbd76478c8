"""The exception of the package, and the native exceptions that become one."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Dict, Iterator, List, Optional


class Error(Exception):
    """What went wrong in the database. Its text has the message, the line of the script with a mark, and what to do.

    >>> try:
    ...     cozo.connect().run("?[x] := *nobody{x}")
    ... except cozo.Error as error:
    ...     print(error.code)
    query::relation_not_found
    """

    code: Optional[str]
    """Tells errors apart, and stays the same between versions."""
    message: str
    """What is wrong, in one sentence or two."""
    help: Optional[str]
    """What to do about it."""
    display: str
    """A report for a terminal, with colours."""
    labels: List[Dict[str, Any]]
    """Places in the script: `{"label": ..., "span": {"offset": ..., "length": ...}}`, in bytes."""

    def __init__(self, described: Dict[str, Any], text: Optional[str] = None) -> None:
        super().__init__(described)
        self.code = described.get("code")
        self.message = described.get("message") or ""
        self.help = described.get("help")
        self.labels = described.get("labels") or []
        self._text = text or f"{self.message} ({self.code})" + (f"\nhelp: {self.help}" if self.help else "")
        self.display = described.get("display") or self._text

    def __str__(self) -> str:
        return self._text

    def __reduce__(self) -> Any:
        return Error, (dict(self.args[0]), self._text)


def refused(code: str, message: str, help: str) -> Error:
    """The error of an argument that the package refuses."""
    return Error({"code": f"python::{code}", "message": message, "help": help})


@contextmanager
def translated() -> Iterator[None]:
    """Turns the exceptions of the native module into `Error`."""
    try:
        yield
    except Error:
        raise
    except Exception as raised:
        described = raised.args[0] if raised.args else None
        if isinstance(described, dict) and "message" in described and "display" in described:
            raise Error(described, str(raised)) from None
        raise
