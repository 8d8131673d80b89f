# Checks that the bundle is small, needs no library except glibc, and runs its programs under both naming schemes.
# SPDX-License-Identifier: Apache-2.0
"""Usage: bundle.py HALFTONE_VERIFY ROOT"""
import os
import re
import subprocess
import sys
import tempfile

MOST_BYTES = 64 << 20
LIBRARIES = {"linux-vdso.so.1", "ld-linux-x86-64.so.2", "libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0"}
NEWEST_GLIBC = (2, 36)


def output(*command, cwd=None):
    return subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def main(bundle, root):
    findings = []
    if os.path.getsize(bundle) > MOST_BYTES:
        findings.append(f"{os.path.getsize(bundle)} bytes, expected at most {MOST_BYTES}")
    others = {os.path.basename(line.split()[0]) for line in output("ldd", bundle).stdout.splitlines()} - LIBRARIES
    if others:
        findings.append(f"it needs {sorted(others)}, expected some of {sorted(LIBRARIES)}")
    with open(bundle, "rb") as file:
        versions = {tuple(map(int, found.split(b"."))) for found in re.findall(rb"GLIBC_(\d+(?:\.\d+)+)\0", file.read())}
    if not versions or max(versions) > NEWEST_GLIBC:
        findings.append(f"it needs glibc {max(versions, default=None)}, expected at most {NEWEST_GLIBC}")
    module = os.path.join(root, "tests", "tools", "halftone-run", "compare-training.mlir")
    with tempfile.TemporaryDirectory() as folder:
        link = os.path.join(folder, "halftone-run")
        os.symlink(bundle, link)
        for command, code, text in [
                ((bundle, "halftone-run", "compare", module, "--no-cache"), 0, "agrees"),
                ((link, "compare", module, "--no-cache", "--numerics", "fast"), 0, "agrees"),
                ((bundle, "halftone-run", "emit", module, "--target", "sm_80", "--format", "ptx"), 0, ".target sm_80"),
                ((bundle, "halftone-opt", module, "--stop-after=kernel"), 0, "halftone.kernel"),
                ((bundle, "test_gpu", "--list-tests"), None, "MNIST is learned"),  # its code is the number of tests
                ((bundle, "gpu-instructions", "--list"), 0, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"),
                ((bundle, "other"), 2, "the programs are halftone-run")]:
            done = output(*command, cwd=root)
            if code not in (None, done.returncode) or text not in done.stdout:
                findings.append(f"{' '.join(command)} gives {done.returncode}, expected {code} and '{text}':\n{done.stdout[-3000:]}")
    print(*findings, sep="\n", file=sys.stderr)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
