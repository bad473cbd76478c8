"""Graphs on the page of `cozo server`. What a canvas shows is looked at in the SVG that is saved of it."""

import re
import xml.etree.ElementTree as ElementTree

import pytest

import server
from browser import expect

pytestmark = pytest.mark.skipif(not server.BINARY, reason="COZO_BINARY names no binary; test.sh builds one")

SVG = "{http://www.w3.org/2000/svg}"
PAIRS = "?[fr, to, w] <- [['a', 'b', 1], ['b', 'a', 2], ['b', 'b', 3], ['b', 1, 4], ['b', '1', 5]]"
FLIGHTS = """?[fr, to, km] <- [['Lisbon', 'Madrid', 503], ['Madrid', 'Paris', 1053], ['Paris', 'Oslo', 1343], ['Oslo', 'Bergen', 305],
['Rome', 'Paris', 1105]] :create flight {fr: String, to: String => km: Int}"""


class Picture:
    """What is drawn of a graph."""

    def __init__(self, text):
        self.text = text
        root = ElementTree.fromstring(text)
        texts = [text for text in root.iter(f"{SVG}text") if text.get("fill") != "none"]
        self.labels = [(text.text, float(text.get("x")), float(text.get("y")), float(text.get("font-size"))) for text in texts]
        self.names = [label[0] for label in self.labels]
        self.paths = list(root.iter(f"{SVG}path"))
        self.width, self.height = float(root.get("width")), float(root.get("height"))

    def circles(self, color=None):
        """The middles of the circles that are filled, perhaps with a color."""
        filled = [path for path in self.paths if path.get("fill") != "none" and "A" in path.get("d")]
        drawn = "".join(path.get("d") for path in filled if color in (None, path.get("fill")))
        numbers = re.findall(r"M([-\d.]+) ([-\d.]+)A([-\d.]+)", drawn)
        return [(float(x) - float(r), float(y)) for x, y, r in numbers]

    def colors(self):
        return {path.get("fill") for path in self.paths if path.get("fill") != "none" and "A" in path.get("d")}

    def arrows(self):
        return sum(path.get("d").count("Z") for path in self.paths)


def show(desk, script=None):
    if script is not None:
        desk.run(script)
    desk.tab("Graph")
    return settle(desk)


def settle(desk):
    expect(desk.locate(".graph[data-settled]")).to_have_count(1)
    return picture(desk)


def picture(desk):
    with desk.page.expect_download() as download:
        desk.page.get_by_role("button", name="SVG").click()
    assert download.value.suggested_filename == "graph.svg"
    return Picture(download.value.path().read_text())


def find(desk, name):
    """Chooses a node, which comes to the middle of the picture."""
    desk.page.get_by_label("Find a node").fill(name)
    desk.page.get_by_label("Find a node").press("Enter")
    expect(desk.locate(".node-panel h3")).to_have_text(name)


def middle(desk):
    box = desk.locate(".graph").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_nodes_edges_and_labels(desk):
    drawn = show(desk, PAIRS)
    expect(desk.locate(".graph-size")).to_have_text("4 nodes, 5 edges")
    assert sorted(drawn.names) == sorted(["a", "b", "1", "1", "1", "2", "3", "4", "5"])
    assert len(set(drawn.circles())) == 4 and "NaN" not in drawn.text
    # Every edge has an arrow; the two between a and b are bent apart, and one is a loop.
    assert drawn.arrows() == 5
    curves = "".join(path.get("d") for path in drawn.paths)
    assert curves.count("Q") == 2 and curves.count("C") == 1
    desk.page.get_by_label("Label").select_option("none")
    assert sorted(settle(desk).names) == ["1", "1", "a", "b"]


def test_parallel_edges_do_not_cover_each_other(desk):
    drawn = show(desk, "?[fr, to, w] <- [['a', 'b', 'x'], ['a', 'b', 'y'], ['a', 'b', 'z'], ['a', 'b', 'z'], ['a', 'c', null]]")
    expect(desk.locate(".graph-size")).to_have_text("3 nodes, 4 edges")
    controls = re.findall(r"Q([-\d.]+ [-\d.]+)", "".join(path.get("d") for path in drawn.paths))
    assert len(controls) == len(set(controls)) == 2, "one of three is straight"


def test_rows_with_one_end_are_nodes(desk):
    show(desk, "?[fr, to] <- [['a', 'b'], ['c', null], [null, 'd'], [null, null]]")
    expect(desk.locate(".graph-size")).to_have_text("4 nodes, 1 edge")


def test_labels_do_not_overlap_and_more_come_closer(desk):
    drawn = show(desk, "?[a, b] := i in int_range(3000), a = (i * 7919) % 1000, b = (i * i * 31 + 7) % 1000")
    assert 10 < len(drawn.labels) < 900
    for i, (name, x, y, _) in enumerate(drawn.labels):
        for other, ox, oy, _ in drawn.labels[:i]:
            # A digit is at least six pixels wide, and a line ten high.
            assert abs(x - ox) >= 3 * (len(name) + len(other)) or abs(y - oy) >= 10, (name, other)
    # Three times as close, a third of the width and of the height is in sight.
    some = [name for name, x, y, _ in drawn.labels if abs(x / drawn.width - 0.5) < 0.17 and abs(y / drawn.height - 0.5) < 0.17]
    desk.locate(".graph").hover()
    for _ in range(4):
        desk.page.mouse.wheel(0, -183)
    closer = picture(desk)
    assert len(closer.labels) > 1.5 * len(some)


def test_components_are_packed_beside_each_other(desk):
    drawn = show(desk, """?[a, b] := i in int_range(60), a = concat('x', to_string(i)), b = concat('x', to_string((i * 7 + 1) % 60))
        ?[a, b] := i in int_range(40), a = concat('y', to_string(i)), b = concat('z', to_string(i))""")
    # All is in the picture, and no part flies away from the others.
    places = drawn.circles()
    assert len(places) == 140
    assert all(0 < x < drawn.width and 0 < y < drawn.height for x, y in places)
    boxes = desk.module("packing.js", """
        const boxes = argument.map(([width, height]) => ({ width, height }));
        return it.pack(boxes, 2).map((place, i) => ({ ...place, ...boxes[i] }));
    """, [[100, 80], *[[20 + 7 * (i % 5), 10 + i] for i in range(40)]])
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            apart = abs(a["x"] - b["x"]) * 2 >= a["width"] + b["width"] - 1e-6
            assert apart or abs(a["y"] - b["y"]) * 2 >= a["height"] + b["height"] - 1e-6
    wide = max(b["x"] + b["width"] / 2 for b in boxes) - min(b["x"] - b["width"] / 2 for b in boxes)
    high = max(b["y"] + b["height"] / 2 for b in boxes) - min(b["y"] - b["height"] / 2 for b in boxes)
    assert 1 < wide / high < 4


def test_the_tree_of_squares_pushes_as_all_pairs_do(desk):
    error = desk.module("quadtree.js", """
        let seed = 1;
        const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
        const n = 400;
        const [x, y] = [Float64Array.from({ length: n }, random), Float64Array.from({ length: n }, random)];
        for (const list of [x, y]) for (let i = 0; i < n; i += 1) list[i] *= 1000;
        // Some at one place: they must part, and the tree must end.
        for (let i = 390; i < n; i += 1) [x[i], y[i]] = [x[0], y[0]];
        const tree = new it.Quadtree(n);
        tree.build(x, y, 0, n);
        const [wrong, all] = [[], []];
        for (let i = 0; i < 390; i += 1) {
          const [dx, dy, sum] = [new Float64Array(n), new Float64Array(n), [0, 0]];
          tree.push(i, 1, dx, dy);
          for (let j = 0; j < n; j += 1) {
            const far = Math.max((x[i] - x[j]) ** 2 + (y[i] - y[j]) ** 2, 9);
            if (i !== j) sum[0] += (x[i] - x[j]) / far, sum[1] += (y[i] - y[j]) / far;
          }
          wrong.push(Math.hypot(dx[i] - sum[0], dy[i] - sum[1]));
          all.push(Math.hypot(...sum));
        }
        const parted = new Float64Array(n);
        tree.push(395, 1, parted, new Float64Array(n));
        const square = list => Math.hypot(...list);
        return [square(wrong) / square(all), Number.isFinite(parted[395]) && parted[395] !== 0];
    """)
    assert error[0] < 0.1 and error[1]


def test_thousands_of_nodes_leave_the_page_answering(desk):
    desk.run("?[a, b] := i in int_range(20000), a = (i * 7919) % 5000, b = (i * i * 31 + i) % 5000")
    desk.tab("Graph")
    expect(desk.locate(".graph-size")).to_contain_text("5,000 nodes, ")
    expect(desk.locate(".graph-size")).not_to_contain_text("more than")
    # It is not settled yet, and the page does what one asks of it.
    assert desk.locate(".graph[data-settled]").count() == 0
    desk.write("# typed while the layout runs")
    desk.locate(".graph").hover()
    desk.page.mouse.wheel(0, -300)
    desk.page.get_by_label("Find a node").fill("4999")
    desk.page.keyboard.press("Enter")
    expect(desk.locate(".node-panel h3")).to_have_text("4999")
    assert desk.locate(".graph[data-settled]").count() == 0
    slices = desk.module("layout.js", """
        const { GraphData } = await import('/page/graph_data.js');
        const data = new GraphData({ from: 0, to: 1 });
        data.add(Array.from({ length: 20000 }, (_, i) => [(i * 7919) % 5000, (i * i * 31 + i) % 5000]));
        const layout = new it.Layout(data, 2);
        return [...layout.round()].length;
    """)
    assert slices >= 15, "a round is done in slices"


def test_larger_graphs_are_cut(desk):
    desk.run("?[a, b] := a in int_range(21000), b = a + 1")
    desk.tab("Graph")
    expect(desk.locate(".graph-size")).to_have_text("20,000 nodes, 19,999 edges; 1,001 rows more than can be drawn")
    desk.run("?[a] <- [[1]]")
    expect(desk.page.get_by_role("tab", name="Graph")).to_have_count(0)


def test_colors_have_a_legend(desk):
    rows = "['a', 'b', 'red', 1], ['b', 'c', 'blue', 2], ['c', 'a', 'red', 3], ['x', 'y', 'green', 4]"
    drawn = show(desk, f"?[fr, to, kind, w] <- [{rows}]")
    legend = desk.locate(".graph-legend")
    expect(legend.locator("strong")).to_have_text("2 components")
    expect(legend.locator("li")).to_have_text(["component 13", "component 22"])
    assert len(drawn.colors()) == 2
    color = desk.page.get_by_role("combobox", name="Color", exact=True)
    color.select_option("degree")
    expect(legend.locator("li")).to_have_text(["12", "23"])
    color.select_option("nodes 2")
    expect(legend.locator("strong")).to_have_text("kind")
    expect(legend.locator("li")).to_have_text(["blue1", "green1", "red2", "no value1"])
    assert len(picture(desk).colors()) == 4
    color.select_option("edges 2")
    expect(legend.locator("li")).to_have_text(["blue1", "green1", "red2"])
    strokes = {path.get("stroke") for path in picture(desk).paths if "L" in path.get("d") and path.get("stroke")}
    assert len(strokes) == 3
    color.select_option("one")
    expect(legend).to_be_hidden()
    desk.run("?[a, b, w] := a in int_range(40), b = a + 1, w = a * 2.5")
    desk.tab("Graph")
    color.select_option("edges 2")
    expect(legend.locator(".ramp-line")).to_have_text("097.5")


def test_a_node_shows_its_values_and_expands(desk):
    desk.run(FLIGHTS)
    desk.run("?[city, people] <- [['Paris', 2100000], ['Rome', 2800000]] :create city {city: String => people: Int}")
    show(desk, "?[fr, to] := *flight{fr, to}, fr = 'Lisbon'")
    expect(desk.locate(".graph-size")).to_have_text("2 nodes, 1 edge")
    find(desk, "Madrid")
    panel = desk.locate(".node-panel")
    expect(panel).to_contain_text("1 in, 0 out; in a part of 2 nodes")
    expect(panel.locator(".node-rows li")).to_have_text(["Lisbon → Madrid"])
    expect(panel.get_by_label("Relation with edges")).to_have_value("flight")
    expect(panel.get_by_label("Column of the beginning")).to_have_value("fr")
    panel.get_by_role("button", name="Expand").click()
    expect(desk.locate(".graph-size")).to_have_text("3 nodes, 2 edges")
    expect(desk.locate("#announcement")).to_have_text("1 new node, 1 new edge")
    expect(panel.locator(".node-rows li")).to_have_text(["Lisbon → Madrid", "Madrid → Paris"])
    # The other end is a way to it; what is there already is not added again.
    panel.locator(".node-rows").get_by_role("button", name="Paris").click()
    expect(panel.locator("h3")).to_have_text("Paris")
    panel.get_by_label("Which edges").select_option("into")
    panel.get_by_role("button", name="Expand").click()
    expect(desk.locate(".graph-size")).to_have_text("4 nodes, 3 edges")
    panel.get_by_label("Relation with values").select_option("city")
    expect(panel.locator(".node-facts dl")).to_have_text("cityParispeople2100000")
    find(desk, "Rome")
    expect(panel.locator(".node-facts dl")).to_have_text("cityRomepeople2800000")
    find(desk, "Lisbon")
    expect(panel.locator(".node-facts")).to_have_text("city has no row of it")
    desk.run("::remove city")
    assert sorted(show(desk, "?[fr, to, km, x] := *flight{fr, to, km}, fr = 'Oslo', x = 1").names)[:1] == ["305"]
    find(desk, "Oslo")
    desk.locate(".graph").press("e")
    expect(desk.locate(".graph-size")).to_have_text("3 nodes, 2 edges")
    assert "1343" in settle(desk).names, "edges have the label that the others have"


def test_clicks_choose_and_drags_pin(desk):
    show(desk, PAIRS)
    find(desk, "a")
    desk.page.get_by_role("button", name="Close").click()
    expect(desk.locate(".node-panel")).to_be_hidden()
    desk.page.mouse.click(*middle(desk))
    expect(desk.locate(".node-panel h3")).to_have_text("a")
    x, y = middle(desk)
    desk.page.mouse.move(x, y)
    desk.page.mouse.down()
    desk.page.mouse.move(x - 60, y + 30, steps=4)
    desk.page.mouse.move(x - 120, y + 60, steps=4)
    desk.page.mouse.up()
    pin = desk.locate(".node-panel").get_by_role("button", name=re.compile("in$"))
    expect(pin).to_have_text("Unpin")
    drawn = settle(desk)
    place = next((lx, ly) for name, lx, ly, _ in drawn.labels if name == "a")
    assert abs(place[0] - (drawn.width / 2 - 120)) < 3, "a pinned node stays"
    desk.page.mouse.dblclick(x - 120, y + 60)
    expect(pin).to_have_text("Pin")
    everything = desk.page.get_by_role("button", name="Unpin all")
    expect(everything).to_be_hidden()
    pin.click()
    everything.click()
    expect(pin).to_have_text("Pin")
    desk.locate(".graph").click(position={"x": 5, "y": 5})
    expect(desk.locate(".node-panel")).to_be_hidden()


def test_wheel_drag_and_pinch(desk):
    before = show(desk, PAIRS)
    desk.locate(".graph").hover(position={"x": 5, "y": 5})
    desk.page.mouse.wheel(0, -200)
    zoomed = picture(desk)
    assert spread(zoomed) > 1.2 * spread(before)
    desk.page.get_by_role("button", name="Fit").click()
    assert abs(spread(picture(desk)) - spread(before)) < 2
    box = desk.locate(".graph").bounding_box()
    desk.locate(".graph").hover(position={"x": 5, "y": 5})
    desk.page.mouse.down()
    desk.page.mouse.move(box["x"] + 45, box["y"] + 25, steps=4)
    desk.page.mouse.up()
    moved = picture(desk)
    assert [round(b[0] - a[0], -1) for a, b in zip(before.circles(), moved.circles())] == [40] * 4
    desk.page.get_by_role("button", name="Fit").click()
    assert abs(spread(picture(desk)) - spread(before)) < 2
    desk.locate(".graph").evaluate("""canvas => {
        const { left, top, width, height } = canvas.getBoundingClientRect();
        canvas.setPointerCapture = () => {};
        const send = (type, pointerId, x) => canvas.dispatchEvent(new PointerEvent(type, {
            pointerId, pointerType: 'touch', clientX: left + width / 2 + x, clientY: top + height / 2, bubbles: true,
        }));
        send('pointerdown', 11, -50);
        send('pointerdown', 12, 50);
        send('pointermove', 12, 100);
        send('pointermove', 11, -100);
        send('pointerup', 11, -100);
        send('pointerup', 12, 100);
    }""")
    assert abs(spread(picture(desk)) / spread(before) - 2) < 0.1


def spread(drawn):
    xs = [x for x, _ in drawn.circles()]
    return max(xs) - min(xs)


def test_keys(desk):
    before = show(desk, PAIRS)
    graph = desk.locate(".graph")
    graph.focus()
    expect(graph).to_have_attribute("aria-label", "A graph of 4 nodes, 5 edges")
    desk.page.keyboard.press("+")
    assert spread(picture(desk)) > spread(before)
    graph.focus()
    for key in ("-", "ArrowLeft", "0"):
        desk.page.keyboard.press(key)
    assert abs(spread(picture(desk)) - spread(before)) < 2
    graph.focus()
    desk.page.keyboard.press("Enter")
    first = desk.locate(".node-panel h3").inner_text()
    expect(desk.locate("#said")).to_contain_text(f"{first}: ")
    seen = set()
    for key in ("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown") * 2:
        desk.page.keyboard.press(key)
        seen.add(desk.locate(".node-panel h3").inner_text())
    assert len(seen) > 1
    desk.page.keyboard.press("p")
    expect(desk.locate(".node-panel").get_by_role("button", name="Unpin")).to_be_visible()
    desk.page.keyboard.press("Enter")
    expect(desk.locate(".node-panel")).to_be_focused()
    desk.page.keyboard.press("Escape")
    expect(graph).to_be_focused()
    expect(desk.locate(".node-panel")).to_be_hidden()


def test_nodes_are_found(desk):
    show(desk, "?[a, b] <- [['Anna', 'Hannah'], ['Hannah', 'Bob']]")
    search = desk.page.get_by_label("Find a node")
    search.fill("ann")
    expect(desk.page.get_by_text("2 found")).to_be_visible()
    names = []
    for _ in range(3):
        search.press("Enter")
        names.append(desk.locate(".node-panel h3").inner_text())
    assert names == ["Hannah", "Anna", "Hannah"]
    search.fill("bob")
    search.press("Enter")
    expect(desk.locate(".node-panel h3")).to_have_text("Bob")


def test_pictures_are_saved_in_both_themes(desk):
    light = show(desk, PAIRS)
    desk.page.emulate_media(color_scheme="dark")
    dark = picture(desk)
    papers = [re.search(r'<rect [^>]*fill="([^"]+)"', drawn.text)[1] for drawn in (light, dark)]
    assert papers == ["rgb(255, 255, 255)", "rgb(21, 24, 29)"]
    with desk.page.expect_download() as download:
        desk.page.get_by_role("button", name="PNG").click()
    assert download.value.suggested_filename == "graph.png"
    data = download.value.path().read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(data[16:20]) == 2 * round(light.width)


def test_less_motion(desk):
    desk.page.emulate_media(reduced_motion="reduce")
    drawn = show(desk, PAIRS)
    assert len(set(drawn.circles())) == 4


def test_graphs_on_a_phone(desk):
    desk.page.set_viewport_size({"width": 360, "height": 640})
    drawn = show(desk, PAIRS)
    assert desk.page.evaluate("() => document.documentElement.scrollWidth") == 360
    assert drawn.width <= 360 and drawn.height >= 200
    find(desk, "a")
    box = desk.locate(".node-panel").bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 360
