# Runs scripts/gpu-verify without a GPU, and on the emulated driver with stand-ins and with a build's own programs.
# SPDX-License-Identifier: Apache-2.0
"""Usage: gpu_verify.py ROOT EMULATED_DRIVER BUILD_FOLDER"""
import importlib.machinery
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile

STAND_IN = '#!/bin/bash\necho "$(basename "$0") $*" >> "{log}"\n{last}\n'
# The record that a program writes for the kernels that it loads.
LOADS = 'printf "%s\\t%s\\t%s\\t%s\\t%s\\n" {} >> "$HALFTONE_CUDA_KERNELS"'
PROGRAMS = ["tools/halftone-run/halftone-run", "tests/end_to_end/test_gpu", "tests/end_to_end/test_gpu_ops",
            "tests/end_to_end/test_gpu_models", "tests/emulator/gpu-instructions", "tests/end_to_end/test_gpu_loops"]


class Session:
    """A copy of the script in its own folder, with programs that write their arguments to a log."""

    def __init__(self, root, folder, driver):
        self.folder, self.driver, self.findings = folder, driver, []
        self.script = os.path.join(folder, "scripts", "gpu-verify")
        os.makedirs(os.path.dirname(self.script))
        os.makedirs(os.path.join(folder, "benchmarks", "results"))
        shutil.copy(os.path.join(root, "scripts", "gpu-verify"), self.script)
        self.results = os.path.join(folder, "benchmarks", "results", "gpu-verify.json")
        self.log = os.path.join(folder, "log")

    def put(self, program, last="exit 0"):
        path = os.path.join(self.folder, "build", "debug", program)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(STAND_IN.format(log=self.log, last=last))
        os.chmod(path, 0o755)

    def run(self, *arguments, **variables):
        kept = {name: value for name, value in os.environ.items() if not name.startswith("HALFTONE_")}
        environment = {**kept, "HALFTONE_CUDA_DRIVER": self.driver, **variables}
        return subprocess.run([sys.executable, self.script, *arguments], env=environment, capture_output=True, text=True, check=False)

    def expect(self, what, done, code, *texts):
        said = done.stdout + done.stderr
        if done.returncode != code or not all(text in said for text in texts):
            self.findings.append(f"{what}: exit code {done.returncode}, expected {code} and {texts}; it said:\n{said}")


def check_machines_without_gpu(session):
    for what, variables, text in [
            ("no driver", {"HALFTONE_CUDA_DRIVER": os.path.join(session.folder, "none.so")}, "no CUDA driver"),
            ("another library", {"HALFTONE_CUDA_DRIVER": "libm.so.6"}, "it has no function cuInit"),
            ("a stub", {"HALFTONE_EMULATOR_STUB": "1"}, "is a stub"),
            ("no device", {"HALFTONE_EMULATOR_DEVICES": "0"}, "finds no GPU"),
            ("an old driver", {"HALFTONE_EMULATOR_DRIVER": "11040"}, "driver too old: CUDA 11.4, expected driver 525"),
            ("an old GPU", {"HALFTONE_EMULATOR_CAPABILITY": "75"}, "compute capability 7.5, expected 8.0"),
            ("a GPU without memory pools", {"HALFTONE_EMULATOR_POOLS": "0"}, "has no memory pools")]:
        session.expect(what, session.run("--quick", **variables), 77, "no GPU to verify", text)


def check_programs(session):
    session.expect("no programs", session.run("--quick"), 2, "found no programs")
    for program in PROGRAMS:
        session.put(program)
    session.expect("an unknown check", session.run("--only", "nothing"), 2, "no check has 'nothing'")
    session.expect("all pass", session.run("--quick"), 0, "op table", "recurrent layers", "MNIST under three policies", "passed", "skipped")
    with open(session.log, encoding="utf-8") as file:
        calls = "".join(line for line in file if "--list-test-names-only" not in line)
    output = os.path.join(session.folder, "output")
    session.put(PROGRAMS[4], "echo the summary")
    session.expect("three at a time", session.run("--jobs", "3", "--output", output), 0, "op table", "benchmark gpu-train-step", "skipped")
    with open(os.path.join(output, "instructions-bit-by-bit.txt"), encoding="utf-8") as file:
        if file.read() != "the summary\n":
            session.findings.append("the file of a check's output does not hold its output")
    session.expect("no job", session.run("--jobs", "0"), 2, "--jobs 0: expected 1 or more")
    for wanted in ("test_gpu --filenames-as-tags --warn NoTests [#Conformance]", "[#Gpu]MNIST is learned*", "test_gpu_ops",
                   "test_gpu_loops --filenames-as-tags --warn NoTests [#GpuRecurrent]",
                   "test_gpu_models --filenames-as-tags --warn NoTests [#Shadows]", "--rng-seed 1", "--device cuda:0", "--numerics strict", "--numerics fast"):
        if wanted not in calls:
            session.findings.append(f"no program was called with '{wanted}':\n{calls}")
    if not calls.startswith("gpu-instructions \n"):
        session.findings.append(f"the first check is not that of the instructions:\n{calls}")
    session.put(PROGRAMS[4], "echo a form differs; echo the summary; exit 1")
    session.expect("an instruction differs", session.run("--only", "instructions"), 1, "FAILED", "exit code 1", "a form differs", "the summary")
    session.put(PROGRAMS[4], "echo 7 forms; echo the summary")
    session.expect("no instruction differs", session.run("--only", "instructions"), 0, "passed", "the summary")
    session.put(PROGRAMS[0], "echo the reason; exit 3")
    session.expect("one fails", session.run("--quick"), 1, "FAILED", "exit code 3", "the reason", "passed")
    session.put(PROGRAMS[0])
    check_kernels(session)
    if os.path.exists(session.results):
        session.findings.append("results of the emulated driver were written as a GPU's")


def check_kernels(session):
    session.put(PROGRAMS[1], LOADS.format("40 0 halftone_1 row 'a b' 20 0 halftone_2 row c 60 0 halftone_3 row c 255 0 halftone_4 matmul d"))
    session.put(PROGRAMS[2], LOADS.format("40 0 halftone_1 row 'a b'"))
    session.expect("kernels without local memory", session.run("--quick"), 0,
                   f"{'row':<24} {3:>7} {20:>18} {40:>7} {60:>5} {0:>12}\n", f"{'matmul':<24} {1:>7} {255:>18} {255:>7} {255:>5} {0:>12}\n")
    session.put(PROGRAMS[2], LOADS.format("40 0 halftone_1 row 'a b' 255 16 halftone_5 row c"))
    done = session.run("--quick", "--kernels")
    session.expect("a kernel with local memory", done, 1, "halftone_5 has 16 bytes of local memory", f" {255:>5} {16:>12}\n")
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith("halftone_")]
    if rows[0] != ["halftone_5", "255", "16", "row,", "c"] or [row[0][-1] for row in rows] != list("54312"):
        session.findings.append(f"the rows of kernels are {rows}")
    failed = [line for line in done.stdout.splitlines() if "FAILED" in line]
    if not failed or not all("op table" in line or "random programs" in line for line in failed):
        session.findings.append(f"of the checks that load a kernel with local memory, and no others, these failed: {failed}")
    session.put(PROGRAMS[1])
    session.put(PROGRAMS[2])


def check_results(session):
    loader = importlib.machinery.SourceFileLoader("gpu_verify_script", session.script)
    script = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(script)
    script.write({"device": "a GPU"}, True, [script.Outcome("one", True, 1.5, ""), script.Outcome("two", None, 0.0, "the reason")],
                 [script.Kernel(9, 0, "b", "row", "m"), script.Kernel(8, 4, "a", "loop", "")])
    with open(session.results, encoding="utf-8") as file:
        results = json.load(file)
    wanted = [{"check": "one", "result": "passed", "seconds": 1.5, "note": ""},
              {"check": "two", "result": "skipped", "seconds": 0.0, "note": "the reason"}]
    kernels = [{"registers": 8, "local_bytes": 4, "kernel": "a", "kind": "loop", "method": ""},
               {"registers": 9, "local_bytes": 0, "kernel": "b", "kind": "row", "method": "m"}]
    if results["kernels"] != kernels or results["checks"] != wanted or results["device"] != "a GPU" or results["quick"] is not True:
        session.findings.append(f"the results are {results}")


def check_own_programs(root, driver, build):
    """Runs the script of the tree: its comparisons load kernels, and the table lists them."""
    command = [sys.executable, os.path.join(root, "scripts", "gpu-verify"), "--programs", build, "--only", "compare "]
    done = subprocess.run(command, env={**os.environ, "HALFTONE_CUDA_DRIVER": driver}, capture_output=True, text=True, check=False)
    rows = {line.split()[0]: line.split()[1:] for line in done.stdout.partition("\nkernels ")[2].splitlines()[1:]}
    wrong = [kind for kind, cells in rows.items() if not 0 < int(cells[1]) <= int(cells[2]) <= int(cells[3]) <= 255 or cells[4] != "0"]
    if done.returncode != 0 or wrong or not rows.keys() >= {"loop", "matmul", "row", "reduction_loop"}:
        return [f"the comparisons give {done.returncode}, expected 0 and registers of each kind:\n{done.stdout}{done.stderr}"]
    return []


def main(root, driver, build):
    with tempfile.TemporaryDirectory() as folder:
        session = Session(root, folder, driver)
        check_machines_without_gpu(session)
        check_programs(session)
        check_results(session)
        session.findings += check_own_programs(root, driver, build)
    print(*session.findings, sep="\n", file=sys.stderr)
    return 1 if session.findings else 0


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main(*sys.argv[1:]))
