# Changes bytes near the beginning of a bytecode file: each tool ends by itself with one of its exit codes.
# SPDX-License-Identifier: Apache-2.0
"""Usage: wrong_bytes.py FILE.mlir FOLDER"""
import pathlib
import subprocess
import sys

data, wrong = pathlib.Path(sys.argv[1]).read_bytes(), pathlib.Path(sys.argv[2], "wrong.mlir")
for at in range(40, 76, 2):
    wrong.write_bytes(data[:at] + bytes([19]) + data[at + 1:])
    command = (["halftone-opt", wrong], ["halftone-run", "emit", wrong, "--stage", "graph"], ["halftone-policy", "resolve", wrong])[at // 2 % 3]
    ended = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    assert ended.returncode in (0, 1, 3), f"{command} on byte {at}: {ended.returncode}"
    assert ended.returncode == 0 or ended.stderr.count("\n") <= 4, f"{command} on byte {at}: {ended.stderr}"
