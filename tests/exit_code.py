# Runs a command and checks that it exits with the expected code.
# SPDX-License-Identifier: Apache-2.0
"""Usage: exit_code.py CODE COMMAND..."""
import subprocess
import sys

expected, command = int(sys.argv[1]), sys.argv[2:]
code = subprocess.run(command).returncode
if code != expected:
    print(f"exit code {code}, expected {expected}: {' '.join(command)}", file=sys.stderr)
    sys.exit(1)
