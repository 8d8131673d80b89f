#!/usr/bin/env python3
# Checks that tools and scripts have the options that pages name, and that sources read the pages' variables.
# SPDX-License-Identifier: Apache-2.0
"""Usage: doc_options.py ROOT BUILD_FOLDER

In shell blocks and in code spans, an option after the name of a tool or a script must belong to this program: it occurs
in the help of its subcommand, in halftone-opt's full help, or in the text of the script. An option in its own code span
must belong to any of them, to an example, or to OTHERS. Each HALFTONE_ variable must be read by a source, a script, or
a test; and a page must document each variable that the library or a tool reads.
"""
import functools
import glob
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools"))
sys.dont_write_bytecode = True
import doc_pages  # noqa: E402

OPTION = re.compile(r"(?<![\w-])--?[a-zA-Z][\w-]*")
PROGRAM = re.compile(r"(halftone-(?:opt|reduce|run|policy|lsp-server)|scripts/[\w-]+)(?= |$)")
# Options of CMake, Slurm and test programs.
OTHERS = {"--preset", "--install", "--build", "--component", "--prefix", "--gpus-per-task", "--kill-on-bad-exit", "--state", "--loops"}
# Text after an own command that belongs to other programs: bash comments, and arguments for ctest after `--`.
BEHIND = re.compile(r"\s(?:#|--\s|\|\||\||&&|;).*")


class Programs:
    def __init__(self, root, build):
        self.root = root
        self.build = build

    @functools.cache
    def help(self, tool, subcommand):
        program = os.path.join(self.build, "tools", tool, tool)
        words = ["--help-hidden"] if tool in ("halftone-opt", "halftone-lsp-server") else [subcommand] * bool(subcommand) + ["--help"]
        return subprocess.run([program, *words], check=True, stdout=subprocess.PIPE, text=True).stdout

    @functools.cache
    def script(self, name):
        with open(os.path.join(self.root, name), encoding="utf-8") as file:
            return file.read()

    def text(self, program, words):
        """The text that contains each option of a command."""
        if program.startswith("scripts/"):
            return self.script(program)
        first = words.split()[0] if words.split() else ""
        return self.help(program, first if program in ("halftone-run", "halftone-policy") and first.isalpha() else "")

    def everything(self):
        """All help, scripts and examples."""
        texts = [self.help(tool, "") for tool in ("halftone-opt", "halftone-lsp-server", "halftone-reduce", "halftone-run", "halftone-policy")]
        texts += [self.help("halftone-run", name) for name in ("predict", "evaluate", "fit", "compare", "emit")]
        texts += [self.help("halftone-policy", name) for name in ("show", "resolve", "lint", "convert")]
        for form in ("scripts/*", "examples/*.cpp"):
            texts += [self.script(path) for path in glob.glob(form, root_dir=self.root) if os.path.isfile(os.path.join(self.root, path))]
        return "\n".join(texts)


def has(text, option):
    """Returns true if a text names an option. LLVM's tools accept one dash or two, and list either; a negated flag is
    listed with the other."""
    name = option.lstrip("-")
    return re.search(rf"(?<![\w-])--?{re.escape(name)}(?![\w-])", text) is not None


def commands(page):
    """(line, command) of each line of shell, and each code span that begins with a program."""
    for block in page.blocks:
        if block.language == "sh":
            for number, line in enumerate(block.text.replace("\\\n", "  ").split("\n"), block.line):
                yield number, line
    yield from page.code_spans()


def findings_of(page, programs, everything):
    for line, command in commands(page):
        for found in PROGRAM.finditer(command):
            words = BEHIND.sub("", command[found.end():])
            text = programs.text(found[1], words)
            for option in OPTION.findall(re.sub(r"'[^']*'|\"[^\"]*\"", " ", words)):
                if not has(text, option):
                    yield line, f"{found[1]}{' ' + words.split()[0] if words.split() else ''} has no option {option}"
    for line, span in page.code_spans():
        option = re.fullmatch(r"(--[a-zA-Z][\w-]*)([= ].*)?", span)
        if option and option[1] not in OTHERS and not has(everything, option[1]):
            yield line, f"no tool and no script has the option {option[1]}"


def unread_variables(root, page):
    folders = [os.path.join(root, name) for name in ("runtime", "compiler", "frontend", "tools", "scripts", "tests", "cmake", "CMakeLists.txt", "examples")]
    texts = [(number, text) for number, text in page.code_spans()] + [(block.line, block.text) for block in page.blocks]
    for number, text in texts:
        for name in re.findall(r"\bHALFTONE_[A-Z0-9_]+\b", text):
            if subprocess.run(["grep", "-rqwF", "--exclude=*.py", name, *folders], check=False).returncode:
                yield number, f"no source reads {name}"


def untold_variables(root, pages):
    """The variables that the library or a tool reads and no page documents."""
    command = ["grep", "-rhoE", "--include=*.cpp", "--include=*.h", r'"HALFTONE_[A-Z0-9_]+"', *(os.path.join(root, name) for name in ("runtime", "compiler", "frontend", "tools"))]
    read = set(re.findall(r"HALFTONE_\w+", subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout))
    told = {name for page in pages for _, span in page.code_spans() for name in re.findall(r"HALFTONE_\w+", span)}
    return sorted(read - told)


def main(root, build):
    programs = Programs(root, build)
    everything = programs.everything()
    count = 0
    pages = {path: doc_pages.read_page(os.path.join(root, path)) for path in doc_pages.page_paths(root)}
    for name in untold_variables(root, pages.values()):
        print(f"no page tells the variable {name}")
        count += 1
    for path, page in pages.items():
        for line, text in [*findings_of(page, programs, everything), *unread_variables(root, page)]:
            print(f"{path}:{line}: {text}")
            count += 1
    print(f"options and variables of the pages: {count} findings")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) == 3 else __doc__)
