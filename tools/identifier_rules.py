# The words that no identifier below the frontend has, because the field has another term for what they meant.
# SPDX-License-Identifier: Apache-2.0
"""Used by house_check.py, which prints the findings. Prose is not checked: there the words have other meanings."""
import re

from target_rules import CASE, SOURCES

FOLDERS = ("compiler/", "dialect/", "runtime/plan/")
# Consecutive words of an identifier that is split at changes of case -> the term.
BETTER = {
    "glue": "alwaysCloned",
    "go ahead": "moveBefore",
    "borders": "offsets",
    "numbers": "lookupArguments, or the noun for what is counted",
    "template": "layout",
    "templates": "layouts",
    "cluster": "group",
    "clusters": "groups",
}
# Words that a folder may use: GPUs have clusters of blocks.
RIGHT_IN = {"cluster": "compiler/targets/", "clusters": "compiler/targets/"}
# C++'s keyword, a namespace of std, and accessors that ODS generates from names in bytecode.
RIGHT = {"template", "getBorders", "getBordersAttr", "setBorders", "setBordersAttr"}
NO_CODE = re.compile(r'R"([^(\s]*)\((?:.|\n)*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*(?:.|\n)*?\*/|\[\{(?:.|\n)*?\}\]'
                     r"|#include[^\n]*|\bstd::numbers\b")
# A comment at the end of a line allows a word there.
ALLOWED = re.compile(r"// word: (\w+)")
NAME = re.compile(r"[A-Za-z_]\w*")
WORD = re.compile(rf"(?<![a-z0-9])(?:{'|'.join(sorted(BETTER, key=len, reverse=True))})(?![a-z0-9])")


def code_of(path, text):
    """`text` without comments, strings and includes, and in .td files without descriptions; lines keep their numbers."""
    def kept(found):
        is_code = found.group().startswith("[{") and not path.endswith(".td")
        return found.group() if is_code else re.sub(r"[^\n]", " ", found.group())
    return NO_CODE.sub(kept, text)


def findings(files, lines):
    """(path, line, text) of each finding. `lines`: gives the lines of a file."""
    for path in files:
        if not path.startswith(FOLDERS) or not path.endswith(SOURCES):
            continue
        text = lines(path)
        for number, line in enumerate(code_of(path, "\n".join(text)).split("\n"), 1):
            for name in NAME.findall(line):
                found = name not in RIGHT and WORD.search(CASE.sub(" ", name).replace("_", " ").lower())
                if not found or path.startswith(RIGHT_IN.get(found.group(), "\n")):
                    continue
                if found.group() not in ALLOWED.findall(text[number - 1]):
                    yield path, number, f"names `{name}`; expected {BETTER[found.group()]}"
