"""The page of `cozo server` beyond scripts and tables: plans, what stands beside the editor, and who may use it."""

import json

import pytest
import requests

import server
from browser import Desk, expect

pytestmark = pytest.mark.skipif(not server.BINARY, reason="COZO_BINARY names no binary; test.sh builds one")

EDGES = "?[fr, to, w] <- [['a', 'b', 1], ['b', 'c', 2.5], ['c', 'd', 3], ['d', 'a', 4]] :create edge {fr, to => w}"
ENDLESS = "n[x] := x = 0  n[x] := n[y], x = y + 1  ?[x] := n[x] :timeout 600"
HOSTILE = "<img src=x onerror=\"document.title='hacked'\"><script>document.title='hacked'</script>"


def test_relations(desk):
    expect(desk.locate("#relations-empty")).to_be_visible()
    desk.run(
        "{%s} {::index create edge:by_to {to}} {::describe edge 'who knows whom'} {:create other {k: Int => v: String default 'x'}}"
        "{::set_triggers edge on put {?[x] := _new[x, _, _] :assert some}} {::access_level read_only other}" % EDGES
    )
    names = desk.locate(".relation-name")
    expect(names).to_have_text(["edge", "edge:by_to", "other"])
    for name in ("edge", "other"):
        desk.page.get_by_role("button", name=f"Schema of {name}", exact=True).click()
    schema = desk.locate("#schema-edge")
    expect(schema.locator("tbody tr")).to_have_text(["keyfrAny?", "keytoAny?", "valuewAny?"])
    expect(schema).to_contain_text("who knows whom")
    for text in ("index by_to {to, fr}", "trigger on put", "?[x] := _new[x, _, _] :assert some", "access level: normal"):
        expect(schema).to_contain_text(text)
    expect(desk.locate("#schema-other tbody tr")).to_have_text(["keykInt", "valuevString default"])
    expect(desk.locate("#relations-list .badge")).to_have_text(["index", "read_only"])
    names.first.click()
    expect(desk.locate("#script")).to_have_value("?[fr, to, w] := *edge{fr, to, w}\n:limit 100\n")
    desk.run()
    assert len(desk.cells()) == 4
    desk.page.focus("#script")
    desk.page.keyboard.press("Control+z")
    expect(desk.locate("#script")).not_to_have_value("?[fr, to, w] := *edge{fr, to, w}\n:limit 100\n")
    desk.page.fill("#relations-filter", "OTH")
    expect(names).to_have_text(["other"])


def test_plans(desk):
    desk.run(EDGES)
    desk.write("r[x] := *edge{fr: 'a', to: x}  r[x] := r[y], *edge{fr: y, to: x}\n?[x] := r[x] :create other {x}")
    desk.page.focus("#script")
    desk.page.keyboard.press("Control+Shift+Enter")
    desk.settle()
    cards = desk.locate(".plan .card")
    expect(cards).to_have_count(3)
    assert [card.get_attribute("data-head") for card in cards.all()] == ["r", "r", "?"]
    expect(cards.nth(1).locator(".operator strong").first).to_have_text("load_mem")
    expect(cards.nth(1).locator(".operator strong").last).to_have_text("out")
    expect(cards.nth(2).locator(".measures").first).to_contain_text("4 rows, ")
    widths = desk.page.evaluate("() => [...document.querySelectorAll('.operator .bar')].map(bar => bar.offsetWidth)")
    assert len(widths) == 2 * desk.locate(".operator").count() and max(widths) > 100
    # From both rules of `r` to the recursive one, and to the last one.
    expect(desk.locate(".plan-lines path.recursive")).to_have_count(2)
    expect(desk.locate(".plan-lines path:not(.recursive)")).to_have_count(2)
    desk.tab("Table")
    assert len(desk.cells()) == desk.locate(".operator").count()
    desk.run("::explain { ?[x] := *edge{fr: x} }")
    expect(desk.locate(".card")).to_have_count(1)
    expect(desk.locate(".operator .bar")).to_have_count(0)
    desk.run("e[a, b] := *edge{fr: a, to: b} ?[n, s] <~ PageRank(e[])", button="#explain")
    expect(desk.locate(".plan-lines path")).to_have_count(1)


def test_history(desk):
    desk.page.fill("#parameters", '{"x": 1}')
    desk.run("?[first] <- [[$x]]")
    desk.page.fill("#parameters", "")
    desk.run("?[second] := *nope[second]")
    desk.run("?[first] <- [[2]]")
    desk.page.reload()
    desk.tab("History")
    entries = desk.locate(".history-script")
    expect(entries).to_have_text(["?[first] <- [[2]]", "?[second] := *nope[second]", "?[first] <- [[$x]]"])
    expect(desk.locate(".history-outcome").nth(1)).to_contain_text("failed")
    entries.nth(2).click()
    expect(desk.locate("#script")).to_have_value("?[first] <- [[$x]]")
    expect(desk.locate("#parameters")).to_have_value('{"x": 1}')
    desk.page.fill("#history-filter", "SECOND")
    expect(entries).to_have_count(1)
    desk.page.get_by_role("button", name="Forget it").click()
    desk.page.fill("#history-filter", "")
    expect(entries).to_have_count(2)
    desk.page.get_by_role("button", name="Clear").click()
    expect(desk.locate("#history-empty")).to_be_visible()
    desk.page.reload()
    assert desk.page.evaluate("() => localStorage.getItem('cozo.history')") is None


def test_running_scripts_are_killed(desk):
    desk.write(ENDLESS)
    desk.page.click("#run")
    desk.tab("Running")
    expect(desk.locate(".running-script")).to_have_text(ENDLESS)
    expect(desk.locate(".running-client")).to_contain_text("127.0.0.1")
    expect(desk.locate(".running-client")).to_contain_text("Chrome")
    desk.page.get_by_role("button", name="Stop script").click()
    expect(desk.locate(".error .code")).to_have_text("eval::killed")
    expect(desk.locate("#running-empty")).to_be_visible()
    expect(desk.locate("#running-list li")).to_have_count(0)


def test_running_scripts_are_stopped(desk):
    desk.write(ENDLESS)
    desk.page.click("#run")
    expect(desk.locate("#status")).to_contain_text("running")
    desk.page.click("#stop")
    expect(desk.locate("#status")).to_contain_text("stopped after")
    desk.tab("Running")
    expect(desk.locate("#running-empty")).to_be_visible()
    desk.run("?[a] <- [[1]]")
    assert desk.cells() == [["1"]]


def test_light_and_dark(desk):
    paper = "() => getComputedStyle(document.querySelector('header')).backgroundColor"
    light, dark = "rgb(255, 255, 255)", "rgb(21, 24, 29)"
    assert desk.page.evaluate(paper) == light
    desk.page.emulate_media(color_scheme="dark")
    assert desk.page.evaluate(paper) == dark
    desk.page.click("#theme")
    assert desk.page.evaluate(paper) == light
    desk.page.reload()
    assert desk.page.evaluate(paper) == light
    expect(desk.locate("#theme")).to_have_attribute("aria-pressed", "false")
    desk.page.click("#theme")
    assert desk.page.evaluate(paper) == dark


def test_narrow_windows(desk):
    desk.page.set_viewport_size({"width": 360, "height": 640})
    columns = ", ".join(f"column_{i}" for i in range(30))
    desk.run(f"?[{columns}] <- [[{', '.join(30 * [repr('a long text of a cell')])}]]")
    assert desk.page.evaluate("() => document.documentElement.scrollWidth") == 360
    assert desk.locate(".table-view").evaluate("view => view.scrollWidth > view.clientWidth && view.clientHeight > 100")
    expect(desk.locate("#side")).to_be_hidden()
    desk.page.click("#side-toggle")
    desk.tab("History")
    desk.locate(".history-script").click()
    expect(desk.locate("#side")).to_be_hidden()
    expect(desk.locate("#side-toggle")).to_have_attribute("aria-expanded", "false")
    desk.page.get_by_role("button", name="Enlarge").click()
    expect(desk.locate("#editor")).to_be_hidden()


def test_tokens(chromium, tmp_path):
    (tmp_path / "token").write_text("secret")
    started = server.Server(tmp_path, "--token-file", "token")
    desk = Desk(chromium, started.address)
    try:
        dialog = desk.locate("#token-dialog")
        expect(dialog).to_be_visible()
        expect(desk.locate("#token-refused")).to_be_hidden()
        desk.page.fill("#token", "wrong")
        desk.page.keyboard.press("Enter")
        expect(desk.locate("#token-refused")).to_be_visible()
        desk.page.fill("#token", "secret")
        desk.page.keyboard.press("Enter")
        expect(dialog).to_be_hidden()
        expect(desk.locate("#relations-empty")).to_be_visible()
        desk.run("?[a] <- [[1]]")
        assert desk.cells() == [["1"]]
        desk.page.reload()
        expect(desk.locate("#relations-empty")).to_be_visible()
        kept = desk.page.evaluate("() => [localStorage, sessionStorage].map(JSON.stringify)")
        kept += desk.page.evaluate("() => [document.cookie, location.href]")
        assert ["secret" in text for text in kept] == [False, True, False, False]
        # Another tab asks again; without a token nothing happens.
        desk.page = desk.open()
        expect(desk.locate("#token-dialog")).to_be_visible()
        desk.page.keyboard.press("Escape")
        expect(desk.locate(".error")).to_contain_text("the server needs a token")
    finally:
        desk.close()
        started.stop()


def test_texts_of_the_database_stay_texts(desk):
    desk.page.fill("#parameters", json.dumps({"x": HOSTILE}))
    desk.run("?[a, b, c] := a = $x, b = {$x: $x}, c = [$x]")
    expect(desk.locate("td.value").first).to_have_text(HOSTILE)
    desk.locate("td.value").first.dblclick()
    expect(desk.locate("#value-text")).to_have_text(HOSTILE)
    desk.page.keyboard.press("Escape")
    desk.tab("Graph")
    expect(desk.locate(".graph[data-settled]")).to_have_count(1)
    desk.page.get_by_label("Find a node").fill("title='hacked'")
    desk.page.keyboard.press("Enter")
    expect(desk.locate(".node-panel h3")).to_have_text(HOSTILE)
    with desk.page.expect_download() as download:
        desk.page.get_by_role("button", name="SVG").click()
    assert "<img" not in download.value.path().read_text()
    desk.run("?[a] := a = assert(false, $x)")
    expect(desk.locate(".error")).to_contain_text("<img src=x")
    trigger = "{::set_triggers hostile on put {?[a] := a = '<img src=y>' :assert some}}"
    desk.run("{:create hostile {k}} {::describe hostile $x}" + trigger)
    desk.page.get_by_role("button", name="Schema of hostile").click()
    expect(desk.locate("#schema-hostile")).to_contain_text(HOSTILE)
    expect(desk.locate("#schema-hostile pre")).to_contain_text("<img src=y>")
    desk.run("r[a] := a = '<img src=z>' ?[a] := r[a]", button="#explain")
    expect(desk.locate(".plan")).to_contain_text("<img src=z>")
    desk.page.route("**/text-query", lambda route: route.fulfill(json={
        "headers": ["a"], "rows": [[1]], "next": None, "ok": True, "took": 0.1, "warnings": ["<img src=v>", "second"],
    }))
    desk.run("?[a] <- [[1]]")
    expect(desk.locate(".warnings li")).to_have_text(["<img src=v>", "second"])
    desk.page.unroute("**/text-query")
    desk.run("?[a] <- [['<b>bold</b>']] # <img src=w>")
    expect(desk.locate(".warnings")).to_have_count(0)
    desk.tab("History")
    expect(desk.locate(".history-script").first).to_contain_text("<img src=w>")
    assert desk.locate("img, b:not(.fact b), script:not([type=module])").count() == 0
    assert desk.page.title() == "cozo"


def test_the_page_may_do_little(desk, address):
    response = requests.get(address, timeout=60)
    policy = response.headers["content-security-policy"]
    assert "unsafe" not in policy and "default-src 'none'" in policy and "script-src 'self'" in policy
    assert requests.get(f"{address}/page/nope.js", timeout=60).status_code == 404
    set_markup = "() => { try { document.body.innerHTML = '<b>x</b>'; return 'set'; } catch (error) { return error.name; } }"
    assert desk.page.evaluate(set_markup) == "TypeError"
    # Chromium reports the attempt.
    assert len(desk.wrong) == 1 and "TrustedHTML" in desk.wrong.pop()
