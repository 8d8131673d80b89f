# Checks that gpu-instructions compares each instruction of kernels between the emulator and a GPU.
# SPDX-License-Identifier: Apache-2.0
"""usage: instructions.py FOLDER GPU_INSTRUCTIONS

FOLDER contains the PTX that `ptxas.py emit` wrote.
"""
import pathlib
import re
import subprocess
import sys

# In the text of a kernel: an instruction after its guard, with its modifiers.
INSTRUCTION = re.compile(r"^\s+(?:@!?%p\d+\s+)?([a-z][a-z0-9]*(?:\.[A-Za-z0-9_:]+)*)(?=[\s;])", re.MULTILINE)
FEWEST = 100  # fewer mean that the folder is wrong


def main(folder, program):
    found = {}
    for file in sorted(pathlib.Path(folder).glob("*.ptx")):
        text = file.read_text()
        for instruction in INSTRUCTION.findall(text[text.index(".entry"):]):
            found.setdefault(instruction, file.name)
    known = set(subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout.split())
    missing = sorted(set(found) - known)
    if len(found) < FEWEST:
        sys.exit(f"{folder}: {len(found)} instructions, expected at least {FEWEST}")
    for instruction in missing:
        print(f"{found[instruction]}: {instruction} is in no form of tests/emulator/snippets", file=sys.stderr)
    print(f"{len(found)} instructions, {len(missing)} of them unknown")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
