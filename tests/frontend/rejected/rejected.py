#!/usr/bin/env python3
# Checks that a program does not compile, for the stated reason, and that its correct form compiles.
# SPDX-License-Identifier: Apache-2.0
"""Usage: rejected.py COMPILER INCLUDE_DIR FILE

FILE's first line is `// expect: REGEX`, which the compiler's errors must match. With -DRIGHT the file has the correct
form, which must compile: so only the error was rejected.
"""
import re
import subprocess
import sys


def compile_file(compiler, include, path, *options):
    command = [compiler, "-std=c++20", "-Wall", "-Werror=narrowing", "-Werror=unused-result", "-fsyntax-only",
               "-fdiagnostics-color=never", "-I", include, *options, path]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def main(compiler, include, path):
    with open(path, encoding="utf-8") as file:
        first = file.readline()
    expected = re.fullmatch(r"// expect: (.+)\n", first)
    if not expected:
        return f"{path}:1: expected `// expect: REGEX`"

    right = compile_file(compiler, include, path, "-DRIGHT")
    if right.returncode != 0:
        return f"{right.stdout}{path}: expected the right form (-DRIGHT) to compile"
    wrong = compile_file(compiler, include, path)
    if wrong.returncode == 0:
        return f"{path}: expected a compile error matching /{expected[1]}/, but it compiles"
    errors = "\n".join(line for line in wrong.stdout.splitlines() if "error:" in line)
    if not re.search(expected[1], errors):
        return f"{wrong.stdout}{path}: expected an error matching /{expected[1]}/"
    print(errors)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) == 4 else __doc__)
