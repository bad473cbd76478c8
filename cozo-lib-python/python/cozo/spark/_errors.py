"""What the package refuses, and errors of tasks that become `cozo.Error`."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import Any, Iterator

from .._errors import Error

MARK = "cozo-error:"
"""Precedes the description of an error in the text that Spark brings back from a task."""


def unsupported(what: str, instead: str) -> Error:
    """The error of something that does not run on Spark."""
    return Error({"code": "spark::unsupported", "message": f"{what} does not run on Spark", "help": instead})


def refused(code: str, message: str, help: str) -> Error:
    """The error of an argument."""
    return Error({"code": f"spark::{code}", "message": message, "help": help})


class TaskError(Exception):
    """An error of the native module in a task. Spark keeps only its text."""

    def __init__(self, raised: BaseException) -> None:
        described = raised.args[0] if raised.args else None
        known = dict(described) if isinstance(described, dict) else {"message": repr(raised)}
        kept = {key: known[key] for key in ("code", "message", "help") if known.get(key)}
        super().__init__(MARK + json.dumps(kept))


@contextmanager
def task_errors() -> Iterator[None]:
    """Marks the exceptions of the native module, in a task."""
    try:
        yield
    except TaskError:
        raise
    except Exception as raised:
        raise TaskError(raised) from None


def of_task(raised: BaseException) -> Any:
    """The `cozo.Error` of an exception of Spark; None if it is about something else."""
    text = str(raised)
    start = text.find(MARK)
    if start < 0:
        return None
    try:
        described, _ = json.JSONDecoder().raw_decode(text[start + len(MARK) :])
    except ValueError:
        return None
    return Error(described)


@contextmanager
def translated_tasks() -> Iterator[None]:
    """Turns the exceptions of tasks into `cozo.Error`, on the driver."""
    try:
        yield
    except Error:
        raise
    except Exception as raised:
        error = of_task(raised)
        if error is None:
            raise
        raise error from raised
