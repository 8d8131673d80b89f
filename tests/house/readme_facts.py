#!/usr/bin/env python3
# Checks README.md: the tests in its table exist, its output is that of the example, and its program is short.
# SPDX-License-Identifier: Apache-2.0
"""Usage: readme_facts.py ROOT LEDGER_PROGRAM

A row of the table ends in a link to a test file; its text is the name of a test in that file, or words of it.
"""
import os
import re
import subprocess
import sys


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def missing_tests(root, text):
    table = text[text.index("## Why"):text.index("## How fast")]
    rows = [line for line in table.splitlines() if line.startswith("| ")][2:]
    if not rows:
        yield "found no row of the table"
    for row in rows:
        link = re.search(r"\| \[([^\]]+)\]\((tests/[^)]+)\) \|$", row)
        if not link:
            yield f"expected a link to a test at the end of: {row[:60]}..."
        elif (f'"{link[1]}"' if link[2].endswith(".cpp") else link[1]) not in read(os.path.join(root, link[2])):
            yield f"{link[2]} has no test '{link[1]}'"


def main(root, program):
    text = read(os.path.join(root, "README.md"))
    findings = [*missing_tests(root, text)]
    programs = [block for block in re.findall(r"^```cpp\n(.*?)^```", text, re.S | re.M) if "int main(" in block]
    if len(programs) != 1 or len(programs[0].splitlines()) > 25:
        findings.append(f"expected one program of at most 25 lines, found {[len(p.splitlines()) for p in programs]}")
    printed = subprocess.run([program], check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout
    if f"```text\n{printed}```\n" not in text:
        findings.append(f"the cast ledger differs from what {program} prints:\n{printed}")
    print("\n".join(findings + [f"{len(findings)} findings"]))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) == 3 else __doc__)
