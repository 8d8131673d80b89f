# The rules for pages of the documentation: forms of blocks, links that lead somewhere, names of files and of code that exist.
# SPDX-License-Identifier: Apache-2.0
"""Used by house_check.py, which prints the findings."""
import fnmatch
import os
import re

import doc_pages

# A code span that ends in one of these names a file of the project. Other files that pages name are those of users.
FILE_SUFFIXES = (".h", ".cpp", ".td", ".def", ".py", ".cmake")
# What a build, a program of a page or a script makes.
MADE = ("build/", "ir/", "include/halftone-developer", "benchmarks/results/gpu-verify.json")
# A name of code: one with its class or namespace, one that is called, a field that is set, or a test's program.
CODE_NAME = re.compile(r"\b(?:[A-Za-z]\w*::)+(\w+)|\b([A-Za-z]\w+)\(|(?<![\w.)])\.(\w+) = |\b(test_\w+)")
CODE_SUFFIXES = (*FILE_SUFFIXES, ".txt")


def expanded(name):
    """`a/B.{h,cpp}` is a/B.h and a/B.cpp."""
    braces = re.search(r"\{([^{}]*)\}", name)
    if not braces:
        return [name]
    return [each for part in braces[1].split(",") for each in expanded(name[:braces.start()] + part + name[braces.end():])]


class DocRules:
    """`files`: the paths of all files of the project."""

    def __init__(self, root, files):
        self.root = root
        self.files = files
        self.folders = {path[:i] for path in files for i, c in enumerate(path) if c == "/"}
        self.top = {path.split("/")[0] for path in self.folders}
        self.words = None  # of all code; read when a page first names code

    def findings(self):
        """(page, line, text) of each finding."""
        for path in doc_pages.page_paths(self.root):
            page = doc_pages.read_page(os.path.join(self.root, path))
            made = {block.notes["file"] for block in page.blocks if "file" in block.notes}
            yield from ((path, line, text) for line, text in page.findings)
            for line, target in page.links():
                reason = self.broken(path, target)
                if reason:
                    yield path, line, f"the link to {target} {reason}"
            for line, span in page.code_spans():
                for name in expanded(span):
                    if self.names_no_file(name) and name not in made:
                        yield path, line, f"names {name}; expected a file or folder of the project"
                for name in CODE_NAME.finditer(span):
                    if not self.in_code(next(filter(None, name.groups()))):
                        yield path, line, f"names {name[0]}; expected a name that stands in the project's code"

    def in_code(self, word):
        if self.words is None:
            self.words = set()
            for path in self.files:
                if path.endswith(CODE_SUFFIXES):
                    with open(os.path.join(self.root, path), encoding="utf-8", errors="replace") as file:
                        self.words.update(re.findall(r"\w+", file.read()))
        return word in self.words

    def broken(self, page, target):
        """Why a link leads nowhere, or None. Links out of the project are not followed."""
        if re.match(r"[a-z]+:", target):
            return None
        name, _, anchor = target.partition("#")
        at = os.path.normpath(os.path.join(os.path.dirname(page), name)).replace(os.sep, "/") if name else page
        if at not in self.files and at not in self.folders:
            return "leads to no file"
        if anchor and anchor not in doc_pages.read_page(os.path.join(self.root, at)).headings():
            return "leads to no heading"
        return None

    def names_no_file(self, name):
        """Whether a code span has the form of a path of the project and is the end of none, at a folder's border."""
        name = name.rstrip("/")
        if not re.fullmatch(r"\w[\w.*+-]*(/[\w.*+-]+)*", name) or name.startswith(MADE):
            return False
        first = name.split("/")[0]
        if not name.endswith(FILE_SUFFIXES) and not ("/" in name and first in self.top):
            return False
        forms = [f"*/{name}"] if name.endswith(FILE_SUFFIXES) else [f"*/{name}", f"*/{name}.h", f"*/{name}.cpp"]
        return not any(fnmatch.fnmatchcase("/" + path, form) for form in forms for path in (*self.files, *self.folders))
