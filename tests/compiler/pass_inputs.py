# Runs every pass on a module of every stage: the result is a nonempty module, or one error that names the pass.
# SPDX-License-Identifier: Apache-2.0
"""Usage: pass_inputs.py FOLDER, which contains a module of each stage"""
import concurrent.futures
import pathlib
import re
import subprocess
import sys

folder = pathlib.Path(sys.argv[1])
# The stages that each pass rejects. linalg is the output of lower-to-linalg.
REFUSED = {
    "insert-casts": {"lifted", "pure", "kernel"},
    "inline-layers": {"graph", "lifted", "pure", "kernel"},
    "lift-variables": {"graph", "lifted", "pure", "kernel"},
    "differentiate": {"graph", "cast", "kernel"},
    "bucket-collectives": {"graph", "cast", "lifted", "kernel"},
    "simplify": {"graph", "cast", "lifted", "kernel"},
    "attach-target": set(),
    "update-rows": {"graph", "cast", "lifted", "kernel"},
    "normalize": {"graph", "cast", "lifted", "kernel"},
    "choose-layouts": {"graph", "cast", "lifted", "kernel"},
    "hoist-shadows": {"graph", "cast", "lifted", "kernel"},
    "round-decisions": {"graph", "cast", "lifted", "kernel"},
    "form-kernels": {"graph", "cast", "lifted", "kernel"},
    "repeat-results": {"graph", "cast", "lifted", "pure"},
    "outline-kernels": {"graph", "cast", "lifted", "pure"},
    "order-launches": {"graph", "cast", "lifted", "pure"},
    "merge-launches": {"graph", "cast", "lifted", "pure"},
    "place-collectives": {"graph", "cast", "lifted", "pure"},
    "lower-to-linalg": {"graph", "cast", "lifted", "pure", "linalg"},
    "verify-stage": {"lifted", "pure", "kernel", "linalg"}, # it checks for stage graph
}


def run(case):
    name, stage = case
    ended = subprocess.run(["halftone-opt", f"--halftone-{name}", folder / f"{stage}.mlir"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           text=True, check=False)
    what = f"{name} on stage {stage}: exit code {ended.returncode}\n{ended.stdout[:200]}{ended.stderr}"
    if ended.returncode == 0:
        assert stage not in REFUSED[name], what
        assert re.search(r"func\.func|halftone\.kernel", ended.stdout), what
        return
    assert ended.returncode == 1, what
    if stage == "linalg" and name not in ("verify-stage", "lower-to-linalg"):
        assert ended.stderr.count("error:") == 1, what # a pass that needs @main
        return
    assert stage in REFUSED[name], what
    if name != "verify-stage": # it names each finding
        assert ended.stderr.count("error:") == 1, what
        assert f"halftone-{name} expects a module" in ended.stderr or "expected insert-casts to run first" in ended.stderr, what


passes = re.findall(r"^\s+--halftone-([a-z-]+)", subprocess.run(["halftone-opt", "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout,
                    re.MULTILINE)
assert sorted(passes) == sorted(REFUSED), f"expected what each of {passes} refuses"
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    list(pool.map(run, [(name, stage) for name in REFUSED for stage in ("graph", "cast", "lifted", "pure", "kernel", "linalg")]))
