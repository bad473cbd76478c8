"""Values both ways."""

import datetime
import math
import uuid
from decimal import Decimal
from fractions import Fraction

import pytest


def same(a, b):
    if isinstance(a, float) and math.isnan(a):
        return isinstance(b, float) and math.isnan(b)
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b


GOES_IN_AND_COMES_OUT = [
    (None, None),
    (True, True),
    (False, False),
    (0, 0),
    (-(2**63), -(2**63)),
    (2**63 - 1, 2**63 - 1),
    (2**63, float(2**63)),
    (-(2**70), -float(2**70)),
    (1.5, 1.5),
    (math.nan, math.nan),
    (math.inf, math.inf),
    (-math.inf, -math.inf),
    (Decimal("0.25"), 0.25),
    (Fraction(1, 4), 0.25),
    ("", ""),
    ("ßüπ\U0001f600\0", "ßüπ\U0001f600\0"),
    (b"\x00\xff", b"\x00\xff"),
    (bytearray(b"ab"), b"ab"),
    ([], []),
    ((1, (2, "x")), [1, [2, "x"]]),
    ([None, [1.0, b"x"]], [None, [1.0, b"x"]]),
    ({}, {}),
    ({"a": {"b": [1, 2.5, None, "x"]}}, {"a": {"b": [1, 2.5, None, "x"]}}),
    ({"b": b"\x00\xff", "t": (1,), "inf": math.inf}, {"b": "AP8=", "t": [1], "inf": "INFINITY"}),
]


@pytest.mark.parametrize("value, expected", GOES_IN_AND_COMES_OUT)
def test_goes_in_and_comes_out(run, value, expected):
    [[got]] = run("?[x] := x = $x", {"x": value})
    assert same(got, expected), got


def test_keys_of_dicts_become_text(run):
    assert run("?[x] := x = $x", {"x": {1: "int", None: "none", (1, "x"): "tuple"}}) == [
        [{"1": "int", "null": "none", '[1,"x"]': "tuple"}]
    ]


@pytest.mark.parametrize(
    "script, expected",
    [
        ("to_uuid('123e4567-e89b-12d3-a456-426614174000')", "123e4567-e89b-12d3-a456-426614174000"),
        ("vec([1, 0.5])", [1.0, 0.5]),
        ("vec([1, 0.1], 'F64')", [1.0, 0.1]),
        ("json('{\"a\": 1}')", '{"a": 1}'),
        ("parse_json('{\"a\": [1, 18446744073709551615]}')", {"a": [1, 18446744073709551615]}),
        ("validity(5, false)", [5, False]),
        ("union([3], [1])", [1, 3]),
        ("decode_base64('AP8=')", b"\x00\xff"),
    ],
)
def test_comes_out(run, script, expected):
    [[got]] = run(f"?[x] := x = {script}")
    assert same(got, expected), got


@pytest.mark.parametrize(
    "value",
    [{1, 2}, object(), datetime.datetime.now(), uuid.uuid4(), 1j, 10**400, "\ud800", range(3)],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_value_is_refused(run, value):
    for nested in (value, [value], {"k": value}):
        with pytest.raises(Exception, match="Cannot convert .* into Cozo value") as raised:
            run("?[x] := x = $x", {"x": nested})
        assert type(raised.value) is Exception


def test_a_list_that_contains_itself_is_refused(run):
    endless = []
    endless.append(endless)
    with pytest.raises(Exception, match="Cannot convert"):
        run("?[x] := x = $x", {"x": endless})
    loop = {}
    loop["a"] = loop
    with pytest.raises(Exception, match="Cannot convert"):
        run("?[x] := x = $x", {"x": loop})


def test_numpy_scalars(run):
    numpy = pytest.importorskip("numpy")
    for value, expected in [
        (numpy.int64(3), 3),
        (numpy.uint8(200), 200),
        (numpy.float32(0.5), 0.5),
        (numpy.float64(1.5), 1.5),
        (numpy.bool_(True), True),
        (numpy.str_("x"), "x"),
    ]:
        [[got]] = run("?[x] := x = $x", {"x": value})
        assert same(got, expected), value


@pytest.mark.parametrize(
    "arguments",
    [
        (1, {}, False),
        ("?[x] := x = 1", {1: 2}, False),
        ("?[x] := x = 1", [], False),
        ("?[x] := x = 1", None, False),
        ("?[x] := x = 1", {}, "no"),
        ("?[x] := x = 1", {}),
        (),
    ],
)
def test_wrong_types_of_arguments(db, arguments):
    with pytest.raises(TypeError):
        db.run_script(*arguments)
