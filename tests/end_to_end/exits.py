# Runs Exits.cpp: processes that end while the library is in use, and processes that cannot start threads.
# SPDX-License-Identifier: Apache-2.0
"""usage: exits.py PROGRAM calls | ends RUNS | limits LIBRARY | objects RECORDER DRIVER"""
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile

CALLS = ["evaluate", "fit", "predict", "jit", "layer", "report", "summary", "config", "clone", "save", "weights", "policy"]
# Calls that trace nothing, and therefore work until the very end.
ALWAYS = {"summary", "config", "weights", "policy"}
ENDING = ("is ending", "is being destroyed", "are being destroyed")
faults = []


def run(arguments, cache, limit=None, timeout=60, environment={}):
    environment = dict(os.environ, XDG_CACHE_HOME=cache, LD_LIBRARY_PATH=cache, HALFTONE_NUM_THREADS="2", **environment)
    try:
        return subprocess.run(arguments, capture_output=True, text=True, timeout=timeout, cwd=cache, env=environment,
                              preexec_fn=limit)
    except subprocess.TimeoutExpired:
        return None


def expect(condition, name, done):
    if condition:
        return
    end = "hangs" if done is None else f"status {done.returncode}, {done.stdout[-300:]!r}, {done.stderr[-300:]!r}"
    faults.append(f"{name}: {end}")


def calls(program):
    """Each call at the end of the process works, or gives one Error that says that the process is ending."""
    with tempfile.TemporaryDirectory() as cache:
        for when in ["first", "last", "static", "thread"]:
            for call in CALLS:
                done = run([program, call, when], cache)
                lines = [] if done is None else done.stdout.splitlines()
                said = [line for line in lines if line.startswith(("worked:", "Error:", "another"))]
                fine = (done is not None and done.returncode == 0 and len(said) == 1 and
                        (said[0].startswith("worked:") or
                         (call not in ALWAYS and said[0].startswith("Error:") and any(word in said[0] for word in ENDING))))
                expect(fine, f"{call}, {when}", done)


def ends(program, runs):
    """A process that ends at any moment while threads compile exits with the status of its end."""
    seed = random.randrange(1 << 30)
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        for i in range(runs):
            way = ["return", "exit", "other", "traced"][i % 4]
            cache = os.path.join(folder, str(i)) if i % 8 < 6 else folder  # most runs compile all kernels
            os.makedirs(cache, exist_ok=True)
            moment = chance.randrange(1000, 900_000)
            done = run([program, "compile", way, str(moment)], cache)
            expect(done is not None and done.returncode == 0, f"seed {seed}, run {i}: {way} after {moment} microseconds", done)


def limits(program, library):
    """A process that can start no thread, or few, does all work on those that it has."""
    if os.getuid() != 0:
        print("skipped: only root can become a user for whom the system limits processes")
        return
    nobody = 65534

    def limited(count):
        def limit():
            os.setgroups([])
            os.setgid(nobody)
            os.setuid(nobody)
            resource.setrlimit(resource.RLIMIT_NPROC, (count, count))
        return limit

    for count in [1, 2, 4]:
        with tempfile.TemporaryDirectory() as cache: # with copies that this user may read
            copy = shutil.copy(program, cache)
            shutil.copy(library, cache)
            os.chown(cache, nobody, nobody)
            os.chmod(cache, 0o755)
            done = run([copy, "train"], cache, limited(count))
            expect(done is not None and done.returncode == 0 and "worked: trained" in done.stdout, f"{count} processes", done)


def objects(program, recorder, driver):
    """After the first kernel, LLVM and MLIR create no static object: exit() would destroy it before the wait for the
    thread that uses it."""
    for name, device in {"CPU": {}, "GPU": {"HALFTONE_DEVICE": "cuda", "HALFTONE_CUDA_DRIVER": driver}}.items():
        with tempfile.TemporaryDirectory() as cache:
            done = run([program, "objects"], cache, environment=dict(device, LD_PRELOAD=recorder))
            made = [] if done is None else [line for line in done.stderr.splitlines() if "libLLVM" in line or "libMLIR" in line]
            expect(done is not None and done.returncode == 0 and "worked: compiled" in done.stdout, name, done)
            expect(not made, f"{name}: {made}", done)


{"calls": lambda: calls(sys.argv[1]), "ends": lambda: ends(sys.argv[1], int(sys.argv[3])),
 "limits": lambda: limits(sys.argv[1], sys.argv[3]), "objects": lambda: objects(sys.argv[1], *sys.argv[3:])}[sys.argv[2]]()
for fault in faults:
    print(fault)
sys.exit(1 if faults else 0)
