#!/usr/bin/env python3
# Runs the code blocks of one documentation page in order, in a folder of the page.
# SPDX-License-Identifier: Apache-2.0
"""Usage: doc_blocks.py ROOT BUILD_FOLDER COMPILER PAGE

  cpp    a whole program if it has a main(), otherwise statements in one, after the block's `given`; compiled and run
  sh     run by bash, which stops at the first failing command, with the tools of the build in PATH
  cmake  configured as a project, against the package that tests/consume installs
  json   read by Python; mlir: by halftone-opt
  text   not checked, except for lines of a block that is noted as printed

tools/doc_pages.py describes the notes. The folder has a link to the project's examples. Shell blocks see HALFTONE_SOURCE,
HALFTONE_BUILD and HALFTONE_PREFIX: the root, the build folder and the installed package. A block that is noted as not run
is checked as far as its language permits, and printed with the reason.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools"))
sys.dont_write_bytecode = True
import doc_pages  # noqa: E402

FRAGMENT = """{includes}#include <halftone/Halftone.h>
#include <iostream>
using namespace halftone;
using namespace halftone::layers;
int main() {{
{given}
#line {line} "{page}"
{text}}}
"""


class Failure(Exception):
    pass


def run(command, **options):
    """The output of a command, which must end with `status`; the output of the test shows both."""
    status = options.pop("status", 0)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", **options)
    if done.returncode != status:
        raise Failure(f"exit status {done.returncode}; expected {status}\n{done.stdout}")
    return done.stdout


def source_of(page, block):
    """The C++ file of a block. Lines of its `given` that begin a preprocessor directive come before the others."""
    if re.search(r"\bint main\(", block.text):
        return f'#line {block.line} "{page}"\n{block.text}'
    given = block.notes.get("given", "")
    includes = "".join(line + "\n" for line in given.split("\n") if line.startswith("#"))
    inside = "\n".join(line for line in given.split("\n") if not line.startswith("#"))
    return FRAGMENT.format(includes=includes, given=inside, line=block.line, page=page, text=block.text)


def is_header(block):
    """A header is compiled with the programs that include it."""
    return block.notes.get("file", "").endswith(".h")


class PageRun:
    def __init__(self, root, build, compiler, page):
        self.root, self.build, self.compiler, self.page = map(str, (root, build, compiler, page))
        name = os.path.splitext(os.path.basename(page))[0]
        self.folder = os.path.join(build, "tests", "docs", name)
        self.prefix = os.path.join(build, "tests", "consume", "prefix")
        self.blocks = doc_pages.read_page(os.path.join(root, page)).blocks
        self.printed = None  # the output of the last block that ran

    def prepare(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(os.path.join(self.folder, ".blocks"))
        os.symlink(os.path.join(self.root, "examples"), os.path.join(self.folder, "examples"))
        for block in self.blocks:
            if "file" in block.notes:
                with open(os.path.join(self.folder, block.notes["file"]), "w", encoding="utf-8") as file:
                    file.write(block.text)

    def environment(self):
        tools = [folder for folder in glob.glob(os.path.join(self.build, "tools", "*")) if os.path.isdir(folder)]
        return {**os.environ, "PATH": os.pathsep.join([*tools, os.environ["PATH"]]), "HALFTONE_SOURCE": self.root,
                "HALFTONE_BUILD": self.build, "HALFTONE_PREFIX": self.prefix, "CMAKE_PREFIX_PATH": self.prefix}

    def own(self, block, suffix=""):
        return os.path.join(self.folder, ".blocks", f"line-{block.line}{suffix}")

    def compile(self, block):
        """Compiles a block of C++. Returns the failure, or None."""
        source = self.own(block, ".cpp")
        with open(source, "w", encoding="utf-8") as file:
            file.write(source_of(self.page, block))
        command = [self.compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-Wno-unused", "-I", os.path.join(self.root, "include"), "-I", self.folder, source]
        if "not run" in block.notes:
            command += ["-fsyntax-only"]
        else:
            command += ["-L", self.build, "-lhalftone", f"-Wl,-rpath,{self.build}", "-pthread", "-o", self.own(block)]
        try:
            run(command)
        except Failure as failure:
            return failure
        return None

    def compile_all(self):
        programs = [block for block in self.blocks if block.language == "cpp" and not is_header(block)]
        with ThreadPoolExecutor(2) as pool:
            return {block.line: failure for block, failure in zip(programs, pool.map(self.compile, programs))}

    def run_cpp(self, block):
        return run([self.own(block)], cwd=self.folder, env=self.environment())

    def run_sh(self, block):
        shell = ["bash", "-euo", "pipefail"] + (["-n"] if "not run" in block.notes else [])
        text = f"{block.notes.get('given', '')}\n{block.text}"
        return run([*shell, "-c", text], cwd=self.folder, env=self.environment(), status=int(block.notes.get("exit", 0)))

    def run_cmake(self, block):
        project = self.own(block)
        os.makedirs(project)
        head = "" if "project(" in block.text else "cmake_minimum_required(VERSION 3.20)\nproject(page LANGUAGES CXX)\n"
        with open(os.path.join(project, "CMakeLists.txt"), "w", encoding="utf-8") as file:
            file.write(f"{head}{block.notes.get('given', '')}\n{block.text}")
        return run(["cmake", "-G", "Ninja", "-S", project, "-B", os.path.join(project, "build"), f"-DCMAKE_PREFIX_PATH={self.prefix}",
                    f"-DCMAKE_CXX_COMPILER={self.compiler}"], env=self.environment())

    def run_json(self, block):
        json.loads(block.text)
        return ""

    def run_mlir(self, block):
        return run(["halftone-opt", "-"], input=block.text, env=self.environment())

    def check_text(self, block):
        if "printed" not in block.notes:
            return
        if self.printed is None:
            raise Failure("expected a block before it that ran")
        rest = self.printed
        for line in block.text.splitlines():
            form = ".*".join(re.escape(part.strip()) for part in line.split("...")) if line.strip() else ""
            found = re.search(form, rest)
            if not found:
                raise Failure(f"the block before does not print, after the lines above:\n{line}\nIt prints:\n{self.printed}")
            rest = rest[found.end():]

    def check(self, block, failures):
        if block.language == "text":
            self.check_text(block)
            return
        if is_header(block):
            return
        if failures.get(block.line):
            raise failures[block.line]
        runs = "not run" not in block.notes
        if not runs:
            print(f"SKIP {self.page}:{block.line}: {block.notes['not run']}", flush=True)
        if runs or block.language != "cpp":
            self.printed = getattr(self, f"run_{block.language}")(block)
        if runs:
            print(f"ran  {self.page}:{block.line}: {block.language}", flush=True)

    def main(self):
        self.prepare()
        failures = self.compile_all()
        found = 0
        for block in self.blocks:
            try:
                if "not run" in block.notes and not block.notes["not run"]:
                    raise Failure("`not run` without a reason")
                self.check(block, failures)
            except (Failure, ValueError, AttributeError) as failure:
                found += 1
                print(f"{self.page}:{block.line}: {block.language or '(no language)'}: {failure}", flush=True)
        print(f"{self.page}: {len(self.blocks)} blocks, {found} findings")
        return 1 if found else 0


if __name__ == "__main__":
    sys.exit(PageRun(*sys.argv[1:]).main() if len(sys.argv) == 5 else __doc__)
