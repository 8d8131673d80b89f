# Reduces modules of 200 ops that show faults of a compiler: each result is small and fails like its module.
# SPDX-License-Identifier: Apache-2.0
"""Usage: reduce.py HALFTONE_REDUCE HALFTONE_OPT PLUGIN FAULT"""
import os
import re
import shlex
import subprocess
import sys
import tempfile

reducer, opt, plugin, fault = sys.argv[1:]
os.environ["LLVM_DISABLE_SYMBOLIZATION"] = "1"  # symbolizing a stack takes longer than the crash
OPS = 200
MOST_OPS = 10

# How the fault of each pass shows: options of halftone-opt, and those of halftone-reduce.
FAULTS = {
    "exchange-operands": (["--check-passes"], ["--says", "--check-passes: exchange-operands changes"]),
    "add-row": ([], ["--says", "'halftone.concat' op"]),
    "crash": ([], ["--exits", "134"]),
}
# The ops at which the passes are wrong, by their position in the module.
TRIGGERS = {
    40: ["%{a}, %{b} = halftone.scan (%{x}, %{y}) {{length = 2 : i64}} : (tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {{\n"
         "  ^bb0(%i: tensor<i32>, %c: tensor<4x8xf32>, %d: tensor<4x8xf32>):\n"
         "    %p = halftone.mul %c, %d : tensor<4x8xf32>\n"
         "    %q = halftone.sub %{z}, %p : tensor<4x8xf32>\n"
         "    %t = halftone.tanh %q : tensor<4x8xf32>\n"
         "    halftone.yield %t, %q : tensor<4x8xf32>, tensor<4x8xf32>\n  }}"],
    90: ["%{a} = halftone.concat %{x}, %{y}, %{z} {{axis = 0 : i64}} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32> to tensor<12x8xf32>",
         "%{b} = halftone.slice %{a} {{start = array<i64: 3, 0>}} : tensor<12x8xf32> to tensor<4x8xf32>"],
    140: ["%{p} = halftone.compare lt %{x}, %{y} : tensor<4x8xf32>", "%{a} = halftone.select %{p}, %{x}, %{z} : tensor<4x8xf32>",
          "%{r} = halftone.reduce max %{a} {{axes = array<i64: 1>}} : tensor<4x8xf32> -> tensor<4xf32>",
          "%{b} = halftone.broadcast %{r} {{axes = array<i64: 0>}} : tensor<4xf32> to tensor<4x8xf32>"],
}
# Other ops between them: each line takes earlier values of its types and computes a new one.
WORK = [
    ["%{b} = halftone.add %{x}, %{y} : tensor<4x8xf32>"],
    ["%{b} = halftone.tanh %{x} : tensor<4x8xf32>"],
    ["%{a} = halftone.reduce sum %{x} {{axes = array<i64: 0>}} : tensor<4x8xf32> -> tensor<8xf32>",
     "%{r} = halftone.broadcast %{a} {{axes = array<i64: 1>}} : tensor<8xf32> to tensor<4x8xf32>",
     "%{b} = halftone.maximum %{r}, %{y} : tensor<4x8xf32>"],
    ["%{w} = halftone.read @w : tensor<8x8xf32>",
     "%{b} = halftone.contract %{x}, %{w} {{lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>"],
    ["%{b} = halftone.minimum %{x}, %{z} : tensor<4x8xf32>"],
    ["%{c} = halftone.constant dense<0.25> : tensor<4x8xf32>", "%{b} = halftone.mul %{x}, %{c} : tensor<4x8xf32>"],
    ["%{b} = halftone.neg %{x} : tensor<4x8xf32>"],
]


def module():
    """A module of OPS ops in one chain, with side branches, two feeds, two fetches and a variable that changes."""
    lines, values, next_line, middle = [], ["x", "y"], 0, 0

    def add(group):
        names = {key: f"v{len(lines)}{key}" for key in "abprwc"}
        names |= {"x": values[-1], "y": values[-2], "z": values[len(values) // 2]}
        lines.extend(line.format(**names) for line in group)
        values.append(names["b"])

    triggers = dict(TRIGGERS)
    while len(lines) < OPS - 1:
        due = [at for at in triggers if at <= len(lines)]
        if due:
            add(triggers.pop(due[0]))
            middle = middle or len(values)  # the value after the first trigger
            continue
        group = WORK[next_line % len(WORK)]
        next_line += 1
        if len(lines) + len(group) < OPS:
            add(group)
    lines.append(f"%grown = halftone.read @w : tensor<8x8xf32>\n  halftone.assign @w, %grown : tensor<8x8xf32>")
    body = "\n  ".join(lines)
    return f"""halftone.variable @w : tensor<8x8xf32> {{path = "w"}}
func.func @main(%x: tensor<4x8xf32> {{halftone.name = "x"}}, %y: tensor<4x8xf32> {{halftone.name = "y"}})
    -> (tensor<4x8xf32> {{halftone.name = "last"}}, tensor<4x8xf32> {{halftone.name = "middle"}}) {{
  {body}
  return %{values[-1]}, %{values[middle]} : tensor<4x8xf32>, tensor<4x8xf32>
}}
"""


def fails(path):
    options, signs = FAULTS[fault]
    ended = subprocess.run([opt, path, f"--load-pass-plugin={plugin}", f"--pass-pipeline=builtin.module({fault})", *options],
                           capture_output=True, text=True, timeout=60)
    return ended.returncode == -6 if signs[0] == "--exits" else signs[1] in ended.stderr


def main():
    options, signs = FAULTS[fault]
    with tempfile.TemporaryDirectory() as folder:
        before, after, again = (os.path.join(folder, name) for name in ("before.mlir", "after.mlir", "again.mlir"))
        with open(before, "w", encoding="utf-8") as file:
            file.write(module())
        command = shlex.join([opt, "%s", f"--load-pass-plugin={plugin}", f"--pass-pipeline=builtin.module({fault})", *options])
        for result in (after, again):
            ended = subprocess.run([reducer, before, "--command", command, f"{signs[0]}={signs[1]}", "-o", result],
                                   capture_output=True, text=True, timeout=120)
            said = re.fullmatch(r"halftone-reduce: (\d+) ops -> (\d+) ops, \d+ tries\n", ended.stderr)
            assert ended.returncode == 0 and said, f"{ended.returncode}: {ended.stderr}"
        print(ended.stderr, end="")
        with open(after, encoding="utf-8") as file:
            text = file.read()
        print(text)
        ops = len(re.findall(r"halftone\.\w+ ", text))
        assert int(said[1]) >= OPS, f"expected a module of {OPS} ops, got {said[1]}"
        assert ops <= MOST_OPS, f"expected at most {MOST_OPS} ops, got {ops}"
        assert "scan" not in text, "expected one step in the place of the loop"
        assert fails(after), "the result does not fail"
        with open(again, encoding="utf-8") as file:
            assert file.read() == text, "the same module and command gave another result"


main()
