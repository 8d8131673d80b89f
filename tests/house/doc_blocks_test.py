#!/usr/bin/env python3
# Runs doc_blocks.py on small pages: blocks run in order and share their files, and each fault is one finding.
# SPDX-License-Identifier: Apache-2.0
import contextlib
import io
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import doc_blocks  # noqa: E402


class DocBlocks(unittest.TestCase):
    def run_page(self, text):
        """The exit status and the output of a page."""
        with tempfile.TemporaryDirectory() as root, contextlib.redirect_stdout(io.StringIO()) as output:
            with open(os.path.join(root, "page.md"), "w", encoding="utf-8") as file:
                file.write(text)
            status = doc_blocks.PageRun(root, root, "g++", "page.md").main()
        return status, output.getvalue()

    def passes(self, text, *told):
        status, output = self.run_page(text)
        self.assertEqual(status, 0, output)
        for words in told:
            self.assertIn(words, output)

    def fails(self, text, *told):
        status, output = self.run_page(text)
        self.assertEqual(status, 1, output)
        for words in told:
            self.assertIn(words, output)

    def test_blocks_of_shell_run_in_order_and_share_a_folder(self):
        self.passes("```sh\necho one > a\n```\n\n```sh\ngrep one a\n```\n", "ran  page.md:2: sh", "ran  page.md:6: sh")
        self.fails("```sh\ngrep one a\n```\n\n```sh\necho one > a\n```\n", "page.md:2: sh: exit status 2; expected 0")
        self.fails("```sh\nfalse\ntrue\n```\n", "page.md:2: sh: exit status 1")
        self.passes("<!-- exit: 3 -->\n```sh\nexit 3\n```\n")
        self.fails("<!-- exit: 3 -->\n```sh\ntrue\n```\n", "exit status 0; expected 3")

    def test_a_note_gives_code_and_a_file(self):
        self.passes("<!-- given: x=7 -->\n```sh\n[ $x = 7 ]\n```\n")
        self.passes("<!-- file: a.json -->\n```json\n{\"a\": 1}\n```\n\n```sh\ngrep a a.json\n```\n")

    def test_a_block_that_is_not_run_has_a_reason_and_parses(self):
        self.passes("<!-- not run: needs a GPU -->\n```sh\nfalse\n```\n", "SKIP page.md:3: needs a GPU")
        self.fails("<!-- not run -->\n```sh\nfalse\n```\n", "`not run` without a reason")
        self.fails("<!-- not run: needs a GPU -->\n```sh\nif\n```\n", "page.md:3: sh: exit status")
        self.fails("<!-- not run: needs a GPU -->\n```cpp\nint main() { return lost; }\n```\n", "page.md:3:21: error")

    def test_text_that_is_noted_as_printed_is_what_the_block_before_prints(self):
        page = "```sh\necho first; echo 17 of 20; echo last\n```\n\n<!-- printed -->\n```text\n{}\n```\n"
        self.passes(page.format("first\n... of 20\nlast"))
        self.passes(page.format("first\nlast"))
        self.fails(page.format("last\nfirst"), "does not print, after the lines above:\nfirst")
        self.fails(page.format("18 of 20"), "It prints:\nfirst")
        self.fails("<!-- printed -->\n```text\na\n```\n", "expected a block before it that ran")

    def test_json_is_read(self):
        self.passes("```json\n{\"a\": [1]}\n```\n")
        self.fails("```json\n{a: 1}\n```\n", "page.md:2: json: ")

    def test_a_block_of_an_unknown_language_is_a_finding(self):
        self.fails("```\ntext\n```\n", "page.md:2: (no language): ")
        self.fails("```python\nx = 1\n```\n", "page.md:2: python: ")

    def test_a_fragment_of_cpp_stands_behind_its_given(self):
        block = doc_blocks.doc_pages.Block(4, "cpp", "use(x);\n", {"given": "#include <thread>\nint x = 1;"})
        source = doc_blocks.source_of("page.md", block)
        self.assertTrue(source.startswith("#include <thread>\n#include <halftone/Halftone.h>\n"))
        self.assertIn('int main() {\nint x = 1;\n#line 4 "page.md"\nuse(x);\n}', source)
        whole = doc_blocks.doc_pages.Block(4, "cpp", "int main() {}\n", {})
        self.assertEqual(doc_blocks.source_of("page.md", whole), '#line 4 "page.md"\nint main() {}\n')


if __name__ == "__main__":
    unittest.main()
