#!/usr/bin/env python3
# Runs scripts/compare-code on small recordings: it finds each kind of difference, and ignores permitted ones.
# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
COMPARE = os.path.join(ROOT, "scripts", "compare-code")

# Hashes that depend on the build: keys of 64 digits, whose first 16 name the symbol, and names of kernels.
KEYS = ["1a" * 32, "2b" * 32]
OTHER_KEYS = ["9d" * 32, "0e" * 32]
NAMES = ["loop_" + "3c" * 8, "row_" + "4d" * 8]
ATTRIBUTES = 'attributes {halftone.kind = "loop", halftone.note = "}", halftone.outer = 0 : i64, spec = {tile = 2}}'


def kernel_stage(names=NAMES):
    kernels = "".join(f"  halftone.kernel loop @{name} (tensor<4xf32>) -> tensor<4xf32> {{\n  }}\n" for name in names)
    launches = "".join(f"    halftone.launch @{name}(%x) site \"net/dense (Nets.cpp:7)\"\n" for name in names)
    return f"module {{\n{kernels}  func.func @main(%x: tensor<4xf32>) {{\n{launches}  }}\n}}\n"


def linalg(keys=KEYS, names=NAMES, attributes=ATTRIBUTES):
    texts = [f"// {key}: {name}\nmodule {{\n  func.func @kernel(%a: index) -> tensor<?xf32> {attributes} {{\n    %{i} = f.op\n  }}\n}}\n"
             for i, (key, name) in enumerate(zip(keys, names))]
    return "// -----\n".join(texts)


def plan(keys=KEYS, line=7, extent=4):
    table = "".join(f"  {key}: loop\n" for key in sorted(keys))
    steps = "".join(f"{i}: {key} (s0) -> (s1) grid 1 extents [{extent}] // dense (Nets.cpp:{line}): add\n" for i, key in enumerate(keys))
    return f"plan : 1 feeds, {len(keys)} kernels\n  s0: feed 0 \"x\" 4xf32\n{table}{steps}"


def function(key, name, instruction):
    symbol = f"halftone_{key[:16]}"
    helper = f"{symbol}_product:\n\t{instruction}\n\tretq\n"
    return f"# {key}: {name}, 16 at a time\n{helper}\t.globl\t{symbol}\n{symbol}:\n\tcallq\t{symbol}_product\n\tretq\n\n"


def assembly(keys=KEYS, names=NAMES, instructions=("vaddps", "vmulps")):
    return "".join(map(function, keys, names, instructions))


RECORDING = {"3-kernel.mlir": kernel_stage(), "4-linalg.mlir": linalg(), "5-plan.txt": plan(), "6-target.s": assembly()}


class CompareCode(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.before = self.recording("before", {})

    def recording(self, name, changes):
        """A recording with one net, for one target. A stage that `changes` maps to None is absent."""
        place = os.path.join(self.folder, name)
        os.makedirs(os.path.join(place, "v3", "mlp", "train"))
        for stage, text in {**RECORDING, **changes}.items():
            if text is not None:
                with open(os.path.join(place, "v3", "mlp", "train", stage), "w", encoding="utf-8") as file:
                    file.write(text)
        return place

    def run_compare(self, *arguments):
        return subprocess.run([sys.executable, COMPARE, *arguments], capture_output=True, text=True, check=False)

    def expect(self, code, words, *arguments):
        result = self.run_compare(*arguments)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        for word in words:
            self.assertIn(word, result.stdout + result.stderr)
        return result.stdout

    def expect_change(self, changes, *words):
        """Checks that these changes are one difference, found by folder and by table."""
        after = self.recording("after", changes)
        self.expect(1, ["3 equal, 1 differ", *words], self.before, after)
        self.expect(1, ["3 equal, 1 differ"], after, self.table(self.before))

    def table(self, folder):
        path = folder + ".txt"
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.expect(0, ["target v3: "], "--table", folder))
        return path

    def test_equal_recordings(self):
        after = self.recording("after", {})
        self.expect(0, ["v3: 4 files, 2 kernels; 4 equal, 0 differ"], self.before, after)
        self.expect(0, ["v3: 4 files, 2 kernels; 4 equal, 0 differ"], after, self.table(self.before))
        self.assertEqual(self.expect(0, [], "--table", self.before), self.expect(0, [], "--table", after))

    def test_other_keys_names_lines_and_order_are_equal(self):
        names = ["loop_" + "f0" * 8, "row_" + "e1" * 8]
        after = self.recording("after", {
            "3-kernel.mlir": kernel_stage(names).replace("Nets.cpp:7", "Nets.cpp:9"), "4-linalg.mlir": linalg(OTHER_KEYS, names),
            "5-plan.txt": plan(OTHER_KEYS, line=12), "6-target.s": assembly(OTHER_KEYS, names)})
        self.expect(0, ["4 equal, 0 differ"], self.before, after)
        self.expect(0, ["4 equal, 0 differ"], after, self.table(self.before))

    def test_reordered_functions_are_equal(self):
        turned = [list(reversed(each)) for each in (KEYS, NAMES, ("vaddps", "vmulps"))]
        self.assertNotEqual(assembly(*turned), assembly())
        after = self.recording("after", {"6-target.s": assembly(*turned)})
        self.expect(0, ["4 equal, 0 differ"], self.before, after)
        self.expect(0, ["4 equal, 0 differ"], after, self.table(self.before))

    def test_a_changed_instruction(self):
        self.expect_change({"6-target.s": assembly(instructions=("vaddps", "vsubps"))}, "-\tvmulps", "+\tvsubps",
                           "2 and 2 kernels, 1 only before and 1 only after")

    def test_a_missing_kernel(self):
        self.expect_change({"6-target.s": function(KEYS[0], NAMES[0], "vaddps")}, "2 and 1 kernels, 1 only before and 0 only after",
                           "4 files, 2 kernels before, 4 files, 1 kernels after")

    def test_a_kernel_twice(self):
        self.expect_change({"6-target.s": assembly() + function(KEYS[1], NAMES[1], "vmulps")}, "0 only before and 1 only after")

    def test_a_changed_step(self):
        self.expect_change({"5-plan.txt": plan(extent=5)}, "extents [5]")

    def test_steps_that_launch_another_kernel(self):
        self.expect_change({"5-plan.txt": plan([KEYS[0], KEYS[0]])})

    def test_a_launch_of_another_kernel(self):
        self.expect_change({"3-kernel.mlir": kernel_stage().replace(f"launch @{NAMES[1]}", f"launch @{NAMES[0]}")}, "launch @loop_h0")

    def test_a_missing_file(self):
        self.expect_change({"5-plan.txt": None}, "v3/mlp/train/5-plan.txt: is missing after")

    def test_a_missing_net(self):
        after = self.recording("after", {})
        os.rename(os.path.join(after, "v3", "mlp"), os.path.join(after, "v3", "gpt"))
        self.expect(1, ["v3/gpt: is missing before", "v3/mlp: is missing after", "0 equal, 2 differ"], self.before, after)
        self.expect(1, ["0 equal, 2 differ"], self.table(self.before), after)

    def test_a_missing_target(self):
        after = self.recording("after", {})
        os.rename(os.path.join(after, "v3"), os.path.join(after, "v4"))
        self.expect(1, ["v3: ", "v4: "], self.before, after)

    def test_attributes_are_left_out_when_asked(self):
        changed = self.recording("after", {"4-linalg.mlir": linalg(attributes="attributes {halftone.kind = \"row\"}")})
        self.expect(1, ["3 equal, 1 differ"], self.before, changed)
        self.expect(0, ["4 equal, 0 differ"], self.before, changed, "--ignore-attributes")
        self.expect(0, ["1 equal, 0 differ"], self.before, changed, "--ignore-attributes", "4-linalg.mlir")
        body = self.recording("body", {"4-linalg.mlir": linalg().replace("f.op", "f.other")})
        self.expect(1, ["3 equal, 1 differ"], self.before, body, "--ignore-attributes")

    def test_one_stage_of_a_quick_recording(self):
        quick = self.recording("quick", {stage: None for stage in RECORDING if stage != "3-kernel.mlir"})
        self.expect(1, ["1 equal, 3 differ"], self.before, quick)
        self.expect(0, ["1 equal, 0 differ"], self.before, quick, "3-kernel.mlir")
        self.expect(0, ["1 equal, 0 differ"], self.table(self.before), quick, "3-kernel.mlir")
        self.expect(2, ["neither recording has a file of 5-plan.txt"], quick, quick, "5-plan.txt")

    def test_bad_use(self):
        empty = os.path.join(self.folder, "empty")
        os.makedirs(empty)
        flat = self.recording("flat", {})
        with open(os.path.join(flat, "v3", "5-plan.txt"), "w", encoding="utf-8") as file:
            file.write(plan())
        prose = os.path.join(self.folder, "prose.txt")
        with open(prose, "w", encoding="utf-8") as file:
            file.write("target v3\nmlp is a net\n")
        self.expect(2, ["expected two recordings"], self.before)
        self.expect(2, ["no stage '7-link.s'"], self.before, self.before, "7-link.s")
        self.expect(2, ["found no file of a stage"], self.before, empty)
        self.expect(2, ["is not below <target>/<net>/"], self.before, flat)
        self.expect(2, ["cannot be read"], self.before, os.path.join(self.folder, "nowhere"))
        self.expect(2, ["prose.txt:2: expected a row"], self.before, prose)
        self.expect(2, ["--targets: expected some of v3"], self.before, self.before, "--targets", "v9")
        self.expect(2, ["--ignore-attributes: expected two folders"], self.before, self.table(self.before), "--ignore-attributes")
        self.expect(2, ["expected one folder"], "--table", self.before, self.before)

    def test_the_kept_table_can_be_read(self):
        kept = os.path.join(ROOT, "benchmarks", "results", "recorded-code.txt")
        self.expect(0, ["sm_80: ", "neoverse-n1: ", "0 differ"], kept, kept)


if __name__ == "__main__":
    unittest.main()
