#!/usr/bin/env python3
# Checks the rules of the project that a compiler does not: include arrows, sizes, first lines, names, lists, tests, pages.
# SPDX-License-Identifier: Apache-2.0
"""Usage: house_check.py [ROOT]

Prints `file:line: what was found; expected ...` for each finding and exits 1 when there is one. The table of rooms
below is that of docs/architecture.md.
"""
import os
import re
import sys
from collections import namedtuple

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True  # no __pycache__ in the tree
import identifier_rules  # noqa: E402
import target_rules  # noqa: E402
from doc_rules import DocRules  # noqa: E402

Room = namedtuple("Room", "below third_party")

# Each room -> the rooms that it may include (itself always), and its third-party header prefixes.
TEXT = ("fmt/", "nlohmann/")
MLIR = ("mlir/", "llvm/")
ROOMS = {
    "runtime/base": Room((), TEXT + ("libdeflate.h",)),
    "runtime/policy": Room(("runtime/base",), TEXT + ("pcre2.h",)),
    "runtime/plan": Room(("runtime/base",), TEXT),
    "runtime": Room(("runtime/base", "runtime/plan"), TEXT),
    "runtime/loader": Room(("runtime/base", "runtime/plan", "runtime"), TEXT + ("llvm/",)),
    "dialect": Room(("runtime/base", "runtime/policy"), TEXT + MLIR),
    "compiler": Room(("runtime/base", "runtime/policy", "runtime/plan", "dialect"), TEXT + MLIR),
    "frontend": Room(
        ("runtime/base", "runtime/policy", "runtime/plan", "runtime", "runtime/loader", "dialect", "compiler"),
        TEXT + ("zip.h", "zlib.h")),
}
# Each folder of the compiler -> the folders that it may include (itself always). Only Target.cpp knows a kind of
# target.
COMPILER_FOLDERS = {
    "compiler/order": (),
    "compiler/kernels": (),
    "compiler/reports": (),
    "compiler/targets": ("compiler/kernels",),
    "compiler/codegen": ("compiler/kernels", "compiler/targets"),
    "compiler/forms": ("compiler/kernels", "compiler/targets"),
    "compiler/fusion": ("compiler/forms", "compiler/kernels", "compiler/order", "compiler/reports", "compiler/targets"),
    "compiler/passes": (
        "compiler/forms", "compiler/fusion", "compiler/kernels", "compiler/order", "compiler/reports", "compiler/targets"),
}
# Each folder of the frontend -> the folders that it may include (itself always). Losses, metrics, optimizers and data need
# little of the folders above them; callbacks and report do not know each other. All sources stand in a folder.
FRONTEND_FOLDERS = {
    "frontend/base": (),
    "frontend/graph": ("frontend/base",),
    "frontend/ops": ("frontend/base", "frontend/graph"),
    "frontend/layers": ("frontend/base", "frontend/graph", "frontend/ops"),
    "frontend/losses": ("frontend/base", "frontend/graph", "frontend/ops"),
    "frontend/metrics": ("frontend/base", "frontend/graph", "frontend/ops", "frontend/losses"),
    "frontend/optimizers": ("frontend/base", "frontend/graph"),
    "frontend/data": ("frontend/base",),
    "frontend/training": (
        "frontend/base", "frontend/graph", "frontend/ops", "frontend/layers", "frontend/losses", "frontend/metrics",
        "frontend/optimizers", "frontend/data"),
}
FRONTEND_FOLDERS["frontend/applications"] = (*FRONTEND_FOLDERS["frontend/training"], "frontend/training")
FRONTEND_FOLDERS["frontend/io"] = (*FRONTEND_FOLDERS["frontend/training"], "frontend/training")
FRONTEND_FOLDERS["frontend/callbacks"] = (*FRONTEND_FOLDERS["frontend/io"], "frontend/io")
FRONTEND_FOLDERS["frontend/report"] = FRONTEND_FOLDERS["frontend/io"]
FOLDERS = {"compiler": COMPILER_FOLDERS, "frontend": FRONTEND_FOLDERS}
TARGET_KIND = re.compile(r"compiler/targets/\w+/")
KNOWS_TARGET_KINDS = "compiler/targets/Target.cpp"
# What kinds of GPUs share is a folder that each of them may include.
TARGET_KINDS_BELOW = {"compiler/targets/nvptx/": "compiler/targets/gpu/"}
# The public headers that rooms below the frontend may include.
VOCABULARY = {
    "Version", "Error", "DType", "Number", "Shape", "Indexing", "Choice", "Config", "Device", "Tensor", "Policy", "Legacy",
    "Reports"}
PUBLIC = "include/halftone"
SLOW_IN_PUBLIC_HEADERS = {"iostream", "regex", "filesystem", "map", "ranges", "chrono"}
# The files whose contents identify code generation, and the sources of generated files that it may include.
CODE_ID = "cmake/CodeId.cmake"
GENERATED_FROM = {"dialect/Enums.h.inc": "dialect/Attrs.td", "compiler/codegen/BuildId.inc": None, "compiler/codegen/CodeId.inc": None}
NARROW_PARAMETER = re.compile(r"[(,]\s*(?:const )?(?:int|unsigned|short|long|u?int(?:8|16|32)_t)( \w+)?\s*[,)=]")
NARROW_AND_RIGHT = ("unsigned line", "Device(Kind kind", "operator++(int)")  # compilers' lines, a private constructor, postfix
SYSTEM_HEADERS = re.compile(r"sys/|(unistd|fcntl|pthread|sched|spawn|dlfcn|errno|stdio_ext|cpuid|cxxabi|\w*intrin)\.h$")

# Files are opened for reading in one place, which refuses those that block or have no end, and written in another, where no
# limit and no closed pipe ends the process. Each file here may call the system itself.
OPENS_FILES = {
    "runtime/base/OpenFile.cpp": "opens files for reading",
    "runtime/base/WriteFile.cpp": "writes files",
    "runtime/base/MappedFile.cpp": "maps files that OpenFile has opened",
    "tools/halftone-h5/Image.cpp": "maps the file that the library hands over",
    "tools/halftone-h5/halftone-h5.cpp": "lays out the file that the library hands over",
    "tools/shell/Streams.cpp": "gives /dev/null to standard streams that are closed",
}
FILE_CALL = re.compile(
    r"<fstream>|\bstd::[io]?fstream\b|\bf(?:re)?open\s*\(|(?<![\w:])::(?:open|openat|creat|p?write|p?writev|ftruncate)\s*\(|\bgzopen\s*\("
    r"|\bdlopen\s*\(|\bmmap\s*\(|\bmkstemp\s*\(|\bopen(?:In|Out)putFile\s*\(|\bMemoryBuffer::getFile|\bToolOutputFile\b|\bH5F(?:open|create)\s*\("
    r"|\braw_fd_ostream\s+\w+\s*[({]|\bSourceMgr::AddIncludeFile|\bparseSourceFile\b")

MAX_LINES = 500
SKIPPED_FOLDERS = {"build", "__pycache__", ".git"}
EMPTY_NAMES = {"util", "utils", "common", "helper", "helpers", "misc"}
GENERATED_SUFFIXES = (".inc", ".o", ".a", ".so", ".pyc", ".orig", ".rej")
GENERATED_MARK = re.compile(r"@generated|do not edit|automatically generated|autogenerated", re.I)

# Folders of tests/ whose files have the names of sources in the folder of the same name. Files in all other folders
# have the names of their subjects.
MIRRORED = {"runtime", "dialect", "compiler", "frontend", "tools"}
FREE_TESTS = ("tests/distributed/", "tests/emulator/", "tests/end_to_end/", "tests/programs/", "tests/consume/", "tests/frontend/rejected/")
# Test files about several sources at once.
TESTS_OF_MANY = {"tests/compiler/nvptx/Mutations.cpp", "tests/compiler/nvptx/Wavefronts.cpp",
                 "tests/frontend/KerasChecksLayers.cpp",
                 "tests/frontend/KerasAttention.cpp", "tests/frontend/KerasChecksOptimizers.cpp",
                 "tests/frontend/KerasChecksQuantized.cpp",
                 "tests/frontend/KerasCnns.cpp", "tests/frontend/KerasLayers.cpp", "tests/frontend/KerasRecurrent.cpp",
                 "tests/frontend/KerasStrings.cpp",
                 "tests/frontend/KerasCustomRule.cpp", "tests/frontend/KerasMetrics.cpp",
                 "tests/runtime/devices/Conformance.cpp", "tests/runtime/policy/KerasChecks.cpp",
                 "tests/runtime/policy/RandomInput.cpp"}

# The frontend's files that may include MLIR.
TRACE = re.compile(r"frontend/graph/Trace\w*\.(h|cpp)")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def walk(root):
    """Files under root as sorted relative paths with forward slashes."""
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if f not in SKIPPED_FOLDERS)
        found += [os.path.relpath(os.path.join(folder, n), root).replace(os.sep, "/") for n in names]
    return sorted(found)


def room_of(path):
    """The innermost room that holds path, or None (tools, tests, examples, ...)."""
    return max((r for r in ROOMS if path.startswith(r + "/")), key=len, default=None)


def folder_of(path):
    """The folder inside its room that holds path, or the room if it holds path itself or has no such folders."""
    room = room_of(path)
    return next((f for f in FOLDERS.get(room, ()) if path.startswith(f + "/")), room)


def is_source(path):
    return path.endswith((".h", ".cpp"))


def words_of(name):
    """The words of a file or folder name: FooUtils.h, foo_utils and foo-utils all have `utils`."""
    return [w.lower() for w in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)]


class House:
    def __init__(self, root):
        self.root = root
        self.files = walk(root)
        self.known = set(self.files)
        self.paths = {}
        self.findings = []
        self.texts = {}

    def lines(self, path):
        if path not in self.texts:
            with open(os.path.join(self.root, path), encoding="utf-8", errors="replace") as file:
                self.texts[path] = file.read().split("\n")
        return self.texts[path]

    def report(self, path, line, text):
        self.findings.append(f"{path}:{line}: {text}")

    def target_of(self, path, include):
        """The project path that a quoted include names, or None when it is no file of ours."""
        if include.startswith("halftone/"):
            return f"include/{include}"
        for base in (os.path.dirname(path), ""):
            target = os.path.normpath(os.path.join(base, include)).replace(os.sep, "/")
            if target in self.known:
                return target
        return include if include.endswith(".inc") and room_of(include) else None  # generated: by its path from the root

    def check_includes(self):
        for path in filter(is_source, self.files):
            for number, line in enumerate(self.lines(path), 1):
                match = INCLUDE.match(line)
                if not match:
                    continue
                include = match.group(2)
                target = self.target_of(path, include)
                if path.startswith(PUBLIC + "/"):
                    self.check_public_include(path, number, include, target)
                elif path.startswith(("examples/", "benchmarks/")):
                    self.check_user_include(path, number, target)
                elif room_of(path):
                    self.check_room_include(path, number, include, target)

    def check_public_include(self, path, number, include, target):
        if target and not target.startswith(PUBLIC + "/"):
            self.report(path, number, f"a public header includes {target}; expected only std and public headers")
        elif not target and ("/" in include or "." in include):
            self.report(path, number, f"a public header includes <{include}>; expected only std and public headers")
        elif not target and include in SLOW_IN_PUBLIC_HEADERS:
            self.report(path, number, f"a public header includes <{include}>; expected none that is slow to compile")

    def check_user_include(self, path, number, target):
        if target and room_of(target) and not target.startswith(PUBLIC + "/"):
            self.report(path, number, f"includes {target}; expected public headers only (<halftone/...>)")

    def check_folder_include(self, path, number, target):
        """Folders inside a room stand in floors too; files of compiler/ itself may include all of its folders."""
        room = room_of(path)
        own, other = folder_of(path), folder_of(target)
        if own not in (other, room) and other not in FOLDERS[room][own]:
            self.report(path, number, f"{own} includes {target}; expected includes inside the {room} to point down: "
                        + (", ".join(FOLDERS[room][own]) or "nothing"))
        kind = TARGET_KIND.match(target)
        own_kind = TARGET_KIND.match(path)
        below = TARGET_KINDS_BELOW.get(own_kind.group()) if own_kind else None
        if kind and kind.group() not in (own_kind and own_kind.group(), below) and path != KNOWS_TARGET_KINDS:
            self.report(path, number, f"includes {target}; expected only {KNOWS_TARGET_KINDS} to know a kind of target")

    def check_room_include(self, path, number, include, target):
        room = room_of(path)
        rule = ROOMS[room]
        if target and target.startswith(PUBLIC + "/"):
            stem = os.path.splitext(os.path.basename(target))[0]
            if room != "frontend" and stem not in VOCABULARY:
                self.report(path, number, f"{room} includes the public header {stem}.h; below the frontend expected "
                            "one of " + ", ".join(sorted(VOCABULARY)))
        elif target:
            other = room_of(target)
            if room == other and room in FOLDERS:
                self.check_folder_include(path, number, target)
            if other is None:
                self.report(path, number, f"{room} includes {target}; expected includes of rooms only")
            elif other != room and other not in rule.below:
                self.report(path, number, f"{room} includes {target}; expected includes to point down: "
                            + (", ".join(rule.below) or "nothing") + " (docs/architecture.md)")
        elif "/" in include or include.endswith(".h"):
            allowed = rule.third_party
            if room == "frontend" and include.startswith(MLIR):
                return  # check_frontend_without_mlir follows the headers between
            if not include.startswith(allowed) and not SYSTEM_HEADERS.match(include):
                self.report(path, number, f"{room} includes {include}; expected outside headers only from "
                            + ", ".join(allowed))

    def path_to_mlir(self, path):
        """The first include of path that leads to an MLIR header, as (line, what it leads to), or None."""
        if path not in self.paths:
            self.paths[path] = None  # this entry also ends a cycle
            for number, line in enumerate(self.lines(path), 1):
                match = INCLUDE.match(line)
                if not match:
                    continue
                target = self.target_of(path, match.group(2))
                if match.group(2).startswith(MLIR):
                    self.paths[path] = (number, match.group(2))
                elif target in self.known and is_source(target) and self.path_to_mlir(target):
                    self.paths[path] = (number, f"{self.path_to_mlir(target)[1]} through {target}")
                if self.paths[path]:
                    break
        return self.paths[path]

    def check_frontend_without_mlir(self):
        for path in self.files:
            if room_of(path) == "frontend" and is_source(path) and not TRACE.fullmatch(path) and self.path_to_mlir(path):
                line, header = self.path_to_mlir(path)
                self.report(path, line, f"includes {header}; in the frontend expected MLIR and LLVM only in graph/Trace*")

    def check_frontend_folders(self):
        for path in filter(is_source, self.files):
            if room_of(path) == "frontend" and folder_of(path) == "frontend":
                self.report(path, 1, "is in no folder of the frontend; expected one of " + ", ".join(FRONTEND_FOLDERS))

    def check_code_id(self):
        """The code id hashes each header of ours that code generation includes, but for those that cannot matter."""
        text = "\n".join(self.lines(CODE_ID)) if CODE_ID in self.known else ""
        lists = {name: words.split() for name, words in re.findall(r"set\((HALFTONE_CODE_\w+)([^)]*)\)", text)}
        folders = tuple(folder + "/" for folder in lists.get("HALFTONE_CODE_FOLDERS", ()))
        named = lists.get("HALFTONE_CODE_FILES", []) + lists.get("HALFTONE_CODE_NEUTRAL_FILES", [])
        for path in named:
            if path not in self.known:
                self.report(CODE_ID, 1, f"names {path}; expected files that exist")
        if not folders and any(path.startswith("compiler/codegen/") for path in self.files):
            self.report(CODE_ID, 1, "no list HALFTONE_CODE_FOLDERS; expected the folders that generate code")
        waiting = [path for path in self.files if folders and path.startswith(folders) and is_source(path)]
        seen = set(waiting)
        for path in waiting:
            for number, line in enumerate(self.lines(path), 1):
                match = INCLUDE.match(line)
                target = match and self.target_of(path, match.group(2))
                target = GENERATED_FROM.get(target, target)
                if not target or target in seen:
                    continue
                seen.add(target)
                if target not in named and not target.startswith(folders):
                    self.report(path, number, f"code generation includes {target}; expected it in a list of {CODE_ID}")
                if target in self.known and is_source(target):
                    waiting.append(target)

    def check_file_calls(self):
        """Sources of the library and of the tools open and write files in the places of OPENS_FILES alone."""
        for path in filter(is_source, self.files):
            if path in OPENS_FILES or not (room_of(path) or path.startswith((PUBLIC + "/", "tools/"))):
                continue
            for number, line in enumerate(self.lines(path), 1):
                call = FILE_CALL.search(line.split("//")[0])
                if call:
                    self.report(path, number, f"{call.group().strip()}: a file of its own; expected openFile() or readFile() "
                                "(runtime/base/OpenFile.h), or a function of runtime/base/WriteFile.h")

    def check_sizes(self):
        for path in self.files:
            if path.endswith((".h", ".cpp", ".td", ".py", ".cmake", ".mlir", "CMakeLists.txt")):
                count = len(self.lines(path)) - (self.lines(path)[-1] == "")
                if count > MAX_LINES:
                    self.report(path, count, f"{count} lines; expected at most {MAX_LINES}, split by meaning")

    def check_first_lines(self):
        for path in self.files:
            script = path.startswith(("scripts/", ".ci/"))
            if not (script or path.endswith((".h", ".cpp", ".td", ".py", ".cmake", ".cmake.in", "CMakeLists.txt"))):
                continue
            lines = self.lines(path)
            first = 1 if lines[0].startswith("#!") else 0
            head = lines[first] if len(lines) > first else ""
            if not re.match(r"(//|#)\s*\S", head) or "SPDX" in head:
                self.report(path, first + 1, "expected a comment that says what the file is for")
            rest = lines[first + 1] if len(lines) > first + 1 else ""
            if "SPDX" not in head and "SPDX-License-Identifier: Apache-2.0" not in rest:
                self.report(path, first + 2, "expected `SPDX-License-Identifier: Apache-2.0` after the first comment")
            if path.endswith(".h") and "#pragma once" not in lines:
                self.report(path, 1, "expected `#pragma once`")

    def check_mirrored_tests(self):
        stems = {}
        for path in self.files:
            if path.endswith((".h", ".cpp", ".td", ".py")) and not path.startswith("tests/"):
                stems.setdefault(path.split("/")[0], set()).add(os.path.splitext(os.path.basename(path))[0])
        for path in self.files:
            parts = path.split("/")
            if not path.startswith("tests/") or not path.endswith(".cpp") or len(parts) < 3:
                continue
            if path.startswith(FREE_TESTS) or path in TESTS_OF_MANY or path[:-4] + ".h" in self.known:
                continue  # a file with a header of its own serves other tests
            kind = parts[1]
            stem = os.path.splitext(parts[-1])[0]
            if kind not in MIRRORED:
                self.report(path, 1, f"tests/{kind} is not a kind of test; expected one of "
                            + ", ".join(sorted(MIRRORED) + [f.split('/', 1)[1].rstrip('/') for f in FREE_TESTS]))
            elif stem not in stems.get(kind, set()):
                self.report(path, 1, f"no source {stem} in {kind}/; expected a test to be named after what it tests")

    def check_cmake_lists(self):
        lists = {p: "\n".join(re.sub(r"#.*", "", line) for line in self.lines(p))
                 for p in self.files if os.path.basename(p) == "CMakeLists.txt" or p.endswith(".cmake")}
        for path, text in lists.items():
            for number, line in enumerate(text.split("\n"), 1):
                if re.search(r"file\s*\(\s*GLOB.*\.cpp", line, re.I):
                    self.report(path, number, "file(GLOB) of sources; expected a list that names every one")
        for path in self.files:
            if path.endswith(".cpp") and not self.is_listed(path, lists):
                self.report(path, 1, "in no CMakeLists.txt; expected its folder's (or a folder's above) to name it")

    @staticmethod
    def is_listed(path, lists):
        folder = os.path.dirname(path)
        while True:
            text = lists.get(f"{folder}/CMakeLists.txt" if folder else "CMakeLists.txt")
            if text is not None:
                relative = path[len(folder) + 1:] if folder else path
                name = re.escape(os.path.splitext(relative)[0])
                if re.search(rf"(?<![\w./-]){name}(\.cpp)?(?![\w./-])", text):
                    return True
            if not folder:
                return False
            folder = os.path.dirname(folder)

    def check_names(self):
        for path in self.files:
            for part in path.split("/"):
                bad = EMPTY_NAMES.intersection(words_of(os.path.splitext(part)[0]))
                if bad:
                    self.report(path, 1, f"the name says `{sorted(bad)[0]}`; expected a name that tells the subject")

    def check_generated(self):
        for path in self.files:
            if path.endswith(GENERATED_SUFFIXES) or os.path.basename(path) == "compile_commands.json":
                self.report(path, 1, "a generated file; expected it in the build folder only")
            elif path.endswith((".h", ".cpp", ".td", ".cmake")):
                for number, line in enumerate(self.lines(path)[:5], 1):
                    if GENERATED_MARK.search(line):
                        self.report(path, number, "marked as generated; expected no generated file in the tree")

    def check_public_integers(self):
        """Public functions take int64_t, or any integer by a template (detail::Whole): a narrower one changes numbers silently."""
        for path in self.files:
            if path.startswith(PUBLIC + "/"):
                for number, line in enumerate(self.lines(path), 1):
                    if NARROW_PARAMETER.search(line) and not any(word in line for word in NARROW_AND_RIGHT):
                        self.report(path, number, "a parameter narrower than 64 bits; expected int64_t or detail::Whole")

    def check_user_lines(self):
        """Errors, locations and reports name lines of users: Where's default is no line in the library (HALFTONE_INSIDE)."""
        for path in self.files:
            if is_source(path) and path.startswith(("dialect/", "compiler/", "frontend/", "runtime/", "tools/")):
                for number, line in enumerate(self.lines(path), 1):
                    if re.search(r"Where::current\(|__builtin_FILE|__FILE__|source_location", line):
                        self.report(path, number, "a line of the library's own source; expected only lines of users")

    def check_docs(self):
        for path, line, text in DocRules(self.root, self.known).findings():
            self.report(path, line, text)

    def check_targets(self):
        for path, line, text in target_rules.findings(self.files, self.lines):
            self.report(path, line, text)

    def check_identifiers(self):
        for path, line, text in identifier_rules.findings(self.files, self.lines):
            self.report(path, line, text)

    def check_environment(self):
        """One header reads environment variables: so their errors have one form."""
        for path in self.files:
            if path.startswith(("runtime/", "dialect/", "compiler/", "frontend/", "tools/")) and path.endswith((".h", ".cpp")):
                for number, line in enumerate(self.lines(path), 1):
                    if re.search(r"\b(secure_)?getenv\(", line) and path != "runtime/base/Environment.h":
                        self.report(path, number, "reads an environment variable; expected environmentValue() of runtime/base/Environment.h")

    def check(self):
        self.check_includes()
        self.check_environment()
        self.check_frontend_without_mlir()
        self.check_frontend_folders()
        self.check_code_id()
        self.check_file_calls()
        self.check_sizes()
        self.check_first_lines()
        self.check_names()
        self.check_identifiers()
        self.check_generated()
        self.check_cmake_lists()
        self.check_mirrored_tests()
        self.check_public_integers()
        self.check_user_lines()
        self.check_targets()
        self.check_docs()
        return self.findings


def main(arguments):
    root = arguments[1] if len(arguments) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    if not os.path.isfile(os.path.join(root, "CMakeLists.txt")):
        print(f"house_check: {root}: expected the project's root folder, with its CMakeLists.txt", file=sys.stderr)
        return 2
    house = House(root)
    findings = house.check()
    for finding in findings:
        print(finding)
    print(f"house check: {len(house.files)} files, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
