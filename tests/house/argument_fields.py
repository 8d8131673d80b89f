#!/usr/bin/env python3
# Checks that the tests use each field of each public argument struct: a field that no test sets may have no effect.
# SPDX-License-Identifier: Apache-2.0
"""Usage: argument_fields.py ROOT"""
import os
import re
import sys


def structures(root):
    """(file, structure, fields) of each `struct ...Args` in the public headers."""
    folder = os.path.join(root, "include", "halftone")
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".h"):
            continue
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            text = re.sub(r"//[^\n]*", "", file.read())
        for match in re.finditer(r"struct (\w*Args) \{(.*?)\n\};", text, re.S):
            fields = re.findall(r"(\w+)(?:\{\}| = [^;]+);", match[2])
            yield name, match[1], fields


def main(root):
    words = []
    for folder, _, names in os.walk(os.path.join(root, "tests")):
        for name in names:
            if name.endswith(".cpp"):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    words.append(file.read())
    used = set(re.findall(r"\.(\w+) = ", "\n".join(words)))
    found, missing = 0, []
    for header, structure, fields in structures(root):
        found += len(fields)
        missing += [f"{header}: {structure}::{field}: no test sets it" for field in fields if field not in used]
    if not found:
        missing.append("no structure of arguments was found")
    print("\n".join(missing + [f"{found} fields of arguments, {len(missing)} findings"]))
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
