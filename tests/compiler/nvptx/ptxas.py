# Assembles the PTX of modules' kernels with NVIDIA's ptxas, where it is installed: no spills, no memory on the stack.
# SPDX-License-Identifier: Apache-2.0
"""usage: ptxas.py HALFTONE_RUN MODULE..."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

ARCHITECTURES = ["sm_80", "sm_86", "sm_89", "sm_90"]
SKIPPED = 77


def find_ptxas():
    """The path of ptxas, or None."""
    return shutil.which("ptxas") or shutil.which("ptxas", path="/usr/local/cuda/bin")


def ptx_modules(halftone_run, module, options):
    """The PTX of each kernel of the module."""
    command = [halftone_run, "emit", module, "--target", "sm_80", "--format", "ptx", *options]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {result.returncode}:\n{result.stderr}")
    text = result.stdout
    return [part for part in re.split(r"(?m)^(?=// halftone_[0-9a-f]+ \()", text) if ".entry" in part]


def known_architectures(ptxas):
    """Those of ARCHITECTURES that this ptxas has."""
    text = subprocess.run([ptxas, "--help"], capture_output=True, text=True, check=True).stdout
    return [name for name in ARCHITECTURES if f"'{name}'" in text]


def faults(ptxas, architecture, ptx):
    """What ptxas says against a kernel, as a list of lines."""
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(ptx)
        file.flush()
        command = [ptxas, f"-arch={architecture}", "-v", file.name, "-o", os.devnull]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    said = result.stdout + result.stderr
    if result.returncode != 0:
        return [said]
    numbers = re.findall(r"(\d+) bytes (stack frame|spill stores|spill loads)", said)
    if not numbers:
        return ["ptxas does not tell the size of the stack:\n" + said]
    return [f"{number} bytes {kind}" for number, kind in numbers if int(number) != 0]


def main():
    halftone_run, *modules = sys.argv[1:]
    ptxas = find_ptxas()
    if not ptxas:
        print("skipped: ptxas is not installed")
        return SKIPPED
    architectures = known_architectures(ptxas)
    if not architectures:
        print(f"skipped: {ptxas} knows none of {', '.join(ARCHITECTURES)}")
        return SKIPPED
    failed = count = 0
    for module in modules:
        for options in ([], ["--numerics", "strict"]):
            for ptx in ptx_modules(halftone_run, module, options):
                count += 1
                for architecture in architectures:
                    for fault in faults(ptxas, architecture, ptx):
                        failed += 1
                        print(f"{module} {' '.join(options)} {architecture}: {ptx.splitlines()[0]}: {fault}")
    print(f"{count} kernels for {', '.join(architectures)}: {failed} faults")
    return 1 if failed or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
