#!/usr/bin/env python3
# Compiles users' programs with the public headers alone: in under 2 s of processor time, with no foreign header.
# SPDX-License-Identifier: Apache-2.0
"""Usage: light_headers.py COMPILER INCLUDE_DIR FILE..."""
import os
import re
import resource
import subprocess
import sys
import tempfile

LIMIT_SECONDS = 2.0
ATTEMPTS = 3
FOREIGN = re.compile(r"/(llvm|llvm-c|mlir|mlir-c|fmt|nlohmann|tbb|oneapi|CLI|catch2)(-\d+)?/|pcre2\.h$|zlib\.h$")


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def compile_once(compiler, include, path, folder):
    """The seconds that compiling path took, and the headers that it read."""
    rule = os.path.join(folder, "rule.d")
    before = processor_seconds()
    command = [compiler, "-std=c++20", "-I", include, "-c", path, "-o", os.path.join(folder, "program.o"), "-MD", "-MF", rule]
    if subprocess.run(command).returncode != 0:
        sys.exit(f"{path}: expected it to compile")
    seconds = processor_seconds() - before
    with open(rule, encoding="utf-8") as file:
        return seconds, file.read().replace("\\\n", " ").split()[1:]


def main(compiler, include, *paths):
    failures = 0
    for path in paths:
        with tempfile.TemporaryDirectory() as folder:
            attempts = [compile_once(compiler, include, path, folder) for _ in range(ATTEMPTS)]
        seconds = min(attempt[0] for attempt in attempts)
        headers = attempts[0][1]
        foreign = [header for header in headers if FOREIGN.search(header)]
        public = [header for header in headers if "/halftone/" in header]
        print(f"{os.path.basename(path)}: {seconds:.2f} s, {len(headers)} headers, {len(public)} of them public")
        if seconds >= LIMIT_SECONDS:
            print(f"{path}: expected under {LIMIT_SECONDS} s")
            failures += 1
        if foreign:
            print(f"{path}: expected no foreign header, found " + " ".join(foreign))
            failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) > 3 else __doc__)
