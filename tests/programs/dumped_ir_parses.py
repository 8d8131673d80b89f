# Parses the files of dump_ir(), with locations, by halftone-opt.
# SPDX-License-Identifier: Apache-2.0
"""Usage: dumped_ir_parses.py HALFTONE_OPT FOLDER"""
import pathlib
import subprocess
import sys

tool, folder = sys.argv[1], pathlib.Path(sys.argv[2])
files = sorted(folder.glob("*.mlir"))
assert [file.name for file in files] == ["0-graph.mlir", "1-cast.mlir", "2-pure.mlir", "3-kernel.mlir", "4-linalg.mlir"], files
for file in files:
    printed = subprocess.run([tool, file, "--mlir-print-debuginfo", "--split-input-file"], stdout=subprocess.PIPE, check=True, text=True).stdout
    if file.name != "4-linalg.mlir": # its kernels represent many lines each
        assert "08_inspect_ir.cpp" in printed, f"{file} has lost the user's lines"
