"""The programs of the page about Spark print what it says; with COZO_BLESS_DOCS in the environment it is written
there."""

import contextlib
import io
import os
import pathlib
import re

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "spark.md"
PROGRAM = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.S)


def test_programs_print_what_the_page_says(spark):
    text, namespace, differing = PAGE.read_text(), {"__name__": "book"}, []
    for program in PROGRAM.finditer(text):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(program.group(1), str(PAGE), "exec"), namespace)
        if program.group(2) is not None and program.group(2) != printed.getvalue():
            differing.append((program.start(2), program.end(2), printed.getvalue()))
    if "COZO_BLESS_DOCS" in os.environ:
        for begin, end, found in reversed(differing):
            text = text[:begin] + found + text[end:]
        PAGE.write_text(text)
    else:
        assert not differing, (
            f"{differing}\nCOZO_BLESS_DOCS=1 cozo-lib-python/test-spark.sh -k book writes what is printed"
        )
