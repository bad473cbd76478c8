"""The blocks of Python in the pages of the book, `docs/`.

The blocks of a page run in order, in one namespace and in a folder of their own. What a block prints is compared with the block of
`text` behind it; with COZO_BLESS_DOCS in the environment it is written there. Blocks that name the address of a server have one.
Blocks that plot are only compiled where matplotlib is not installed. The page about Spark is run by `tests_spark`.
"""

import contextlib
import importlib.util
import io
import os
import pathlib

import pytest
from test_http import Server

DOCS = pathlib.Path(__file__).parents[2] / "docs"
ADDRESS = "http://localhost:9070"


def blocks(page):
    """The blocks of code of a page: what stands behind the backticks, the numbers of the first line and of the one after the last."""
    begin, info = None, ""
    for number, line in enumerate(page.splitlines()):
        if line.startswith("```"):
            if begin is None:
                begin, info = number + 1, line[3:].strip()
            else:
                yield info, begin, number
                begin = None


def programs(path):
    """The programs of a page, each with the block of `text` behind it, if there is one."""
    found = list(blocks(path.read_text()))
    for block, following in zip(found, [*found[1:], ("", 0, 0)]):
        if block[0] == "python":
            yield block, following if following[0] == "text" else None


PAGES = [path for path in sorted(DOCS.rglob("*.md")) if any(programs(path))]


@pytest.fixture
def server(tmp_path):
    if not os.environ.get("COZO_BINARY"):
        pytest.skip("COZO_BINARY names no binary; test.sh builds one")
    started = Server(tmp_path)
    yield started
    started.stop()


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_programs_print_what_the_page_says(path, tmp_path, monkeypatch, request):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    text = path.read_text()
    if "import cozo.spark" in text:
        pytest.skip("tests_spark runs it")
    lines = text.splitlines()
    address = request.getfixturevalue("server").address if ADDRESS in text else ADDRESS
    namespace, differing = {"__name__": "book"}, []
    for (_, begin, end), output in programs(path):
        # Errors show the line in the page.
        code = "\n" * begin + "\n".join(lines[begin:end]).replace(ADDRESS, address)
        compiled = compile(code, str(path), "exec")
        if "import matplotlib" in code and not importlib.util.find_spec("matplotlib"):
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compiled, namespace)
        found = printed.getvalue().rstrip().splitlines()
        if output and lines[output[1] : output[2]] != found:
            differing.append((output, found))
    if "COZO_BLESS_DOCS" in os.environ:
        for (_, begin, end), found in reversed(differing):
            lines[begin:end] = found
        path.write_text("\n".join(lines) + "\n")
    else:
        assert not differing, f"{path}: {differing}\n`make docs` writes what is printed"


def test_there_are_programs():
    assert {"python.md", "transactions.md"} <= {path.name for path in PAGES}
