#!/usr/bin/env python3
# Checks that the program in README.md compiles with the public headers and is short.
# SPDX-License-Identifier: Apache-2.0
"""Usage: readme_program.py COMPILER INCLUDE_DIR README"""
import re
import subprocess
import sys


def main(compiler, include, readme):
    with open(readme, encoding="utf-8") as file:
        blocks = re.findall(r"^```cpp\n(.*?)^```", file.read(), re.S | re.M)
    programs = [block for block in blocks if "int main(" in block]
    if len(programs) != 1 or len(programs[0].splitlines()) > 25:
        return f"{readme}: expected one program of at most 25 lines, found {[len(p.splitlines()) for p in programs]}"
    command = [compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", include, "-x", "c++", "-"]
    return subprocess.run(command, input=programs[0], text=True).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) == 4 else __doc__)
