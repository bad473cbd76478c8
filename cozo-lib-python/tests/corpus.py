"""Reading of the script cases in `conformance/`, and the comparison of answers; the README there has the format."""

import base64
import json
import math
import pathlib
import re

FOLDER = pathlib.Path(__file__).parents[2] / "conformance"
WORDS = {"err", "exact", "set", "ok", "count", "headers", "immutable", "nocheck", "code", "loosenum"}
SHORTHANDS = {"= ": {}, "! ": {"err": True}, "~ ": {"tol": 1e-6}}


def areas():
    return sorted(path.stem for path in FOLDER.glob("*.cases"))


def parse_flags(text):
    flags, text = {}, text.strip()
    while text:
        if text.startswith(("params=", "arg=")):
            key, value = text.split("=", 1)
            return {**flags, key: json.loads(value)}
        flag, _, text = text.partition(" ")
        key, _, value = flag.partition("=")
        if flag in WORDS:
            flags[flag] = True
        elif key in ("ignore", "bag"):
            flags[key] = {int(column) for column in value.split(",")}
        else:
            flags[key] = float(value) if key == "tol" else value
        text = text.lstrip()
    return flags


def load(area):
    """Pairs of a name and its steps; a step is a dict of its flags, `script` and `expected`."""
    cases, step, lines = {}, None, []

    def finish():
        script = "\n".join(lines).strip("\n")
        if step is not None and (script.strip() or "op" in step):
            cases[name].append({**step, "script": script})
        lines.clear()

    name = None
    for line in (FOLDER / f"{area}.cases").read_text(encoding="utf-8").split("\n"):
        if line.startswith("#:"):
            continue
        if line.startswith("=== "):
            finish()
            name, step = line.split()[1], {}
            cases[name] = []
        elif line.startswith("---"):
            finish()
            step = parse_flags(line[3:])
        elif line[:2] in SHORTHANDS and not any(other.strip() for other in lines):
            cases[name].append({**SHORTHANDS[line[:2]], "script": "?[r] := r = " + line[2:]})
            step = {}
            lines.clear()
        else:
            lines.append(line)
    finish()
    answers = json.loads((FOLDER / f"{area}.expect.json").read_text(encoding="utf-8"))["cases"]
    for name, steps in cases.items():
        assert len(steps) == len(answers[name]), f"{area}/{name} has an answer for every step"
        for step, answer in zip(steps, answers[name]):
            step["expected"] = answer
    return list(cases.items())


def encode(value):
    """A value as the answers write it."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"$float": str(value)}
    if isinstance(value, bytes):
        return {"$bytes": base64.b64encode(value).decode()}
    if isinstance(value, list):
        return [encode(item) for item in value]
    if isinstance(value, dict):
        return {key: encode(item) for key, item in value.items()}
    return value


def decode(value):
    """A value written in a case."""
    if isinstance(value, list):
        return [decode(item) for item in value]
    if isinstance(value, dict):
        if set(value) == {"$bytes"}:
            return base64.b64decode(value["$bytes"])
        if set(value) == {"$float"}:
            return float(value["$float"])
        return {key: decode(item) for key, item in value.items()}
    return value


def alike(a, b, tolerance, loose):
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        if type(a) is not type(b) and not loose:
            return False
        absolute = tolerance * 1e-3 if tolerance <= 1e-9 else tolerance
        return a == b if type(a) is type(b) is int else math.isclose(a, b, rel_tol=tolerance, abs_tol=absolute)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(alike(x, y, tolerance, loose) for x, y in zip(a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return set(a) == set(b) and all(alike(a[key], b[key], tolerance, loose) for key in a)
    return type(a) is type(b) and a == b


def sort_key(value):
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return "%.5e" % value
    if isinstance(value, list):
        return "[" + ",".join(map(sort_key, value)) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(key + ":" + sort_key(value[key]) for key in sorted(value)) + "}"
    return json.dumps(value)


def prepare(rows, step):
    def column(i, value):
        return sorted(value, key=sort_key) if i in step.get("bag", ()) and isinstance(value, list) else value

    return [[column(i, value) for i, value in enumerate(row) if i not in step.get("ignore", ())] for row in rows]


def difference(step, got):
    """How a result dict differs from what is expected; None if it does not."""
    return None if step.get("ok") else _difference(step, step["expected"], got)


def _difference(step, expected, got):
    if expected["headers"] != got["headers"]:
        return f"headers: expected {expected['headers']}, got {got['headers']}"
    if step.get("headers"):
        return None
    rows, answer = expected["rows"], encode(got["rows"])
    if len(rows) != len(answer):
        return f"expected {len(rows)} rows, got {len(answer)}: expected {rows[:20]}, got {answer[:20]}"
    if step.get("count"):
        return None
    rows, answer = prepare(rows, step), prepare(answer, step)
    ordered = step.get("exact") or not step.get("set") and re.search(r":(order|sort)\b", step["script"])
    if not ordered:
        rows, answer = sorted(rows, key=sort_key), sorted(answer, key=sort_key)
    tolerance, loose = step.get("tol", 1e-9), step.get("loosenum", False)
    left = [(a, b) for a, b in zip(rows, answer) if not alike(a, b, tolerance, loose)]
    if left and not ordered:
        others = [b for _, b in left]
        for a, _ in left:
            partner = next((i for i, b in enumerate(others) if alike(a, b, tolerance, loose)), None)
            if partner is None:
                return f"missing {a} among {others[:20]}"
            del others[partner]
        left = []
    if left:
        return "\n".join(f"expected {a}\ngot      {b}" for a, b in left[:20])
    if "next" not in expected:
        return None
    return _difference(step, expected["next"], got["next"]) if got.get("next") else "expected a further result"
