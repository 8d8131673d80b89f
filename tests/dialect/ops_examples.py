#!/usr/bin/env python3
# Checks that the documentation of each op has an example, and that the lit tests parse exactly this example.
# SPDX-License-Identifier: Apache-2.0
"""Usage: ops_examples.py MLIR_TBLGEN LLVM_INCLUDE DIALECT_DIR TESTS_DIR"""
import glob
import os
import re
import subprocess
import sys

EXAMPLE = re.compile(r"Example:\s*(?:```mlir\n(.*?)```|`([^`]*)`)", re.S)


def squeezed(text):
    return " ".join(text.split())


def main():
    tblgen, llvm, dialect, tests = sys.argv[1:]
    command = [tblgen, "-gen-op-doc", "-dialect=halftone", "-I", dialect, "-I", llvm, os.path.join(dialect, "Ops.td")]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    parsed = ""
    for path in sorted(glob.glob(os.path.join(tests, "*.mlir"))):
        if not path.endswith("-invalid.mlir"):
            with open(path, encoding="utf-8") as file:
                parsed += squeezed(file.read()) + " "
    ops = re.split(r"^### `(halftone\.\w+)`", text, flags=re.M)[1:]
    wrong = []
    for name, body in zip(ops[::2], ops[1::2]):
        example = EXAMPLE.search(body)
        if not example:
            wrong.append(f"{name}: expected `Example:` in its description")
        elif squeezed(example.group(1) or example.group(2)) not in parsed:
            wrong.append(f"{name}: expected its example in {tests}/*.mlir:\n  {squeezed(example.group(1) or example.group(2))}")
    print("\n".join(wrong + [f"ops examples: {len(ops) // 2} ops, {len(wrong)} findings"]))
    return 1 if wrong or len(ops) < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
