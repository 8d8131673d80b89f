# Assembles the PTX of kernels with NVIDIA's ptxas, where it is installed: no spills, no memory on the stack.
# SPDX-License-Identifier: Apache-2.0
"""usage: ptxas.py [--steps RECORDED_CODE] HALFTONE_RUN MODULE...

The kernels are those of the modules, fast and strict, and of the train and predict steps that RECORDED_CODE writes.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ARCHITECTURES = ["sm_80", "sm_86", "sm_89", "sm_90", "sm_100"]
SKIPPED = 77

# Spills that are known: bytes at most, architectures, what the PTX has, and why.
KNOWN = [
    (8, ARCHITECTURES, r"(div|sqrt)\.rn\.f32",
     "ptxas has own code for rounded divisions and roots, and keeps a register on the stack around its calls"),
    (16, ["sm_100"], r"\.reqntid (64|256)\b",
     "ptxas for sm_100 keeps values on the stack although registers are left: the kernels take 32 and 96 of 255"),
]


def find_ptxas():
    """The path of ptxas, or None."""
    return shutil.which("ptxas") or shutil.which("ptxas", path="/usr/local/cuda/bin")


def output_of(command, **environment):
    """Standard output of a command that must succeed."""
    result = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {result.returncode}:\n{result.stderr}")
    return result.stdout


def kernels_in(text):
    """The PTX of a text's kernels by their entries; the first line of each has its title."""
    parts = re.split(r"(?m)^(?=// halftone_[0-9a-f]+ \(|# [0-9a-f]{64}: )", text)
    return {re.search(r"\.entry (\w+)", part)[1]: re.sub("^#", "//", part) for part in parts if ".entry" in part}


def kernels_of_modules(halftone_run, modules):
    kernels = {}
    for module in modules:
        for options in ([], ["--numerics", "strict"]):
            command = [halftone_run, "emit", module, "--target", "sm_80", "--format", "ptx", *options]
            kernels |= kernels_in(output_of(command))
    return kernels


def kernels_of_steps(recorded_code):
    kernels = {}
    with tempfile.TemporaryDirectory() as folder:
        output_of([recorded_code, folder], HALFTONE_TARGET="sm_80")
        for file in pathlib.Path(folder).rglob("*target*.s"):
            kernels |= kernels_in(file.read_text())
    return kernels


def known_architectures(ptxas):
    """Those of ARCHITECTURES that this ptxas has."""
    text = output_of([ptxas, "--help"])
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


def known_reason(architecture, ptx, fault):
    """Why a fault is accepted, or None."""
    number = re.match(r"(\d+) bytes", fault)
    for most, architectures, pattern, reason in KNOWN:
        if number and int(number[1]) <= most and architecture in architectures and re.search(pattern, ptx):
            return reason
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", metavar="RECORDED_CODE")
    parser.add_argument("halftone_run")
    parser.add_argument("modules", nargs="+")
    arguments = parser.parse_args()
    ptxas = find_ptxas()
    if not ptxas:
        print("skipped: ptxas is not installed")
        return SKIPPED
    architectures = known_architectures(ptxas)
    if not architectures:
        print(f"skipped: {ptxas} knows none of {', '.join(ARCHITECTURES)}")
        return SKIPPED
    kernels = [kernels_of_modules(arguments.halftone_run, arguments.modules)]
    if arguments.steps:
        kernels.append(kernels_of_steps(arguments.steps))
    runs = [(architecture, ptx) for group in kernels for ptx in group.values() for architecture in architectures]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda run: faults(ptxas, *run), runs))
    failed = 0
    for (architecture, ptx), lines in zip(runs, found):
        for line in lines:
            reason = known_reason(architecture, ptx, line)
            failed += reason is None
            print(f"{architecture}: {ptx.splitlines()[0]}: {line}" + (f" (known: {reason})" if reason else ""))
    counts = [len(group) for group in kernels]
    print(f"{' + '.join(map(str, counts))} kernels for {', '.join(architectures)}: {failed} faults")
    return 1 if failed or 0 in counts else 0


if __name__ == "__main__":
    sys.exit(main())
