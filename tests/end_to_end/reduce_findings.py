# Runs the command that random_modules prints for a finding: it reduces the module, which still shows the finding.
# SPDX-License-Identifier: Apache-2.0
"""Usage: reduce_findings.py RANDOM_MODULES

The findings are permitted differences: with --ulp 0, results that are not exactly rounded must be bit-identical. Files
are in a folder whose name the shell splits into several words unless it is quoted.
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile

with tempfile.TemporaryDirectory() as temporary:
    folder = os.path.join(temporary, "it's a folder")
    os.mkdir(folder)
    found = subprocess.run([sys.argv[1], "--plain", "--seed", "3", "--count", "1", "--ops", "4", "--ulp", "0"], cwd=folder,
                           stdout=subprocess.PIPE, text=True)
    commands = re.findall(r"^reduce with: (.*)$", found.stdout, re.M)
    assert found.returncode == 1 and commands, f"expected a finding, got {found.returncode}: {found.stdout}"
    small = os.path.join(folder, "small.mlir")
    ended = subprocess.run(f"{commands[0]} -o {shlex.quote(small)}", shell=True, stderr=subprocess.PIPE, text=True)
    print(commands[0], ended.stderr, sep="\n")
    before, after = map(int, re.search(r"(\d+) ops -> (\d+) ops", ended.stderr).groups())
    assert ended.returncode == 0 and after < before, f"expected fewer ops than {before}, got {after}"
    words = shlex.split(commands[0])
    compare = words[words.index("--command") + 1].replace("%s", shlex.quote(small))
    again = subprocess.run(compare, shell=True, stdout=subprocess.PIPE, text=True)
    assert again.returncode == 1 and "differs beyond" in again.stdout, f"{again.returncode}: {again.stdout}"
