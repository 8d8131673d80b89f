# Assembles the PTX of kernels with NVIDIA's ptxas, if installed: no memory on the stack, no calls, short loops.
# SPDX-License-Identifier: Apache-2.0
"""usage: ptxas.py emit FOLDER [--steps RECORDED_CODE] HALFTONE_RUN MODULE...
       ptxas.py check FOLDER ARCHITECTURE

`emit` writes FOLDER/<kernel>.ptx for the kernels of the modules, fast and strict, and of the train and predict steps that RECORDED_CODE
writes. `check` assembles each as a whole program, as the driver does, and as relocatable code (`-c`), as the driver's linker would.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import sass

SKIPPED = 77
# The modes of assembly, and their ptxas options.
WAYS = {"whole": (), "relocatable": ("-c",)}
# Division and square roots that round to nearest. ptxas calls a function of its own for operands near the ends of the
# range.
ROUNDED = r"__cuda_sm\w+_(div|rcp|d?sqrt)_rn_\w+"
# Warp instructions, which are calls in relocatable code for compute capabilities below 9.0. nvcc's own code has them
# too.
SYNCHRONIZED = r"__cuda_sm70_(shfl|vote)sync_\w+"
# The nets whose training steps are assembled: few, so that the test is quick.
NETS = "mlp-float32,mlp-mixed_bfloat16,mlp-mixed_float16,residual,embedding"
# The maximum number of instructions in a main loop that copies both operands directly to shared memory, for 128
# tensor-core products.
LONGEST_LOOP = 300


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
    """Maps the entry of each kernel in a text to its PTX, whose first line has the kernel's title."""
    parts = re.split(r"(?m)^(?=// halftone_[0-9a-f]+ \(|# [0-9a-f]{64}: )", text)
    return {re.search(r"\.entry (\w+)", part)[1]: re.sub("^#", "//", part) for part in parts if ".entry" in part}


def kernels_of_modules(halftone_run, modules):
    kernels = {}
    for module in modules:
        for numerics in ("fast", "strict"):
            command = [halftone_run, "emit", module, "--target", "sm_80", "--format", "ptx", "--numerics", numerics]
            kernels |= kernels_in(output_of(command))
    return kernels


def kernels_of_steps(recorded_code):
    kernels = {}
    with tempfile.TemporaryDirectory() as folder:
        output_of([recorded_code, folder, "--nets", NETS], HALFTONE_TARGET="sm_80")
        for file in pathlib.Path(folder).rglob("*target*.s"):
            kernels |= kernels_in(file.read_text())
    return kernels


def emit(arguments):
    """Writes the kernels, each of which must be self-contained, and returns the exit code."""
    groups = [kernels_of_modules(arguments.halftone_run, arguments.modules)]
    if arguments.steps:
        groups.append(kernels_of_steps(arguments.steps))
    shutil.rmtree(arguments.folder, ignore_errors=True)
    arguments.folder.mkdir(parents=True)
    failed = 0
    for group in groups:
        for name, ptx in group.items():
            (arguments.folder / f"{name}.ptx").write_text(ptx)
            for word in set(re.findall(r"\.extern \.func|\.local\b", ptx)):
                failed += 1
                print(f"{ptx.splitlines()[0]}: has {word}")
    counts = [len(group) for group in groups]
    print(f"{' + '.join(map(str, counts))} kernels: {failed} faults")
    return 1 if failed or 0 in counts else 0


# Facts of the machine code: bytes of stack frames, spill stores and spill loads, and the functions that the entry
# calls.
Assembled = collections.namedtuple("Assembled", "registers stack spills calls cubin")


class NotAssembled(Exception):
    """The message of ptxas about PTX that it rejects."""


def assemble(ptxas, architecture, way, file):
    """The machine code of a kernel. Stack and spills are totals over all of its functions."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as out:
        command = [ptxas, f"-arch={architecture}", "-v", *WAYS[way], file, "-o", out.name]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        cubin = out.read()
    said = result.stdout + result.stderr
    registers = re.findall(r"Used (\d+) registers", said)
    bytes_of = {kind: [int(number) for number in re.findall(rf"(\d+) bytes {kind}", said)] for kind in ("stack frame", "spill")}
    if result.returncode != 0 or len(registers) != 1 or not all(bytes_of.values()):
        raise NotAssembled(said)
    entry = re.search(r"\.entry (\w+)", file.read_text())[1]
    calls = sorted(re.sub(r"^\$__internal_\d+_\$", "", name) for name in sass.functions(cubin) if name != entry)
    return Assembled(int(registers[0]), sum(bytes_of["stack frame"]), sum(bytes_of["spill"]), calls, cubin)


def calls_at_fault(architecture, way, calls):
    """The functions that no kernel should call."""
    permitted = ROUNDED
    if way == "relocatable" and int(re.search(r"\d+", architecture)[0]) < 90:
        permitted += "|" + SYNCHRONIZED
    return [name for name in calls if not re.fullmatch(permitted, name)]


def faults(ptxas, architecture, file):
    """The faults of a kernel by ptxas and by the length of the code, as a list of lines."""
    lines = []
    for way in WAYS:
        try:
            code = assemble(ptxas, architecture, way, file)
        except NotAssembled as error:
            return [f"{way}: {error}"]
        lines += [f"{way}: {number} bytes of {kind}" for number, kind in ((code.stack, "stack"), (code.spills, "spills")) if number]
        lines += [f"{way}: calls {name}" for name in calls_at_fault(architecture, way, code.calls)]
        if (way, architecture) == ("whole", "sm_80"):
            lines += long_loops(file, code.cubin)
    return lines


def long_loops(file, cubin):
    """The fault of a main loop that is too long, or none. Only large tiles have 128 products in a loop."""
    if not re.search(r"mma\S+, tiles of 128", file.read_text().partition("\n")[0]):
        return []
    code = sass.Code(cubin)
    loop = code.counts(code.main_loop(["HMMA", "IMMA"]))
    if not loop["LDGSTS"] or loop["STS"]:
        return []
    products = loop["HMMA"] + loop["IMMA"]
    if loop.total() * 128 <= LONGEST_LOOP * products:
        return []
    return [f"{loop.total()} instructions in the main loop with {products} products; expected {LONGEST_LOOP} for 128"]


def check(arguments):
    ptxas = find_ptxas()
    if not ptxas:
        print("skipped: ptxas is not installed")
        return SKIPPED
    if f"'{arguments.architecture}'" not in output_of([ptxas, "--help"]):
        print(f"skipped: {ptxas} does not know {arguments.architecture}")
        return SKIPPED
    files = sorted(arguments.folder.glob("*.ptx"))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda file: faults(ptxas, arguments.architecture, file), files))
    for file, lines in zip(files, found):
        for line in lines:
            print(f"{arguments.architecture}: {file.read_text().splitlines()[0]}: {line}")
    failed = sum(map(len, found))
    print(f"{len(files)} kernels for {arguments.architecture}: {failed} faults")
    return 1 if failed or not files else 0


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(required=True)
    emitting = commands.add_parser("emit")
    emitting.set_defaults(run=emit)
    emitting.add_argument("--steps", metavar="RECORDED_CODE")
    emitting.add_argument("folder", type=pathlib.Path)
    emitting.add_argument("halftone_run")
    emitting.add_argument("modules", nargs="+")
    checking = commands.add_parser("check")
    checking.set_defaults(run=check)
    checking.add_argument("folder", type=pathlib.Path)
    checking.add_argument("architecture")
    arguments = parser.parse_args()
    return arguments.run(arguments)


if __name__ == "__main__":
    sys.exit(main())
