#!/usr/bin/env python3
# Preprocesses user programs that include public headers only: few lines to compile, and no third-party headers.
# SPDX-License-Identifier: Apache-2.0
"""Usage: light_headers.py COMPILER INCLUDE_DIR FILE..."""
import os
import re
import subprocess
import sys
import tempfile

# Compile time grows with the number of lines: about 2 s of processor time at the limit, most of it for the standard
# library.
MOST_LINES = 65000
FOREIGN = re.compile(r"/(llvm|llvm-c|mlir|mlir-c|fmt|nlohmann|CLI|catch2)(-\d+)?/|pcre2\.h$|zlib\.h$")


def preprocess(compiler, include, path, folder):
    """The lines that remain to be compiled, and the headers that `path` includes."""
    rule = os.path.join(folder, "rule.d")
    command = [compiler, "-std=c++20", "-I", include, "-E", "-P", path, "-MD", "-MF", rule, "-MT", "program"]
    result = subprocess.run(command, stdout=subprocess.PIPE)
    if result.returncode != 0:
        sys.exit(f"{path}: expected it to compile")
    with open(rule, encoding="utf-8") as file:
        return result.stdout.count(b"\n"), file.read().replace("\\\n", " ").split()[1:]


def main(compiler, include, *paths):
    failures = 0
    for path in paths:
        with tempfile.TemporaryDirectory() as folder:
            lines, headers = preprocess(compiler, include, path, folder)
        foreign = [header for header in headers if FOREIGN.search(header)]
        public = [header for header in headers if "/halftone/" in header]
        print(f"{os.path.basename(path)}: {lines} lines, {len(headers)} headers, {len(public)} of them public")
        if lines > MOST_LINES:
            print(f"{path}: expected at most {MOST_LINES} lines")
            failures += 1
        if foreign:
            print(f"{path}: expected no foreign header, found " + " ".join(foreign))
            failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) > 3 else __doc__)
