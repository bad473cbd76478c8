"""The picture of the page in README.md: COZO_BLESS_PICTURE=1 has it written anew, for it differs with fonts and versions of Chromium."""

import os
from pathlib import Path

import pytest

import server
from browser import Desk, expect

pytestmark = pytest.mark.skipif(not server.BINARY, reason="COZO_BINARY names no binary; test.sh builds one")

DOCS = Path(__file__).parents[2] / "docs"
PICTURE = DOCS / "images" / "page.png"
WIDTH, HEIGHT = 1200, 760
MAX_BYTES = 300_000

SCRIPT = """# All shortest routes by land from Athens, with the borders crossed.
neighbour[a, b] := *border{one: a, other: b}
neighbour[a, b] := *border{one: b, other: a}
steps[to, min(n)] := to = 'GR', n = 0
steps[to, min(n)] := steps[from, m], neighbour[from, to], n = m + 1
?[from, to, step] := steps[a, m], neighbour[a, b], steps[b, step], step == m + 1,
                     *country{code: a, capital: from}, *country{code: b, capital: to}"""


def load(desk, file, name, keys):
    desk.page.click("#csv-open")
    desk.page.set_input_files("#csv-file", DOCS / "data" / file)
    expect(desk.locate("#csv-found")).to_be_visible()
    desk.page.fill("#csv-name", name)
    for box in desk.locate("#csv-preview").get_by_role("checkbox").all()[:keys]:
        box.check()
    desk.page.click("#csv-load")
    expect(desk.locate("#csv-dialog")).to_be_hidden()


def test_the_picture_of_the_page(chromium, address):
    desk = Desk(chromium, address, viewport={"width": WIDTH, "height": HEIGHT}, reduced_motion="reduce")
    try:
        load(desk, "countries.csv", "country", 1)
        load(desk, "borders.csv", "border", 2)
        desk.run(SCRIPT)
        expect(desk.locate("#status")).to_contain_text("24 rows")
        desk.page.get_by_role("button", name="Schema of country").click()
        desk.tab("Graph")
        desk.page.get_by_role("combobox", name="Color", exact=True).select_option("edges 2")
        expect(desk.locate(".graph[data-settled]")).to_have_count(1)
        expect(desk.locate("#announcement")).to_be_empty()
        taken = desk.page.screenshot()
    finally:
        desk.close()
    assert len(taken) < MAX_BYTES and taken[16:24] == WIDTH.to_bytes(4) + HEIGHT.to_bytes(4)
    if os.environ.get("COZO_BLESS_PICTURE"):
        PICTURE.write_bytes(taken)
    assert PICTURE.stat().st_size < MAX_BYTES
