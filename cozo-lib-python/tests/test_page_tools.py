"""What the page of `cozo server` has around scripts: parts that run alone, comments, examples, files, counts, times, warnings."""

import json

import pytest
import requests

import server
from browser import expect

pytestmark = pytest.mark.skipif(not server.BINARY, reason="COZO_BINARY names no binary; test.sh builds one")


def select(desk, start, end=None):
    desk.page.focus("#script")
    desk.locate("#script").evaluate("(input, [start, end]) => input.setSelectionRange(start, end)", [start, start if end is None else end])


def test_parts_of_a_script(desk):
    parts = desk.module("parts.js", "return argument.map(text => it.partsOf(text).map(part => text.slice(part.start, part.end)));", [
        "", "a", "a\n\nb\n", "\n\na[\n\n]\n  \nb", "'x\n\ny'\n\n/* c\n\nd */ e", "# c\na\n\n\n\n# d",
    ])
    assert parts == [[], ["a"], ["a", "b"], ["a[\n\n]", "b"], ["'x\n\ny'", "/* c\n\nd */ e"], ["# c\na", "# d"]]


def test_the_part_at_the_cursor_runs_alone(desk):
    desk.write("?[a] <- [[1]]")
    expect(desk.locate("#run-part")).to_be_hidden()
    desk.write("?[a] <- [[1]]\n\n# two\n?[b] <- [[2]]\n\n\n?[c] <- [[3]]\n")
    select(desk, 20)
    expect(desk.locate("#run-part")).to_have_text("Run lines 3–4")
    expect(desk.locate("#gutter .part")).to_have_text(["3", "4"])
    desk.page.keyboard.press("Alt+Enter")
    desk.settle()
    assert desk.cells() == [["2"]]
    expect(desk.locate("#script")).to_have_value("?[a] <- [[1]]\n\n# two\n?[b] <- [[2]]\n\n\n?[c] <- [[3]]\n")
    select(desk, 0)
    expect(desk.locate("#run-part")).to_have_text("Run line 1")
    desk.run(button="#run-part")
    assert desk.cells() == [["1"]]
    # Behind a part it is still that one.
    select(desk, len("?[a] <- [[1]]\n\n# two\n?[b] <- [[2]]\n\n"))
    expect(desk.locate("#run-part")).to_have_text("Run lines 3–4")
    desk.tab("History")
    expect(desk.locate(".history-script")).to_have_text(["?[a] <- [[1]]", "# two\n?[b] <- [[2]]"])


def test_the_selection_runs_alone(desk):
    script = "?[a] <- [[1]] ?[a] <- [[2]]"
    desk.write(script)
    select(desk, 0, 13)
    expect(desk.locate("#run-part")).to_have_text("Run selection (line 1)")
    desk.page.click("#run-part")
    desk.settle()
    assert desk.cells() == [["1"]]
    assert desk.locate("#script").evaluate("input => [input.selectionStart, input.selectionEnd]") == [0, 13]


def test_errors_of_a_part_stand_at_their_places(desk):
    desk.write("?[a] <- [['é']]\n\n?[b] := *nope[b]")
    select(desk, 20)
    desk.run(button="#run-part")
    expect(desk.locate("#layer .marked")).to_have_text(["nope"])
    expect(desk.locate("#gutter .wrong")).to_have_text("3")
    expect(desk.locate(".error")).to_contain_text("line 3, column 10")


def test_comments(desk):
    desk.write("?[a] := b[a],\n  a > 1\n\nb[a] <- [[2]]")
    select(desk, 3, 18)
    desk.page.keyboard.press("Control+/")
    expect(desk.locate("#script")).to_have_value("# ?[a] := b[a],\n#   a > 1\n\nb[a] <- [[2]]")
    desk.page.keyboard.press("Control+/")
    expect(desk.locate("#script")).to_have_value("?[a] := b[a],\n  a > 1\n\nb[a] <- [[2]]")
    select(desk, 16)
    desk.page.keyboard.press("Control+/")
    expect(desk.locate("#script")).to_have_value("?[a] := b[a],\n  # a > 1\n\nb[a] <- [[2]]")
    desk.page.keyboard.press("Control+z")
    expect(desk.locate("#script")).to_have_value("?[a] := b[a],\n  a > 1\n\nb[a] <- [[2]]")


def test_examples_work(desk):
    welcome = desk.locate(".welcome")
    expect(welcome).to_contain_text("Cheat sheet")
    assert "object" not in welcome.inner_text()
    names = welcome.locator(".examples button").all_inner_texts()
    assert len(names) >= 5
    for name in names:
        desk.page.click("#help")
        welcome.get_by_role("button", name=name, exact=True).click()
        desk.run()
        expect(desk.locate("#status")).to_contain_text("row")
        assert desk.locate(".error").count() == 0 and len(desk.cells()) > 0, name
    expect(desk.locate(".relation-name")).to_have_text(["flight"])


def test_relations_show_how_many_rows_they_have(desk):
    desk.run("{?[i] := i in int_range(1234) :create many {i}} {:create none {a, b => c}}")
    expect(desk.locate(".rows-count")).to_have_text(["1,234", "0"])
    desk.run("?[a, b, c] <- [[1, 2, 3]] :put none {a, b => c}")
    expect(desk.locate(".rows-count")).to_have_text(["1,234", "1"])


def test_validities_are_times(desk):
    desk.run("""?[k, v, w] <- [[1, [1700000000123000, true], [1, true]], [2, [1700000000000000, false], [2, false]]]""")
    assert [row[1:] for row in desk.cells()] == [
        ["2023-11-14 22:13:20.123 UTC asserted", "[1,true]"], ["2023-11-14 22:13:20 UTC retracted", "[2,false]"],
    ]
    desk.locate(".table-view").focus()
    desk.page.keyboard.press("ArrowRight")
    desk.page.keyboard.press("Control+c")
    assert desk.page.evaluate("() => navigator.clipboard.readText()") == "[1700000000123000,true]"
    desk.locate("td", has_text="asserted").dblclick()
    expect(desk.locate("#value-text")).to_contain_text("2023-11-14 22:13:20.123 UTC asserted")
    expect(desk.locate("#value-text")).to_contain_text("1700000000123000")
    desk.page.keyboard.press("Escape")
    desk.run("?[k, v] <- [[1, 'ASSERT']] :create h {k: Int, v: Validity}")
    desk.run("?[v] := *h{v}")
    assert desk.cells()[0][0].endswith(" UTC asserted")


def test_plans_have_words_and_aggregations(desk):
    desk.run("?[fr, to, km] <- [['a', 'b', 1]] :create edge {fr, to => km}")
    desk.run("d[to, min(km)] := *edge{fr: 'a', to, km} ?[count(t), collect(k, 3)] := d[t, k], k > 0", button="#explain")
    heads = [card.inner_text() for card in desk.locate(".card h3").all()]
    assert heads[0].startswith("d[to, min(km)] := ") and heads[1].startswith("?[count(t), collect(k, 3)] := "), heads
    expect(desk.locate(".operator").first.locator(".in-words")).to_have_text("look-up")
    words = desk.locate(".plan-words")
    words.locator("summary").click()
    expect(words.locator("dt").first).to_have_text("aggr_out")
    expect(words.locator("dd").first).to_contain_text("groups the rows")
    desk.run("::explain { ?[sum(k)] := *edge{km: k} }")
    assert desk.locate(".card h3").inner_text().startswith("?[sum(k)] := ")


def test_operators_have_words(desk, address):
    """Every operator that a plan names is explained: those of queries of all kinds."""
    desk.run("?[fr, to, km] <- [['a', 'b', 1]] :create edge {fr, to => km}")
    queries = [
        "?[a] := *edge{fr: a, km}, km > 1, not *edge{fr: 'x', to: a}", "?[a, b] := *edge{fr: a, to: b}, *edge{fr: b, to: a}",
        "r[a] := *edge{fr: a} r[b] := r[a], *edge{fr: a, to: b} ?[max(a)] := r[a]", "?[n, s] <~ PageRank(*edge[])",
        "?[x] := x in [1, 2], y = x + 1, y > 2",
    ]
    for script in queries:
        reply = requests.post(f"{address}/text-query", json={"script": f"::explain {{ {script} }}"}, timeout=60).json()
        operators = {row[4] for row in reply["rows"]}
        unknown = desk.module("operators.js", "return argument.filter(name => !it.inWords(name).meaning);", sorted(operators))
        assert unknown == []


def load_file(desk, text, name="people.csv"):
    desk.page.click("#csv-open")
    desk.page.set_input_files("#csv-file", {"name": name, "mimeType": "text/csv", "buffer": text.encode()})
    expect(desk.locate("#csv-found")).to_be_visible()


def rows(address, script):
    return requests.post(f"{address}/text-query", json={"script": script}, timeout=60).json()["rows"]


def test_files_are_loaded(desk, address):
    load_file(desk, 'Name;Age;Zip code;Score;note\r\nAnn;31;007;1.5;"a ""b"";\nc"\r\nBea;;12;2;""\r\n')
    expect(desk.locate("#csv-name")).to_have_value("people")
    expect(desk.locate("#csv-separator")).to_have_value(";")
    expect(desk.locate("#csv-count")).to_have_text("2 rows")
    names = [box.input_value() for box in desk.locate("#csv-preview thead input").all()]
    assert names == ["Name", "Age", "Zip_code", "Score", "note"]
    types = [box.input_value() for box in desk.locate("#csv-preview select").all()]
    assert types == ["String", "Int?", "String", "Float", "String"]
    expect(desk.locate("#csv-plan")).to_contain_text("Makes the relation people")
    desk.page.get_by_label("Zip_code is a key").check()
    desk.page.click("#csv-load")
    expect(desk.locate("#csv-dialog")).to_be_hidden()
    expect(desk.locate("#announcement")).to_have_text("loaded 2 rows into people")
    expect(desk.locate(".relation-name")).to_have_text(["people"])
    expect(desk.locate(".rows-count")).to_have_text(["2"])
    assert rows(address, "?[n, z, a, s, t] := *people[n, z, a, s, t]") == [
        ["Ann", "007", 31, 1.5, 'a "b";\nc'], ["Bea", "12", None, 2.0, ""],
    ]


def test_files_add_to_relations_that_are_there(desk, address):
    desk.run("?[id, v] <- [[1, 'x']] :create people {id: Int => v: String?}")
    expect(desk.locate(".relation-name")).to_have_text(["people"])
    load_file(desk, "v,id\n1,2\n,3\n")
    expect(desk.locate("#csv-plan")).to_contain_text("which is there")
    desk.page.click("#csv-load")
    expect(desk.locate("#csv-dialog")).to_be_hidden()
    assert rows(address, "?[id, v] := *people{id, v}") == [[1, "x"], [2, "1"], [3, None]]


def test_files_that_cannot_be_loaded_leave_nothing(desk, address):
    load_file(desk, "id,n\n1,2\n2,x\n", "bad file.csv")
    expect(desk.locate("#csv-name")).to_have_value("bad_file")
    desk.page.get_by_label("Type of n").select_option("Int")
    desk.page.click("#csv-load")
    expect(desk.locate("#csv-problem")).not_to_be_empty()
    assert rows(address, "::relations") == []
    for name, problem in (("1x", "begins with a letter"), ("", "begins with a letter")):
        desk.page.fill("#csv-name", name)
        desk.page.click("#csv-load")
        expect(desk.locate("#csv-problem")).to_contain_text(problem)
    desk.page.fill("#csv-name", "fine")
    desk.page.get_by_label("id is a key").uncheck()
    desk.page.click("#csv-load")
    expect(desk.locate("#csv-problem")).to_contain_text("at least one column must be a key")
    desk.page.set_input_files("#csv-file", {"name": "x.csv", "mimeType": "text/csv", "buffer": b'a,b\n1,"2\n'})
    expect(desk.locate("#csv-problem")).to_have_text("the quote that begins in line 2 does not end")
    desk.page.click("#csv-cancel")
    expect(desk.locate("#csv-dialog")).to_be_hidden()


def test_comma_separated_values(desk):
    found = desk.module("csv.js", "return argument.map(([text, separator]) => it.records(text, separator));", [
        ["", ","], ["a,b\n1,2", ","], ["a\r\n\r\nb\r\n", ","], ['"a""b",,"",\n', ","], ["\ufeffx\ty\n", "\t"], ['"a"b|c\n', "|"], ["a,", ","],
    ])
    assert found == [
        [], [["a", "b"], ["1", "2"]], [["a"], ["b"]], [['a"b', None, "", None]], [["x", "y"]], [["ab", "c"]], [["a", None]],
    ]
    numbers = desk.module("csv.js", "return argument.map(([field, type]) => it.jsonOf(field, type));", [
        ["+7", "Int"], ["-012", "Int"], [".5", "Float"], ["1.", "Float"], ["-1.e5", "Float"], ["x", "Int"], ["TRUE", "Bool"], [None, "Int?"],
        [None, "String"], ["007", "String"],
    ])
    assert numbers == ["7", "-12", "0.5", "1.0", "-1.0e5", '"x"', "true", "null", '""', '"007"']
    assert all(json.loads(number) is not NotImplemented for number in numbers)


def test_the_page_fits_a_phone(desk):
    desk.page.set_viewport_size({"width": 360, "height": 640})
    assert desk.page.evaluate("() => document.documentElement.scrollWidth") == 360
    welcome = desk.locate(".welcome")
    assert welcome.evaluate("view => view.scrollWidth <= view.clientWidth")
    desk.page.click("#side-toggle")
    load_file(desk, "a,b,c,d,e,f\n1,2,3,4,5,6\n")
    box = desk.locate("#csv-dialog").bounding_box()
    assert box["x"] >= 0 and box["width"] <= 360
