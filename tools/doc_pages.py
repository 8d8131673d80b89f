#!/usr/bin/env python3
# Reads the documentation pages: fenced blocks with the comments above them, headings, links and code spans.
# SPDX-License-Identifier: Apache-2.0
"""Usage: doc_pages.py [ROOT]

Prints each fenced block of README.md, CONTRIBUTING.md and docs/*.md with its line, language and notes.

A fenced block must name its language, one of LANGUAGES. HTML comments directly above the fence are its notes:

  <!-- given: CODE -->      code of the block's language that comes before it and is not shown
  <!-- not run: REASON -->  the block is checked, but not run
  <!-- exit: STATUS -->     of sh: the exit status of the block, if it is not 0
  <!-- file: NAME -->       the block is also the file NAME for the blocks after it
  <!-- printed -->          of text: lines that the block before printed, in this order; ... stands for any text

A comment that begins with another word is not a note. tests/house/doc_blocks.py runs the blocks.
"""
import os
import re
import sys
from collections import namedtuple

LANGUAGES = ("cpp", "sh", "cmake", "json", "mlir", "text")
NOTES = ("given", "not run", "exit", "file", "printed")
COMMENT = re.compile(r"<!--\s*(" + "|".join(NOTES) + r")\b(?::\s*(.*?))?\s*-->", re.S)

Block = namedtuple("Block", "line language text notes")  # line: of the first line of the text, from 1


class Page:
    """One page: its blocks, and its lines with those of blocks and comments emptied."""

    def __init__(self, text):
        self.blocks = []
        self.findings = []  # (line, text)
        self.prose = []
        lines = text.split("\n")
        notes, noted_at, at = {}, None, 0
        while at < len(lines):
            line = lines[at]
            end = at
            if line.startswith("<!--"):
                while "-->" not in lines[end] and end + 1 < len(lines):
                    end += 1
                note = COMMENT.fullmatch("\n".join(lines[at:end + 1]).strip())
                if note:
                    notes[note[1]] = note[2] or ""
                    noted_at = noted_at or at + 1
            elif line.lstrip().startswith("```"):
                end = next((i for i in range(at + 1, len(lines)) if lines[i].strip() == "```"), None)
                if end is None:
                    self.findings.append((at + 1, "an unterminated fence"))
                    end = len(lines) - 1
                language = line.strip()[3:]
                if language not in LANGUAGES:
                    self.findings.append((at + 1, f"a block of language '{language}'; expected one of {', '.join(LANGUAGES)}"))
                self.blocks.append(Block(at + 2, language, "\n".join(lines[at + 1:end]) + "\n", notes))
                notes, noted_at = {}, None
            else:
                if notes:
                    self.findings.append((noted_at, "a note without a block below it; expected a fence on the next line"))
                    notes, noted_at = {}, None
                if re.match(r"    \s*\S", line) and self.follows_blank() and not self.in_list():
                    self.findings.append((at + 1, "an indented block; expected a fence that names its language"))
                self.prose.append(line)
                at += 1
                continue
            self.prose += [""] * (end + 1 - at)
            at = end + 1
        if notes:
            self.findings.append((noted_at, "a note without a block below it; expected a fence on the next line"))

    def follows_blank(self):
        return not self.prose or not self.prose[-1].strip()

    def in_list(self):
        """Returns true if the next indented line belongs to a list: the last unindented line is a list item."""
        last = next((line for line in reversed(self.prose) if line.strip() and not line.startswith("  ")), "")
        return bool(re.match(r"([-*]|\d+\.) ", last))

    def headings(self):
        """The anchors of the headings, as GitHub generates them."""
        for line in self.prose:
            heading = re.match(r"#+ (.*)", line)
            if heading:
                words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).strip().lower()
                yield re.sub(r"[^\w\- ]", "", words).replace(" ", "-")

    def links(self):
        """(line, target) of each link."""
        for number, line in enumerate(self.prose, 1):
            for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "``", line)):
                yield number, target

    def code_spans(self):
        """(line, text) of each code span; a span across two lines belongs to the first."""
        text = "\n".join(self.prose)
        for span in re.finditer(r"`([^`]+)`", text):
            yield text.count("\n", 0, span.start()) + 1, " ".join(span[1].split())


def read_page(path):
    with open(path, encoding="utf-8") as file:
        return Page(file.read())


def page_paths(root):
    """The documentation pages, as paths relative to the root."""
    docs = os.path.join(root, "docs")
    pages = sorted(f"docs/{name}" for name in os.listdir(docs) if name.endswith(".md")) if os.path.isdir(docs) else []
    return [name for name in ("README.md", "CONTRIBUTING.md") if os.path.exists(os.path.join(root, name))] + pages


def main(root):
    for path in page_paths(root):
        for block in read_page(os.path.join(root, path)).blocks:
            print(f"{path}:{block.line}: {block.language or '(no language)'} {block.notes or ''}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")))
