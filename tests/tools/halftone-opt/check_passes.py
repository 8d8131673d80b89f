# Runs deliberately wrong passes under --check-passes: each lie, at each position, must be rejected by the pass's name.
# SPDX-License-Identifier: Apache-2.0
"""Usage: check_passes.py HALFTONE_OPT PLUGIN"""
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

tool, plugin = sys.argv[1], sys.argv[2]

# Everything that --check-passes compares: feeds, fetches, variables, a layer, an update, a branch.
FORWARD = """
halftone.variable @w : tensor<4x2xf32> {path = "net/dense/kernel"}
halftone.variable @seen : tensor<i32> {path = "seen", role = #halftone<role iteration>, trainable = false, autocast = false}
halftone.variable @spare : tensor<2xf32> {path = "spare"}
func.func @main(%x: tensor<3x4xf32> {halftone.name = "x"}, %z: tensor<3x4xf32> {halftone.name = "z"})
    -> (tensor<3x2xf32> {halftone.name = "y"}, tensor<3x2xf32> {halftone.name = "d"}, tensor<3x4xf32> {halftone.name = "m"}) {
  %y = halftone.layer "net/dense" policy "float32" (%x) {class_name = "Dense"} : (tensor<3x4xf32>) -> tensor<3x2xf32> {
  ^bb0(%a: tensor<3x4xf32>):
    %w = halftone.read @w : tensor<4x2xf32>
    %p = halftone.contract %a, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
    halftone.yield %p : tensor<3x2xf32>
  }
  %v = halftone.read @w : tensor<4x2xf32>
  %q = halftone.contract %z, %v {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  %d = halftone.sub %q, %y : tensor<3x2xf32>
  %n = halftone.read @seen : tensor<i32>
  %one = halftone.constant dense<1> : tensor<i32>
  %n1 = halftone.add %n, %one : tensor<i32>
  halftone.assign @seen, %n1 : tensor<i32>
  %m = halftone.neg %z : tensor<3x4xf32>
  return %y, %d, %m : tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x4xf32>
}
"""
# A training step.
STEP = """
halftone.variable @w : tensor<4xf32> {path = "w"}
func.func @main(%x: tensor<4xf32> {halftone.name = "x"}) -> (tensor<f32> {halftone.name = "loss"}) {
  %w = halftone.read @w : tensor<4xf32>
  %p = halftone.mul %x, %w : tensor<4xf32>
  %s = halftone.mul %p, %p : tensor<4xf32>
  %loss = halftone.reduce sum %s {axes = array<i64: 0>} : tensor<4xf32> -> tensor<f32>
  %g = halftone.gradient %loss of [@w] : tensor<f32> -> tensor<4xf32>
  %next = halftone.sub %w, %g : tensor<4xf32>
  halftone.assign @w, %next : tensor<4xf32>
  return %loss : tensor<f32>
}
"""
with open(os.path.join(os.path.dirname(__file__), "CheckPasses.cpp"), encoding="utf-8") as source:
    KINDS = {"lie-" + name for name in re.findall(r'^ +{"([\w-]+)",', source.read(), re.M)}
# Lies that can be applied to each program in each stage.
EVERYWHERE = {"lie-" + name for name in (
    "drop-fetch", "repeat-fetch", "rename-fetch", "rename-feed", "unname-feed", "add-feed", "drop-feed", "retype-feed",
    "rename-variable", "add-variable", "path-of-variable", "role-of-variable", "frozen-variable", "autocast-of-variable",
    "erase-main", "rename-main", "external-main", "private-main", "add-function", "declare-stage", "name-module", "zero-value")}


def run(*arguments):
    return subprocess.run([tool, f"--load-pass-plugin={plugin}", *arguments], capture_output=True, text=True, timeout=60)


def told(module, copies=150):
    """The lies that were told about copies of a module, by name, and the defects in the errors about them."""
    with open(module, encoding="utf-8") as file:
        text = file.read()
    many = module + ".many"
    with open(many, "w", encoding="utf-8") as file:
        file.write("\n// -----\n".join([text] * copies))
    done = run(many, "--split-input-file", "--pass-pipeline=builtin.module(lies)", "--check-passes", "-o", os.devnull)
    lies = re.findall(r"told (lie-[\w-]+) at", done.stderr)
    name = os.path.basename(module)
    wrong = []
    for part in re.split(r"^told ", done.stderr, flags=re.M)[1:]:
        lie = part.split()[0]
        answers = re.findall(rf"(?:error|remark): --check-passes: {lie} (?:changes|removes|adds|leaves)", part)
        if len(answers) != 1 or len(re.findall("error: ", part)) != 1:
            wrong.append(f"{name}: expected one error that names the pass, got: {part}")
    if done.returncode != 1 or "all told" not in done.stderr:
        wrong.append(f"{name}: exit code {done.returncode}, {len(lies)} lies, expected 1 and all lies")
    return lies, wrong


# Pipelines with several lies, or with a pass nested below the module: the passes that the errors must name, in order.
PIPELINES = {
    "lies{only=drop-fetch},lies{only=zero-value}": ["lie-drop-fetch", "lie-zero-value"],
    "lies{only=rename-feed},cse,lies{only=drop-assignment}": ["lie-rename-feed", "lie-drop-assignment"],
    "lies{only=add-gradient},lies{only=zero-value}": ["lie-add-gradient", "lie-zero-value"],
    "lies{only=erase-main},lies{only=name-module}": ["lie-erase-main", "lie-name-module"],
    "func.func(lie-in-function)": ["lie-in-function"],
    "func.func(cse,lie-in-function),cse": ["lie-in-function"],
    "canonicalize,func.func(cse,canonicalize),symbol-dce,halftone-insert-casts,halftone-inline-layers,halftone-lift-variables": [],
}


def named(module):
    """The defects in the errors of PIPELINES."""
    wrong = []
    for pipeline, names in PIPELINES.items():
        done = run(module, f"--pass-pipeline=builtin.module({pipeline})", "--check-passes", "-o", os.devnull)
        found = re.findall(r"error: (?:--check-passes: ([\w-]+))?", done.stderr)
        if found != names or done.returncode != bool(names):
            wrong.append(f"{pipeline}: expected errors of {names}, got exit code {done.returncode} and {done.stderr}")
    return wrong


def main():
    failures, everywhere, places = [], None, 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        modules = []
        for name, text in (("forward", FORWARD), ("step", STEP)):
            graph = os.path.join(folder, f"{name}-graph.mlir")
            with open(graph, "w", encoding="utf-8") as file:
                file.write(text)
            modules.append(graph)
            for stage in ("cast", "pure", "kernel"):
                modules.append(os.path.join(folder, f"{name}-{stage}.mlir"))
                made = run(graph, f"--stop-after={stage}", "--check-passes", "-o", modules[-1])
                if made.returncode or made.stderr:
                    failures.append(f"the passes up to {stage} are truthful, but: {made.stderr}")
        seen = set()
        failures += named(modules[0])
        for lies, wrong in pool.map(told, modules if not failures else []):
            failures += wrong
            places += len(lies)
            seen |= set(lies)
            everywhere = set(lies) if everywhere is None else everywhere & set(lies)
    failures += [f"{lie} has a place in no module" for lie in sorted(KINDS - seen)]
    failures += [f"{lie} is not told in each module" for lie in sorted(EVERYWHERE - (everywhere or set()))]
    print("\n".join(failures) or f"{places} lies of {len(seen)} kinds are refused")
    return bool(failures)


sys.exit(main())
