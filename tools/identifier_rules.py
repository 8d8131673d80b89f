# The words that no identifier has, because the field has another term for what they meant.
# SPDX-License-Identifier: Apache-2.0
"""Used by house_check.py, which prints the findings. Prose is not checked: there the words have other meanings."""
import re

from target_rules import CASE, SOURCES

# Consecutive words of an identifier that is split at changes of case -> the term. In FOLDERS:
FOLDERS = ("compiler/", "dialect/", "runtime/plan/")
BETTER = {
    "glue": "alwaysCloned",
    "go ahead": "moveBefore",
    "borders": "offsets",
    "numbers": "lookupArguments, or the noun for what is counted",
    "template": "layout",
    "templates": "layouts",
    "cluster": "group",
    "clusters": "groups",
    "slopes": "gradients",
    "holes": "baseDilations",
    "most": "max",
}
# In all folders of sources:
ALL_FOLDERS = ("compiler/", "dialect/", "runtime/", "frontend/", "tools/")
BETTER_EVERYWHERE = {
    "piece": "part, segment or chunk",
    "pieces": "parts, segments or chunks",
    "stretch": "run or range",
    "stretches": "runs or ranges",
    "turned": "transposed",
    "behind": "after",
    "travel": "in flight",
    "travelled": "in flight",
    "travelling": "in flight",
    "spoil": "invalidate",
    "complaint": "warning",
    "likeness": "key",
    "misfit": "mismatch",
    "remake": "recompute",
    "at hand": "provided",
    "goes on": "continues, or condition",
    "has come": "isPlaced",
    "stand at": "moveTo",
    "stands for": "the noun of the placeholder",
    "pays": "isProfitable",
    "pace": "pattern",
    "paces": "patterns",
    "lent": "bound",
    "leg": "segment",
    "legs": "segments",
    "apart": "separate",
    "makes": "defines",
}
# Words that a folder may use: GPUs have clusters of blocks.
RIGHT_IN = {"cluster": "compiler/targets/", "clusters": "compiler/targets/"}
# C++'s keyword, a usual phrase, and accessors that ODS generates from names in bytecode.
RIGHT = {"template", "atMost", "getBorders", "getBordersAttr", "setBorders", "setBordersAttr"}
NO_CODE = re.compile(r'R"([^(\s]*)\((?:.|\n)*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*(?:.|\n)*?\*/|\[\{(?:.|\n)*?\}\]'
                     r"|#include[^\n]*|\bstd::numbers\b")
# A comment at the end of a line allows a word there.
ALLOWED = re.compile(r"// word: (\w+)")
NAME = re.compile(r"[A-Za-z_]\w*")
WORD = re.compile(rf"(?<![a-z0-9])(?:{'|'.join(sorted({**BETTER, **BETTER_EVERYWHERE}, key=len, reverse=True))})(?![a-z0-9])")


def code_of(path, text):
    """`text` without comments, strings and includes, and in .td files without descriptions; lines keep their numbers."""
    def kept(found):
        is_code = found.group().startswith("[{") and not path.endswith(".td")
        return found.group() if is_code else re.sub(r"[^\n]", " ", found.group())
    return NO_CODE.sub(kept, text)


def better(path, word):
    """The term for `word` in a file, None if the file may use the word."""
    if path.startswith(RIGHT_IN.get(word, "\n")):
        return None
    return BETTER_EVERYWHERE.get(word) or (BETTER.get(word) if path.startswith(FOLDERS) else None)


def findings(files, lines):
    """(path, line, text) of each finding. `lines`: gives the lines of a file."""
    for path in files:
        if not path.startswith(ALL_FOLDERS) or not path.endswith(SOURCES):
            continue
        text = lines(path)
        for number, line in enumerate(code_of(path, "\n".join(text)).split("\n"), 1):
            for name in NAME.findall(line):
                if name in RIGHT:
                    continue
                for word in WORD.findall(CASE.sub(" ", name).replace("_", " ").lower()):
                    term = better(path, word)
                    if term and word not in ALLOWED.findall(text[number - 1]):
                        yield path, number, f"names `{name}`; expected {term}"
                        break
