"""The page of `cozo server` in Chromium: COZO_BINARY names the server, COZO_CHROMIUM the browser."""

import json
import time

import pytest
import requests

import server
from browser import expect

pytestmark = pytest.mark.skipif(not server.BINARY, reason="COZO_BINARY names no binary; test.sh builds one")


def test_scripts_run_by_keys_and_by_buttons(desk):
    desk.write("?[a, b] <- [[1, 'x'], [2.0, null]]")
    desk.page.focus("#script")
    desk.page.keyboard.press("Control+Enter")
    desk.settle()
    assert desk.cells() == [["1", "x"], ["2.0", "null"]]
    expect(desk.locate("#status")).to_contain_text("2 rows · ")
    desk.run("?[a] <- [[3]]")
    assert desk.cells() == [["3"]]
    expect(desk.locate("#status")).to_contain_text("1 row · ")
    desk.page.keyboard.press("Escape")
    desk.page.focus("#script")
    for name in ("run", "explain", "parameters"):
        desk.page.keyboard.press("Tab")
        expect(desk.locate(f"#{name}")).to_be_focused()


def test_what_was_written_is_there_after_a_reload(desk):
    desk.run("?[a] <- [[$x]]")
    desk.write("?[kept] <- [['é']]")
    desk.page.reload()
    expect(desk.locate("#script")).to_have_value("?[kept] <- [['é']]")


def test_code_has_colors(desk):
    desk.write("# é\nr[x] := *edge{fr: x}, not x == 'ü', y = $p + 1.5\n?[count(x)] := r[x] :limit 1 %if")
    expected = {
        "comment": ["# é"], "rule": ["r", "?", "r"], "relation": ["*edge"], "keyword": ["not"], "string": ["'ü'"],
        "parameter": ["$p"], "number": ["1.5", "1"], "function": ["count"], "option": [":limit"], "control": ["%if"],
    }
    for kind, texts in expected.items():
        expect(desk.locate(f"#layer .is-{kind}")).to_have_text(texts)


def test_tokens_are_the_text(desk):
    texts = [
        "", "'open", "_\"raw\"_ x", "/* open", "a:b ::rel %mod :limit", "*a.b:c{", "\\", "😀é\n\t", "x * y % 3",
        "1_000.5e-3",
    ]
    joined = desk.module("lexer.js", "return argument.map(text => it.tokens(text).map(t => t.text).join(''));", texts)
    assert joined == texts
    opened = desk.module("lexer.js", "return argument.map(text => it.isOpen(it.tokens(text).at(-1)));",
                         ["'a", "'a'", "'a\\'", "\"a\"", "# c", "/* c", "/* c */", "/*/", "_\"a\"", "_\"a\"_", "a"])
    assert opened == [True, False, True, False, True, True, False, True, True, False, False]


def test_errors_stand_at_their_places(desk):
    desk.run("?[é] := é = 'ü😀',\n  *nope[é, 'long']")
    expect(desk.locate("#layer .marked")).to_have_text(["nope"])
    expect(desk.locate("#layer .mark-note")).to_have_text("  not found")
    expect(desk.locate("#gutter .wrong")).to_have_text("2")
    error = desk.locate(".error")
    expect(error).to_contain_text("there is no stored relation 'nope'")
    expect(error).to_contain_text("'::relations' lists them")
    error.get_by_role("button", name="line 2, column 4").click()
    behind = desk.locate("#script").evaluate("input => input.value.slice(input.selectionStart)")
    assert behind == "nope[é, 'long']"
    desk.type(" ")
    expect(desk.locate("#layer .marked")).to_have_count(0)


def test_places_of_errors_are_bytes(desk):
    body = "return argument.map(byte => it.indexOfByte('aé😀b', byte));"
    assert desk.module("spans.js", body, [0, 1, 2, 3, 5, 6, 7, 8, 99]) == [0, 1, 1, 2, 2, 2, 4, 5, 5]


def test_errors_at_the_end_and_in_what_is_explained(desk):
    desk.run("?[a] := a = ")
    expect(desk.locate("#layer .at-end")).to_have_count(1)
    desk.run("?[ä] := *nope[ä]", button="#explain")
    expect(desk.locate("#layer .marked")).to_have_text(["nope"])


def test_parameters(desk):
    desk.page.fill("#parameters", '{"rows": [[9007199254740993, "é"]], "k": {"a": 1.0}}')
    desk.run("r[a, b] <- $rows ?[a, b, k] := r[a, b], k = $k")
    assert desk.cells() == [["9007199254740993", "é", '{"a":1.0}']]
    for bad in ("[1]", "{", "null"):
        desk.page.fill("#parameters", bad)
        desk.page.click("#run")
        expect(desk.locate("#parameters")).to_have_attribute("aria-invalid", "true")
        expect(desk.locate("#parameters-problem")).not_to_be_empty()
    desk.page.fill("#parameters", "")
    expect(desk.locate("#parameters")).to_have_attribute("aria-invalid", "false")


def test_completion(desk):
    desk.run("{:create station {code: String => name: String?}} {::index create station:by_name {name}}")
    expect(desk.locate("#relations-list li")).to_have_count(2)
    desk.write("")
    desk.type("?[c] := *sta")
    expect(desk.locate(".suggestion-name")).to_have_text(["station", "station:by_name"])
    desk.page.keyboard.press("Enter")
    desk.type("{")
    expect(desk.locate(".suggestion-name")).to_have_text(["code", "name"])
    expect(desk.locate(".suggestion-detail")).to_have_text(["String", "String?"])
    desk.page.keyboard.press("ArrowDown")
    desk.page.keyboard.press("ArrowDown")
    desk.page.keyboard.press("ArrowUp")
    desk.page.keyboard.press("Enter")
    desk.type(": c}, l = conc")
    expect(desk.locate(".suggestion-name")).to_have_text(["concat"])
    expect(desk.locate("#suggestion-note")).to_contain_text("Joins Strings, Lists or Json values")
    desk.page.keyboard.press("Escape")
    expect(desk.locate("#suggestion-box")).to_be_hidden()
    desk.page.keyboard.press("Control+Space")
    desk.locate(".suggestion").first.click()
    expect(desk.locate("#script")).to_have_value("?[c] := *station{code: c}, l = concat(")


@pytest.mark.parametrize("typed, suggested, written", [
    ("?[count_u", "count_unique", "?[count_unique("),
    ("?[a] <- [[1]] :lim", ":limit", "?[a] <- [[1]] :limit "),
    ("?[a] <- [[1]] :ensure_n", ":ensure_not", "?[a] <- [[1]] :ensure_not "),
    ("::relat", "::relations", "::relations"),
    ("%loo", "%loop", "%loop "),
    ("?[n, s] <~ PageR", "PageRank", "?[n, s] <~ PageRank("),
    ("?[n, s] <~ PageRank(e[], the", "theta", "?[n, s] <~ PageRank(e[], theta: "),
    ("?[a] := a = $nam", "name", "?[a] := a = $name"),
    (":create r {k: Str", "String", ":create r {k: String"),
    ("reached[x] := x = 1 ?[y] := reac", "reached", "reached[x] := x = 1 ?[y] := reached"),
])
def test_completion_knows_the_place(desk, typed, suggested, written):
    desk.page.fill("#parameters", '{"name": 1}')
    desk.write("")
    desk.type(typed)
    expect(desk.locate(".suggestion-name").first).to_have_text(suggested)
    desk.page.keyboard.press("Enter")
    expect(desk.locate("#script")).to_have_value(written)


def test_completion_knows_the_rules_of_clients(desk, address):
    with requests.get(f"{address}/rules/Doubled?arity=1", stream=True, timeout=60):
        desk.page.reload(wait_until="networkidle")
        desk.write("")
        desk.type("?[x] <~ Dou")
        expect(desk.locate(".suggestion-name")).to_have_text(["Doubled"])


def test_lines_begin_while_columns_are_listed(desk):
    desk.run(":create station {code => name}")
    expect(desk.locate("#relations-list li")).to_have_count(1)
    desk.write("")
    desk.type("?[c] := *station{code: c, ")
    expect(desk.locate(".suggestion-name")).to_have_text(["name"])
    desk.page.keyboard.press("Enter")
    desk.type("na")
    expect(desk.locate("#script")).to_have_value("?[c] := *station{code: c, \nna")
    desk.page.keyboard.press("Tab")
    expect(desk.locate("#script")).to_have_value("?[c] := *station{code: c, \nname")


def test_nothing_is_completed_in_strings_and_comments(desk):
    desk.write("")
    for text in ("?[a] := a = 'conc", "' # conc"):
        desk.type(text)
        desk.page.keyboard.press("Control+Space")
        expect(desk.locate("#suggestion-box")).to_be_hidden()


def test_sorting(desk):
    values = "10, 9007199254740993, 'b', null, 9007199254740992, 9.5, 'a', [1], true"
    desk.run("?[i, v] <- [%s]" % ", ".join(f"[{i}, {value}]" for i, value in enumerate(values.split(", "), 1)))
    head = desk.page.get_by_role("button", name="v", exact=True)
    for order, state in (("496152738", "ascending"), ("837251694", "descending"), ("123456789", "none")):
        head.click()
        assert "".join(row[0] for row in desk.cells()) == order
        expect(desk.locate("th", has=head)).to_have_attribute("aria-sort", state)


def test_large_results(desk):
    desk.run("?[i, s] := i in int_range(100000), s = concat('row ', to_string(i))")
    expect(desk.locate("#status")).to_contain_text("100,000 rows")
    assert len(desk.cells()) < 100
    view = desk.locate(".table-view")
    view.focus()
    desk.page.keyboard.press("End")
    expect(desk.locate("td.active")).to_have_text("99999")
    expect(desk.locate("tbody tr").last).to_contain_text("row 99999")
    desk.page.keyboard.press("PageUp")
    desk.page.keyboard.press("ArrowRight")
    expect(desk.locate("td.active")).to_contain_text("row 999")
    view.evaluate("view => { view.scrollTop = view.scrollHeight / 2; }")
    expect(desk.locate("tbody tr").first).to_contain_text("row 49")
    start = time.monotonic()
    desk.page.get_by_role("button", name="i", exact=True).click(click_count=2)
    view.evaluate("view => { view.scrollTop = 0; }")
    expect(desk.locate("tbody tr").first).to_contain_text("row 99999")
    assert time.monotonic() - start < 60
    assert len(desk.cells()) < 100


def test_tables_higher_than_browsers_allow(desk):
    result = desk.module("table.js", """
        const rows = Array.from({ length: 1_000_000 }, (_, i) => [i]);
        const table = new it.Table({ headers: ['n'], rows });
        document.querySelector('#results').replaceChildren(table.view);
        table.draw();
        const seen = [table.view.scrollHeight, table.body.firstChild.dataset.position];
        table.activate(999_999, 0);
        const bottom = table.view.getBoundingClientRect().bottom;
        const last = table.body.querySelector('.active').getBoundingClientRect();
        return [...seen, table.body.lastChild.dataset.position, last.bottom <= bottom + 1 && last.top > bottom - 60];
    """)
    assert result[0] < 10_000_000 and result[1:] == ["0", "999999", True]


def test_results_leave_the_page(desk):
    desk.run("?[k, v] <- [[1, 'a,\"b\"'], [2, null], [3, ''], [9007199254740993, 1.0], [5, {'x': [1]}]]")
    desk.page.get_by_role("button", name="k", exact=True).click(click_count=2)
    with desk.page.expect_download() as download:
        desk.page.get_by_role("button", name="CSV").click()
    assert download.value.suggested_filename == "result.csv"
    assert download.value.path().read_bytes().decode() == (
        'k,v\r\n9007199254740993,1.0\r\n5,"{""x"":[1]}"\r\n3,""\r\n2,\r\n1,"a,""b"""\r\n'
    )
    with desk.page.expect_download() as download:
        desk.page.get_by_role("button", name="JSON").click()
    text = download.value.path().read_text()
    assert json.loads(text) == {
        "headers": ["k", "v"], "rows": [[9007199254740993, 1.0], [5, {"x": [1]}], [3, ""], [2, None], [1, 'a,"b"']],
    }
    assert "1.0" in text
    desk.page.get_by_role("button", name="Copy").click()
    expect(desk.locate("#announcement")).to_have_text("copied 5 rows")
    clipboard = desk.page.evaluate("() => navigator.clipboard.readText()")
    assert clipboard == 'k\tv\n9007199254740993\t1.0\n5\t{"x":[1]}\n3\t\n2\t\n1\ta,"b"'


def test_cells_open(desk):
    desk.run("?[k, v] <- [[1, 'two\nlines'], [2, {'x': [1.0]}]]")
    desk.locate(".table-view").focus()
    desk.page.keyboard.press("ArrowDown")
    desk.page.keyboard.press("ArrowRight")
    desk.page.keyboard.press("Control+c")
    assert desk.page.evaluate("() => navigator.clipboard.readText()") == '{"x":[1.0]}'
    desk.page.keyboard.press("Enter")
    expect(desk.locate("#value-text")).to_have_text('{\n  "x": [\n    1.0\n  ]\n}')
    desk.page.keyboard.press("Escape")
    desk.locate("td", has_text="two").dblclick()
    expect(desk.locate("#value-text")).to_have_text("two\nlines")


def test_chained_results_are_tabs(desk):
    desk.run("{?[a] <- [[1]]} as _a {?[b, c] <- [[2, 3], [4, 5]]} as _b %return _a, _b")
    tabs = desk.locate(".results-tabs [role=tab]")
    expect(tabs).to_have_text(["1: a", "2: b, c"])
    expect(desk.locate("#status")).to_contain_text("3 rows in 2 results")
    assert desk.cells() == [["1"]]
    tabs.first.focus()
    desk.page.keyboard.press("ArrowRight")
    expect(tabs.nth(1)).to_be_focused()
    assert desk.cells() == [["2", "3"], ["4", "5"]]
