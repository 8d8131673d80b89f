#!/usr/bin/env python3
# Runs the house check on small trees: a clean tree passes, and each violated rule is one finding at its line.
# SPDX-License-Identifier: Apache-2.0
import contextlib
import io
import os
import sys
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "tools"))
sys.dont_write_bytecode = True
import house_check  # noqa: E402

HEAD = "// What it is for.\n// SPDX-License-Identifier: Apache-2.0\n"
LIST_HEAD = "# What it is for.\n# SPDX-License-Identifier: Apache-2.0\n"
HEADER = HEAD + "#pragma once\n"
CLEAN = {
    "CMakeLists.txt": LIST_HEAD,
    "include/halftone/Tensor.h": HEADER + '#include "DType.h"\n#include <vector>\n',
    "include/halftone/DType.h": HEADER + "#include <cstdint>\n",
    "include/halftone/Model.h": HEADER,
    "frontend/CMakeLists.txt": LIST_HEAD + "halftone_room(halftone_frontend SOURCES graph/Trace.cpp)\n",
    "frontend/graph/Trace.cpp": HEAD + '#include "compiler/Compiler.h"\n#include "mlir/IR/Builders.h"\n',
    "compiler/CMakeLists.txt": LIST_HEAD + "halftone_room(halftone_compiler SOURCES passes/InsertCasts.cpp)\n",
    "compiler/Compiler.h": HEADER + '#include "runtime/base/Status.h"\n#include "mlir/IR/BuiltinOps.h"\n',
    "compiler/passes/InsertCasts.cpp": HEAD + '#include "runtime/base/Status.h"\n',
    "runtime/base/Status.h": HEADER + "#include <string>\n#include <fmt/format.h>\n",
    "runtime/Player.h": HEADER + '#include "halftone/Tensor.h"\n#include "runtime/base/Status.h"\n'
                        "#include <sys/mman.h>\n",
    "tests/CMakeLists.txt": LIST_HEAD + "halftone_test(tests SOURCES runtime/Player.cpp end_to_end/Anything.cpp)\n",
    "tests/runtime/Player.cpp": HEAD,
    "tests/end_to_end/Anything.cpp": HEAD,
}


class HouseCheck(unittest.TestCase):
    def findings(self, changes):
        with tempfile.TemporaryDirectory() as root:
            for path, text in {**CLEAN, **changes}.items():
                os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
                with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                    file.write(text)
            return house_check.House(root).check()

    def expect(self, changes, *starts):
        findings = self.findings(changes)
        self.assertEqual(len(findings), len(starts), findings)
        for finding, start in zip(findings, starts):
            self.assertTrue(finding.startswith(start), f"{finding!r} does not start with {start!r}")

    def test_clean_tree(self):
        self.expect({})

    def test_include_arrows_point_down(self):
        self.expect({"runtime/base/Status.h": HEADER + '#include "runtime/Player.h"\n'},
                    "runtime/base/Status.h:4: runtime/base includes runtime/Player.h")
        self.expect({"compiler/Compiler.h": HEADER + '\n#include "runtime/Player.h"\n'},
                    "compiler/Compiler.h:5: compiler includes runtime/Player.h")

    def test_a_cycle_inside_the_compiler_is_found(self):
        files = {"compiler/CMakeLists.txt": LIST_HEAD + "SOURCES(passes/InsertCasts.cpp forms/Loop.cpp targets/Target.cpp)\n",
                 "compiler/passes/Casts.h": HEADER, "compiler/targets/cpu/Cpu.h": HEADER, "compiler/targets/Target.cpp":
                 HEAD + '#include "compiler/targets/cpu/Cpu.h"\n',
                 "compiler/forms/Loop.cpp": HEAD + '#include "compiler/passes/Casts.h"\n#include "compiler/Compiler.h"\n'}
        self.expect(files, "compiler/forms/Loop.cpp:3: compiler/forms includes compiler/passes/Casts.h; expected",
                    "compiler/forms/Loop.cpp:4: compiler/forms includes compiler/Compiler.h; expected")
        files["compiler/forms/Loop.cpp"] = HEAD + '#include "compiler/targets/cpu/Cpu.h"\n'
        self.expect(files, "compiler/forms/Loop.cpp:3: includes compiler/targets/cpu/Cpu.h; expected only compiler/targets/Target.cpp")

    def test_kinds_of_targets_know_no_other_kind(self):
        files = {f"compiler/targets/{kind}/{kind}.h": HEADER for kind in ("cpu", "gpu", "nvptx")}
        files["compiler/targets/nvptx/Code.h"] = HEADER + '#include "compiler/targets/gpu/gpu.h"\n'
        self.expect(files)
        files["compiler/targets/nvptx/Code.h"] = HEADER + '#include "compiler/targets/cpu/cpu.h"\n'
        files["compiler/targets/gpu/Code.h"] = HEADER + '#include "compiler/targets/nvptx/nvptx.h"\n'
        self.expect(files, "compiler/targets/gpu/Code.h:4: includes compiler/targets/nvptx/nvptx.h; expected only compiler/targets/Target.cpp",
                    "compiler/targets/nvptx/Code.h:4: includes compiler/targets/cpu/cpu.h; expected only compiler/targets/Target.cpp")

    def test_a_cycle_inside_the_frontend_is_found(self):
        layer = {"frontend/layers/Layer.h": HEADER}
        self.expect({**layer, "frontend/training/Fit.h": HEADER + '#include "frontend/layers/Layer.h"\n'})
        for folder in ("base", "graph", "ops", "losses", "metrics", "optimizers", "data"):
            self.expect({**layer, f"frontend/{folder}/User.h": HEADER + '#include "frontend/layers/Layer.h"\n'},
                        f"frontend/{folder}/User.h:4: frontend/{folder} includes frontend/layers/Layer.h; expected")
        pair = {"frontend/callbacks/Monitor.h": HEADER, "frontend/report/Page.h": HEADER}
        self.expect({**pair, "frontend/report/Page.h": HEADER + '#include "../callbacks/Monitor.h"\n'},
                    "frontend/report/Page.h:4: frontend/report includes frontend/callbacks/Monitor.h; expected")
        self.expect({**pair, "frontend/callbacks/Monitor.h": HEADER + '#include "frontend/report/Page.h"\n'},
                    "frontend/callbacks/Monitor.h:4: frontend/callbacks includes frontend/report/Page.h; expected")

    def test_words_of_one_target_stay_in_its_folder(self):
        for line, word in (('call("llvm.x86.avx512.permvar");', "x86"), ("if (cpu.hasAvx512Bf16)", "avx512"), ("// by AVX512_BF16", "avx512"),
                           ("registry.insert<NVVM::NVVMDialect>();", "nvvm"), ("registerNVVMDialectTranslation();", "nvvm"),
                           ("int64_t warpLanes = 32;", "warp"), ("// a warp's lanes", "warp"), ('name == "tdpbf16ps"', "tdpbf16ps"),
                           ('target = "sm_80"', "sm_80"), ("#halftone_cpu.matmul", "halftone_cpu"), ("isCuda()", "cuda")):
            for path in ("compiler/kernels/Math.h", "dialect/Ops.h"):
                self.expect({path: HEADER + line + "\n"}, f"{path}:4: names `{word}`; expected words of one target only in")
            self.expect({"compiler/targets/cpu/Math.h": HEADER + line + "\n", "runtime/Player.h": HEADER + line + "\n"})
        self.expect({"compiler/passes/Steps.td": HEAD + 'let description = [{\n    Example: on `sm_80`, `add`\n    On `sm_80`, `add`\n}];\n'},
                    "compiler/passes/Steps.td:5: names `sm_80`")
        block = HEAD + "Example: for `sm_80`\n```mlir\nmodule {target = sm_80}\n```\n"
        self.expect({"compiler/passes/Steps.td": block})
        self.expect({"compiler/passes/Steps.td": block + "For sm_80.\n"}, "compiler/passes/Steps.td:7: names `sm_80`")
        self.expect({"compiler/kernels/Math.h": HEADER + "Warped unwarp, comma, sample, complex86;\n"})
        self.expect({"compiler/targets/gpu/Row.h": HEADER + "int warpLanes, gpu, x86;\n"})
        for line, word in (("NVVM::BarrierOp op;", "nvvm"), ('#include "mlir/Dialect/LLVMIR/NVVMDialect.h"', "nvvm"), ("int mmaTiling;", "mma")):
            self.expect({"compiler/targets/gpu/Row.h": HEADER + line + "\n"},
                        f"compiler/targets/gpu/Row.h:4: names `{word}`; expected words of one target only in the folder of one kind of GPU")

    def test_identifiers_have_the_terms_of_the_field(self):
        for line, name in (("bool isGlue();", "isGlue"), ("state.goAhead(op);", "goAhead"), ("int go_ahead;", "go_ahead"), ("Values borders;", "borders"),
                           ("use(graph->numbers);", "numbers"), ("class ChooseTemplates {", "ChooseTemplates"), ("int kernelTemplate;", "kernelTemplate"),
                           ("Cluster join(int clusterLine);", "Cluster")):
            for path in ("compiler/forms/Form.h", "dialect/Ops.h", "runtime/plan/Plan.h"):
                findings = self.findings({path: HEADER + line + "\n"})
                self.assertTrue(findings and findings[0].startswith(f"{path}:4: names `{name}`; expected "), findings)
            self.expect({"runtime/Player.h": HEADER + line + "\n"})
        self.expect({"compiler/forms/Form.h": HEADER + "// glue, borders\n/* numbers\nglue */ template <class T> T ahead(); // a cluster\n"
                     'say("numbers", R"(glue\nglue)"); double two = std::numbers::ln2 / op.getBorders();\n#include <numbers>\n'
                     "int numberOf(), renumbers, borderline, go, templated;\n"})
        self.expect({"dialect/Ops.td": HEAD + "let description = [{\n  All numbers, and borders.\n}];\ndef Op : Base<\"glue\">;\n"})
        self.expect({"dialect/Ops.td": HEAD + "(ins Attr:$borders); // word: borders\n(ins Attr:$borders); // word: glue\n"},
                    "dialect/Ops.td:4: names `borders`; expected offsets")
        self.expect({"compiler/targets/gpu/Row.h": HEADER + "int clusterOfBlocks;\n"})
        for line, name, term in (("int turnedRows;", "turnedRows", "transposed"), ("Emitted lastPiece();", "lastPiece", "part, segment or chunk"),
                                 ("bool goesOn;", "goesOn", "continues, or condition"), ("Clusters run_behind();", "run_behind", "after")):
            for path in ("compiler/targets/gpu/Row.h", "runtime/Player.h", "frontend/base/Fit.h", "tools/halftone-opt/Opt.h"):
                self.assertIn(f"{path}:4: names `{name}`; expected {term}", self.findings({path: HEADER + line + "\n"}))
        self.assertIn("compiler/forms/Form.h:4: names `mostRows`; expected max", self.findings({"compiler/forms/Form.h": HEADER + "int mostRows;\n"}))
        self.expect({"compiler/forms/Form.h": HEADER + "int atMost(), almost, returned, masterpiece;\n", "runtime/Player.h": HEADER + "int most;\n"})

    def test_kinds_are_no_texts(self):
        for line in ('if (form.kind == "row")', 'return source->form.kind != "row";', 'if (kernel.kind() == "scan")', 'if ("row" == form.kind)'):
            self.expect({"compiler/forms/Form.h": HEADER + line + "\n"},
                        "compiler/forms/Form.h:4: compares a kind with text; expected an enumerator of dialect::KernelKind")
        self.expect({"compiler/forms/Form.h": HEADER + 'if (form.kind == KernelKind::row) say("kind");\nmankind == "row";\n',
                     "runtime/Player.h": HEADER + 'if (code.kind == "row")\n'})

    def test_classes_of_the_compiler_are_small(self):
        def methods(count):
            return HEADER + "class Emitter {\n" + "".join(f"  void emit{i}();\n" for i in range(count)) + "};\n"
        for path in ("compiler/targets/cpu/Emitter.h", "compiler/passes/Emitter.h", "compiler/Emitter.h"):
            self.expect({path: methods(20)})
            self.expect({path: methods(21)}, f"{path}:4: Emitter has 21 methods; expected at most 20, split by subject")
        self.expect({"dialect/Emitter.h": methods(21)})

    def test_every_source_of_the_frontend_stands_in_a_folder(self):
        for path in ("frontend/Fit.h", "frontend/others/Fit.h"):
            self.expect({path: HEADER}, f"{path}:1: is in no folder of the frontend; expected one of frontend/base")

    def test_a_sibling_include_obeys_the_arrows(self):
        self.expect({"runtime/base/Status.h": HEADER + '#include "../Player.h"\n'},
                    "runtime/base/Status.h:4: runtime/base includes runtime/Player.h")

    def test_rooms_do_not_include_tests(self):
        self.expect({"tests/runtime/Checks.h": HEADER,
                     "runtime/Player.h": HEADER + '#include "tests/runtime/Checks.h"\n'},
                    "runtime/Player.h:4: runtime includes tests/runtime/Checks.h")

    def test_llvm_stays_in_its_rooms(self):
        self.expect({"runtime/Player.h": HEADER + '#include "llvm/ADT/SmallVector.h"\n'},
                    "runtime/Player.h:4: runtime includes llvm/ADT/SmallVector.h")
        self.expect({"frontend/CMakeLists.txt": LIST_HEAD + "graph/Trace.cpp ops/Ops.cpp\n",
                     "frontend/ops/Ops.cpp": HEAD + '#include "mlir/IR/Builders.h"\n'},
                    "frontend/ops/Ops.cpp:3: includes mlir/IR/Builders.h; in the frontend expected MLIR")
        self.expect({"frontend/ops/Ops.h": HEADER + '#include "compiler/Compiler.h"\n'},
                    "frontend/ops/Ops.h:4: includes mlir/IR/BuiltinOps.h through compiler/Compiler.h")
        self.expect({"frontend/CMakeLists.txt": LIST_HEAD + "graph/Trace.cpp io/TraceFile.cpp\n",
                     "frontend/io/TraceFile.cpp": HEAD + '#include "mlir/IR/Builders.h"\n'},
                    "frontend/io/TraceFile.cpp:3: includes mlir/IR/Builders.h; in the frontend expected MLIR")
        self.expect({"runtime/loader/ObjectLoader.h": HEADER + '#include "mlir/IR/Builders.h"\n'},
                    "runtime/loader/ObjectLoader.h:4: runtime/loader includes mlir/IR/Builders.h")

    def test_lower_rooms_take_only_vocabulary_headers(self):
        self.expect({"runtime/Player.h": HEADER + '#include "halftone/Model.h"\n'},
                    "runtime/Player.h:4: runtime includes the public header Model.h")

    def test_public_headers_are_light(self):
        public = "include/halftone/Model.h"
        said = f"{public}:4: a public header includes"
        self.expect({public: HEADER + "#include <iostream>\n"}, f"{said} <iostream>")
        self.expect({public: HEADER + "#include <fmt/format.h>\n"}, f"{said} <fmt/format.h>")
        self.expect({public: HEADER + '#include "runtime/Player.h"\n'}, f"{said} runtime/Player.h")

    def test_examples_use_the_public_api(self):
        self.expect({"examples/CMakeLists.txt": LIST_HEAD + "01-mnist/main.cpp\n",
                     "examples/01-mnist/main.cpp": HEAD + '#include "runtime/Player.h"\n'},
                    "examples/01-mnist/main.cpp:3: includes runtime/Player.h")

    def test_the_code_id_hashes_all_that_code_generation_includes(self):
        files = {"cmake/CodeId.cmake": LIST_HEAD + "set(HALFTONE_CODE_FOLDERS compiler/codegen)\n"
                 "set(HALFTONE_CODE_FILES dialect/Attrs.td)\nset(HALFTONE_CODE_NEUTRAL_FILES runtime/base/Status.h)\n",
                 "dialect/Attrs.td": HEAD, "dialect/Enums.h": HEADER,
                 "compiler/codegen/Lowering.h": HEADER + '#include "dialect/Enums.h.inc"\n#include "runtime/base/Status.h"\n'}
        self.expect(files)
        said = "code generation includes"
        self.expect({**files, "compiler/codegen/Code.h": HEADER + '#include "dialect/Enums.h"\n'},
                    f"compiler/codegen/Code.h:4: {said} dialect/Enums.h")
        self.expect({**files, "runtime/base/Status.h": HEADER + '#include "halftone/DType.h"\n'},
                    f"runtime/base/Status.h:4: {said} include/halftone/DType.h")
        self.expect({**files, "dialect/Attrs.td": HEAD, "compiler/codegen/Code.h": HEADER + '#include "dialect/Ops.h.inc"\n'},
                    f"compiler/codegen/Code.h:4: {said} dialect/Ops.h.inc")
        self.expect({"compiler/codegen/Lowering.h": HEADER}, "cmake/CodeId.cmake:1: no list HALFTONE_CODE_FOLDERS")
        del files["dialect/Attrs.td"]
        self.expect({**files, "compiler/codegen/Lowering.h": HEADER}, "cmake/CodeId.cmake:1: names dialect/Attrs.td")

    def test_public_functions_take_wide_integers(self):
        public = "include/halftone/Tensor.h"
        for parameter in ("int n", "double x, int32_t n = 0", "const unsigned count"):
            self.expect({public: HEADER + f"void cut({parameter});\n"}, f"{public}:4: a parameter narrower than 64 bits")
        self.expect({public: HEADER + "void cut(int64_t n, double x);\n"})

    def test_the_library_names_no_line_of_its_own(self):
        for place in ("Where::current()", "__builtin_FILE()", "__FILE__", "std::source_location::current()"):
            self.expect({"runtime/Player.h": HEADER + f"inline auto place = {place};\n"},
                        "runtime/Player.h:4: a line of the library's own source; expected only lines of users")
            self.expect({"tests/end_to_end/Anything.cpp": HEAD + f"auto place = {place};\n"})
    def test_files_are_opened_and_written_in_one_place(self):
        listed = {"runtime/CMakeLists.txt": LIST_HEAD + "Player.cpp base/OpenFile.cpp\n"}
        for line in ("#include <fstream>", "std::ifstream file(path);", "FILE *f = fopen(path, \"r\");", "::open(path, 0);",
                     "::write(1, text, 1);", "gzFile f = gzopen(path, \"r\");", "llvm::MemoryBuffer::getFile(path);",
                     "mmap(nullptr, 1, 1, 1, file, 0);", "void *library = dlopen(path, 0);", "auto f = mlir::openInputFile(path);"):
            with self.subTest(line):
                self.expect({**listed, "runtime/Player.cpp": HEAD + line + "\n"}, "runtime/Player.cpp:3: ")
                self.expect({**listed, "runtime/base/OpenFile.cpp": HEAD + line + "\n"})
        self.expect({**listed, "runtime/Player.cpp": HEAD + "MappedFile::open(path); // not ::open(path)\nzip_fopen_index(a);\n"})

    def test_sizes(self):
        self.expect({"runtime/Player.h": HEADER + "\n" * 497})
        self.expect({"runtime/Player.h": HEADER + "\n" * 498}, "runtime/Player.h:501: 501 lines")

    def test_first_lines(self):
        self.expect({"runtime/Player.h": "#pragma once\n"}, "runtime/Player.h:2: expected `SPDX")
        self.expect({"runtime/Player.h": "// SPDX-License-Identifier: Apache-2.0\n#pragma once\n"},
                    "runtime/Player.h:1: expected a comment")
        self.expect({"runtime/Player.h": HEAD}, "runtime/Player.h:1: expected `#pragma once`")
        self.expect({"scripts/test": "#!/usr/bin/env bash\n" + LIST_HEAD})
        self.expect({"scripts/test": "#!/usr/bin/env bash\nset -e\n# SPDX-License-Identifier: Apache-2.0\n"},
                    "scripts/test:2: expected a comment")

    def test_names(self):
        for name in ("StringUtils.h", "Common.h", "shape_helpers.h", "misc/Shape.h"):
            self.expect({f"runtime/{name}": HEADER}, f"runtime/{name}:1: the name says")
        self.expect({"runtime/Commons.h": HEADER, "runtime/Utilization.h": HEADER})

    def test_environment(self):
        self.expect({"runtime/Player.h": HEADER + 'auto x = std::getenv("HALFTONE_X");\n'},
                    "runtime/Player.h:4: reads an environment variable")
        self.expect({"runtime/base/Environment.h": HEADER + 'auto x = ::secure_getenv("HALFTONE_X");\n'})

    def test_generated_files(self):
        self.expect({"dialect/Ops.h.inc": ""}, "dialect/Ops.h.inc:1: a generated file")
        self.expect({"runtime/Player.h": HEADER + "// @generated\n"}, "runtime/Player.h:4: marked as generated")

    def test_every_source_is_listed(self):
        self.expect({"compiler/passes/Simplify.cpp": HEAD}, "compiler/passes/Simplify.cpp:1: in no CMakeLists.txt")
        self.expect({"compiler/passes/Casts.cpp": HEAD}, "compiler/passes/Casts.cpp:1: in no CMakeLists.txt")
        self.expect({"compiler/CMakeLists.txt": LIST_HEAD + "file(GLOB sources passes/*.cpp)\n"},
                    "compiler/CMakeLists.txt:3: file(GLOB)", "compiler/passes/InsertCasts.cpp:1: in no CMakeLists.txt")

    def test_tests_mirror_sources(self):
        listed = {"tests/CMakeLists.txt": CLEAN["tests/CMakeLists.txt"] + "runtime/Walker.cpp odd/Player.cpp\n"}
        self.expect({**listed, "tests/runtime/Walker.cpp": HEAD},
                    "tests/runtime/Walker.cpp:1: no source Walker in runtime/")
        self.expect({**listed, "tests/runtime/Walker.cpp": HEAD, "tests/runtime/Walker.h": HEADER})
        self.expect({**listed, "tests/odd/Player.cpp": HEAD}, "tests/odd/Player.cpp:1: tests/odd is not a kind of test")

    def test_links_of_pages_lead_somewhere(self):
        pages = {"README.md": "# Name\n[map](docs/map.md), [part](docs/map.md#a-part-of-it), [own](#name), [out](https://example.org)\n",
                 "docs/map.md": "# Map\n\n## A part, `of` it\n[back](../README.md), [code](../compiler/Compiler.h), [folder](../runtime)\n"}
        self.expect(pages)
        self.expect({**pages, "docs/map.md": "# Map\n"}, "README.md:2: the link to docs/map.md#a-part-of-it leads to no heading")
        self.expect({**pages, "README.md": "[map](docs/lost.md)\n"}, "README.md:1: the link to docs/lost.md leads to no file")
        self.expect({**pages, "docs/map.md": "# Map\n\n## A part, of it\n\n[readme](README.md)\n"}, "docs/map.md:5: the link to README.md leads")

    def test_files_that_pages_name_exist(self):
        self.expect({"README.md": "`runtime/base/Status.h`, `base/Status.h`, `halftone/Tensor.h`, `runtime/Player.{h}`, `runtime/Player`,\n"
                                  "`InsertCasts.cpp`, `runtime/base`, `graph/Trace*`, `build/ci/x.h`, `net.keras`, `.cpp`, `a/b`\n"})
        for name in ("runtime/base/State.h", "runtime/Status.h", "Statuses.h", "tus.h", "runtime/lost", "runtime/{Player,Players}.h"):
            self.expect({"README.md": f"text\n`{name}`\n"}, "README.md:2: names ")

    def test_code_that_pages_name_exists(self):
        code = {"include/halftone/Tensor.h": HEADER + "struct Tensor { int size(); };\n"}
        self.expect({**code, "README.md": "`Tensor::size()`, `size`, `lost`, `tests`\n"})
        self.expect({**code, "README.md": "`halftone::Tensor::extent()`\n"}, "README.md:1: names halftone::Tensor::extent; expected")
        self.expect({**code, "README.md": "`x.extent(1)`\n"}, "README.md:1: names extent(; expected a name")
        self.expect({**code, "README.md": "`{.extent = 1}`\n"}, "README.md:1: names .extent = ; expected a name")
        self.expect({**code, "README.md": "text `test_lost` text\n"}, "README.md:1: names test_lost; expected a name")

    def test_blocks_of_pages_name_their_languages(self):
        self.expect({"README.md": "```sh\nls\n```\n\n<!-- not run: a reason -->\n```cpp\nint x;\n```\n\n- item\n\n    text of it\n"})
        said = "README.md:1: a block of language ''; expected one of cpp"
        self.expect({"README.md": "```\nls\n```\n"}, said)
        self.expect({"README.md": "```bash\nls\n```\n"}, "README.md:1: a block of language 'bash'")
        self.expect({"README.md": "text\n\n    ls -l\n"}, "README.md:3: an indented block")
        self.expect({"README.md": "```sh\nls\n"}, "README.md:1: an unterminated fence")
        self.expect({"README.md": "<!-- given: ls -->\n\n```sh\nls\n```\n"}, "README.md:1: a note without a block below it")

    def test_command(self):
        with tempfile.TemporaryDirectory() as empty, contextlib.redirect_stderr(io.StringIO()) as errors:
            self.assertEqual(house_check.main(["house_check.py", empty]), 2)
        self.assertIn("expected the project's root folder", errors.getvalue())


if __name__ == "__main__":
    unittest.main()
