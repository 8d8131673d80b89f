#!/usr/bin/env python3
# Changes a copy of the sources and checks which changes alter the code id.
# SPDX-License-Identifier: Apache-2.0
"""Usage: code_id.py CMAKE PROJECT_FOLDER"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

CMAKE, PROJECT = sys.argv.pop(1), sys.argv.pop(1)
EMITTER = "compiler/targets/cpu/Row.cpp"
PASS = "compiler/passes/Simplify.cpp"


class CodeId(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = self.folder.name
        ignored = shutil.ignore_patterns("build", ".git", "tests", "examples", "benchmarks")
        shutil.copytree(PROJECT, self.root, ignore=ignored, dirs_exist_ok=True)
        self.first = self.id()

    def tearDown(self):
        self.folder.cleanup()

    def id(self, llvm="22.1.8"):
        output = os.path.join(self.root, "CodeId.inc")
        subprocess.run([CMAKE, f"-DSOURCE_DIR={self.root}", "-DVERSION=0.2.0", f"-DLLVM_VERSION={llvm}", f"-DOUTPUT={output}",
                        "-P", os.path.join(self.root, "cmake", "CodeId.cmake")], check=True)
        with open(output, encoding="utf-8") as file:
            return re.search(r'#define HALFTONE_CODE_ID "0\.2\.0-([0-9a-f]{16})"', file.read()).group(1)

    def edit(self, path, pattern, replacement):
        with open(os.path.join(self.root, path), encoding="utf-8") as file:
            text = file.read()
        changed = re.sub(pattern, replacement, text, count=1, flags=re.M)
        self.assertNotEqual(text, changed)
        with open(os.path.join(self.root, path), "w", encoding="utf-8") as file:
            file.write(changed)

    def test_comments_and_empty_lines_do_not_count(self):
        self.edit(EMITTER, r"\A", "// Another first line; with [brackets] and ; in it.\n\n")
        self.edit(EMITTER, r"^namespace", "\n  // A comment above.\n\n  // And a second one.\nnamespace")
        self.edit(EMITTER, r"\Z", "// The last line.\n")
        self.assertEqual(self.first, self.id())

    def test_a_pass_does_not_count(self):
        self.edit(PASS, r"\Z", "static int unused;\n")
        self.assertEqual(self.first, self.id())

    def test_code_counts(self):
        self.edit(EMITTER, r"\Z", "static int unused;\n")
        second = self.id()
        self.assertNotEqual(self.first, second)
        self.edit("dialect/Attrs.td", r"\Z", "class Another;\n")
        self.assertNotEqual(second, self.id())

    def test_a_new_file_counts(self):
        with open(os.path.join(self.root, "compiler/kernels/Another.h"), "w", encoding="utf-8") as file:
            file.write("#pragma once\n")
        self.assertNotEqual(self.first, self.id())

    def test_the_version_of_llvm_counts(self):
        self.assertNotEqual(self.first, self.id("22.1.9"))


if __name__ == "__main__":
    unittest.main()
