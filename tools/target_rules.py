# The rules that keep each target's knowledge in its folder, and the classes of the compiler small.
# SPDX-License-Identifier: Apache-2.0
"""Used by house_check.py, which prints the findings."""
import re

from class_methods import class_methods

SOURCES = (".h", ".cpp", ".td", ".def")
# Words that only the folders below compiler/targets may use in the rooms of the compiler. The Example of a pass may name a target all
# the same, and the arrows between folders tell which file may include one of a target's folder.
ONE_TARGET = ("x86", "avx[a-z0-9]*", "amx", "vnni", "vdpbf16ps", "vpdpbusd", "tdpb[a-z0-9]*", r"znver\d+", "aarch64", "neon", "sve", "nvvm", "nvptx",
              "ptx", "cuda", "warps?", "mma", "wgmma", r"sm_\d+", "halftone_cpu", "halftone_gpu", "halftone_nvptx")
ALLOWED = re.compile(r'\s*Example: |#include "compiler/')
# Words of one kind of GPU that code for all GPUs does not use.
GPU_FOLDER = "compiler/targets/gpu/"
ONE_GPU = ("nvvm", "nvptx", "ptx", "mma", "wgmma", r"sm_\d+")
CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
KIND_TEXT = re.compile(r'\bkind(?:\(\))?\s*[=!]=\s*"|"\s*[=!]=\s*(?:\w+(?:\.|->))*kind\b')
MOST_METHODS = 20


def pattern(words):
    """Finds one of `words` as a whole word in a line whose identifiers are split at changes of case."""
    return re.compile(rf"(?<![a-z0-9])(?:{'|'.join(words)})(?![a-z0-9])")


OUTSIDE, IN_GPU = pattern(ONE_TARGET), pattern(ONE_GPU)


def word_in(line, words):
    """The first word of one target in `line`, in lower case, or None."""
    found = words.search(CASE.sub(" ", line).lower())
    return found and found.group()


def allowed_lines(lines):
    """The numbers of the lines that may name one target: those of ALLOWED, and the code block right after one."""
    after, in_block = False, False
    for number, line in enumerate(lines, 1):
        is_fence = line.lstrip().startswith("```")
        if ALLOWED.match(line) or in_block or (after and is_fence):
            yield number
        in_block = (in_block and not is_fence) or (after and is_fence and not in_block)
        after = bool(ALLOWED.match(line))


def target_words(path, lines):
    """(line, text) for each line that names one target where all targets are meant."""
    if not path.startswith(("compiler/", "dialect/")) or not path.endswith(SOURCES):
        return
    in_gpu = path.startswith(GPU_FOLDER)
    if path.startswith("compiler/targets/") and not in_gpu:
        return
    allowed = set(allowed_lines(lines))
    for number, line in enumerate(lines, 1):
        word = word_in(line, IN_GPU if in_gpu else OUTSIDE)
        if word and number not in allowed:
            where = "the folder of one kind of GPU" if in_gpu else "a folder of compiler/targets"
            yield number, f"names `{word}`; expected words of one target only in {where}"


def kind_texts(path, lines):
    """(line, text) for each line that compares a kernel's kind with text."""
    if path.startswith("compiler/") and path.endswith((".h", ".cpp")):
        for number, line in enumerate(lines, 1):
            if KIND_TEXT.search(line):
                yield number, "compares a kind with text; expected an enumerator of dialect::KernelKind"


def large_classes(path, lines):
    """(line, text) for each class of too many methods."""
    if path.startswith("compiler/") and path.endswith((".h", ".cpp")):
        for found in class_methods("\n".join(lines)):
            if len(found.methods) > MOST_METHODS:
                yield found.line, f"{found.name} has {len(found.methods)} methods; expected at most {MOST_METHODS}, split by subject"


def findings(files, lines):
    """(path, line, text) of each finding. `lines`: gives the lines of a file."""
    for path in files:
        if path.startswith(("compiler/", "dialect/")):
            for rule in (target_words, kind_texts, large_classes):
                yield from ((path, number, text) for number, text in rule(path, lines(path)))
