#!/usr/bin/env python3
# Trains, saves and loads under system limits: each step works or throws an Error with the cause; no signal ends it.
# SPDX-License-Identifier: Apache-2.0
"""Usage: limits.py LIMITED [--all]   (--all: each value of each limit; else one of each)"""
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import zipfile

KIB, MIB = 1 << 10, 1 << 20
# A limit, its values (the first is for a quick run), and the only words that errors may contain.
LIMITS = [
    ("FSIZE", [KIB, 0, 1, 4 * KIB, 16 * KIB, 64 * KIB, MIB], ["File too large"]),
    ("AS", [1000 * MIB, 600 * MIB, 800 * MIB, 1500 * MIB, 4000 * MIB], []),
    ("NOFILE", [8, 4, 5, 6, 7, 9, 10, 11, 12, 14, 16, 20], ["Too many open files"]),
    ("CPU", [10, 5, 19, 60], []),
    ("STACK", [256 * KIB, 128 * KIB, MIB, 64 * MIB], []),
    ("CORE", [0], []),
    ("MEMLOCK", [0], []),
]
STEPS = 14


def run(program, folder, limit, value):
    """(exit status, lines) of the program with a cold cache."""
    with tempfile.TemporaryDirectory() as cache:
        shutil.rmtree(folder / "new", ignore_errors=True)
        done = subprocess.run([program, folder], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60,
                              env={**os.environ, "XDG_CACHE_HOME": cache, "HALFTONE_NUM_THREADS": "1"},
                              preexec_fn=limit and (lambda: resource.setrlimit(getattr(resource, f"RLIMIT_{limit}"), (value, value))))
    return done.returncode, done.stdout.splitlines()


def prepare(program, folder):
    """Files to load, one of them with packed members."""
    code, lines = run(program, folder, None, 0)
    if code != 0 or sum(": ok" in line for line in lines) < STEPS - 6:
        sys.exit(f"without limits: exit {code}, {lines}")
    for file in (folder / "new").iterdir():
        shutil.copy(file, folder)
    with zipfile.ZipFile(folder / "m.keras") as source, zipfile.ZipFile(folder / "packed.keras", "w", zipfile.ZIP_DEFLATED) as packed:
        for name in source.namelist():
            packed.writestr(name, source.read(name))


def faults(code, lines, words):
    if code != 0:
        yield f"ended by {code}"
    if code == 0 and len(lines) != STEPS:
        yield f"{len(lines)} lines"
    for line in lines:
        if not line.endswith(": ok") and not any(word in line for word in words):
            yield line


def environment_faults(program, folder):
    """An error about the environment names the variable, and no layer."""
    done = subprocess.run([program, folder], stdout=subprocess.PIPE, text=True, timeout=60,
                          env={**os.environ, "HALFTONE_NUM_THREADS": "many"})
    if "ValueError: HALFTONE_NUM_THREADS=many: expected a number" not in done.stdout or "layer:" in done.stdout:
        yield f"HALFTONE_NUM_THREADS=many: {done.stdout}"


def main():
    program, everything = os.path.abspath(sys.argv[1]), "--all" in sys.argv
    found = cases = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        prepare(program, folder)
        for limit, values, words in [(None, [0], [])] + LIMITS:
            for value in values if everything else values[:1]:
                code, lines = run(program, folder, limit, value)
                cases += 1
                for fault in faults(code, lines, words):
                    found += 1
                    print(f"RLIMIT_{limit} {value}: {fault}")
                left = [path.name for path in (folder / "new").iterdir() if path.name.startswith(".")]
                if left:
                    found += 1
                    print(f"RLIMIT_{limit} {value}: files are left: {left}")
        for fault in environment_faults(program, folder):
            found += 1
            print(fault)
    print(f"{cases} limits, {found} faults")
    return found > 0


if __name__ == "__main__":
    sys.exit(main())
