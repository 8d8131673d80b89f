#!/usr/bin/env python3
# Checks that clang-format leaves each C++ file of the tree unchanged.
# SPDX-License-Identifier: Apache-2.0
"""Usage: clang_format.py CLANG_FORMAT ROOT

Prints the command that formats the files that are not.
"""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools"))
sys.dont_write_bytecode = True
import house_check  # noqa: E402


def main(clang_format, root):
    sources = [path for path in house_check.walk(root) if house_check.is_source(path)]
    if not sources:
        return f"{root}: found no .h or .cpp file"
    command = [clang_format, "--dry-run", "-Werror", "--ferror-limit=1", *sources]
    done = subprocess.run(command, cwd=root, stderr=subprocess.PIPE, text=True, check=False)
    changed = sorted({line.split(":")[0] for line in done.stderr.splitlines() if "[-Wclang-format-violations]" in line})
    if changed:
        return f"{len(changed)} of {len(sources)} files are not formatted; expected {clang_format} -i " + " \\\n  ".join(changed)
    if done.returncode != 0:
        return f"{clang_format} ended with {done.returncode}:\n{done.stderr}"
    print(f"{len(sources)} files, all formatted")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) == 3 else __doc__)
