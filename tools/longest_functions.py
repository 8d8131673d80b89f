#!/usr/bin/env python3
# Prints the longest functions of the rooms and tools: line count, file, line, first words.
# SPDX-License-Identifier: Apache-2.0
"""Usage: longest_functions.py [HOW_MANY] [ROOT]

Expects sources formatted by clang-format: a function begins with a line that ends in `{` and has a parameter list, and
ends with a `}` at the same indentation. Lambdas count as part of the enclosing function.
"""
import os
import re
import sys

ROOMS = ("include", "runtime", "dialect", "compiler", "frontend", "tools")
NO_FUNCTION = re.compile(r"^\s*(if|for|while|switch|else|do|return|catch|\}|namespace|struct|class|enum|public|private|protected)\b|\[[^\]]*\]\(|= \[")


def functions(lines):
    """(first, last) of each function that is not nested in another."""
    at = 0
    while at < len(lines):
        if not lines[at].strip() or lines[at].strip().startswith(("//", "#")):
            at += 1
            continue
        start = at
        while at < len(lines) and at - start < 6 and not lines[at].rstrip().endswith(("{", ";", "}", ":")):
            at += 1
        if at >= len(lines):
            return
        opening = lines[at].rstrip()
        indent = len(lines[start]) - len(lines[start].lstrip())
        head = " ".join(lines[start:at + 1])
        if not opening.endswith("{") or "(" not in head or NO_FUNCTION.search(lines[start]):
            at += 1
            continue
        closing = " " * indent + "}"
        end = next((i for i in range(at + 1, len(lines)) if lines[i].rstrip() in (closing, closing + ";")), None)
        if end is None:
            at += 1
            continue
        yield start, end
        at = end + 1


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    root = sys.argv[2] if len(sys.argv) > 2 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    found = []
    for room in ROOMS:
        for folder, _, names in os.walk(os.path.join(root, room)):
            for name in names:
                if not name.endswith((".cpp", ".h")):
                    continue
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as file:
                    lines = file.read().split("\n")
                for first, last in functions(lines):
                    found.append((last - first + 1, os.path.relpath(path, root), first + 1, lines[first].strip()[:90]))
    for lines, path, line, head in sorted(found, reverse=True)[:count]:
        print(f"{lines:4} {path}:{line}: {head}")
    over = sum(lines > 60 for lines, *_ in found)
    print(f"{len(found)} functions, {over} of more than 60 lines")


main()
