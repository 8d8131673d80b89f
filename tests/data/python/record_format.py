#!/usr/bin/env python3
# Records Python's format() of numbers under many specifications, for tests/frontend/callbacks/PythonFormat.cpp.
# SPDX-License-Identifier: Apache-2.0
"""Usage: record_format.py > format.jsonl. Each line holds a value, a specification, and the text or null for a ValueError."""
import itertools
import json
import random

VALUES = [0, 1, 7, 42, 255, 1234, 99999, 1234567, -1, -1234, 0.0, -0.0, 0.5, 0.045, 1.0, 100.0, 1234.0, 1234.5678, 1e-5, 0.0001,
          123456789.0, 1e16, 1e22, -3.75, 0.999999, 2.5e-7]
PARTS = [["", "<", ">", "^", "=", "*<", "*^", "0=", "x>", "\u00e9^"], ["", "+", "-", " "], ["", "z"], ["", "#"], ["", "0"],
         ["", "1", "6", "12"], ["", ",", "_"], ["", ".0", ".1", ".3", ".10"],
         ["", "d", "b", "o", "x", "X", "n", "e", "E", "f", "F", "g", "G", "%", "s", "q"]]


def text(value, spec):
    try:
        return format(value, spec)
    except ValueError:
        return None


specs = set()
for one, two in itertools.combinations(range(len(PARTS)), 2):
    for a, b in itertools.product(PARTS[one], PARTS[two]):
        specs.add("".join(a if i == one else b if i == two else "" for i in range(len(PARTS))))
draw = random.Random(1)
for _ in range(600):
    specs.add("".join(draw.choice(part) if draw.random() < 0.5 else "" for part in PARTS))
specs |= {".", "5.", "dd", "ddd", "1,,", ",_", "&", "é"}
for spec in sorted(specs):
    for value in draw.sample(VALUES, 1):
        print(json.dumps({"value": value, "spec": spec, "text": text(value, spec)}))
