# The lit configuration of the .mlir tests: the commands of their RUN lines.
# SPDX-License-Identifier: Apache-2.0
import os
import sys

import lit.formats

config.name = "halftone"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(lit_config.params["build"], "tests", "lit")

tools = [os.path.join(lit_config.params["build"], "tools", t) for t in ("halftone-opt", "halftone-reduce", "halftone-run", "halftone-policy", "halftone-lsp-server")]
config.environment["PATH"] = os.pathsep.join(tools + [lit_config.params["llvm"], os.environ["PATH"]])
for name in ("HOME", "XDG_CACHE_HOME", "ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
config.substitutions.append(("%keras", os.path.join(config.test_source_root, "data", "keras", "archives")))
config.substitutions.append(("%data", os.path.join(config.test_source_root, "..", "examples", "data")))
config.substitutions.append(("%python", sys.executable))
config.substitutions.append(("%exit", sys.executable + " " + os.path.join(config.test_source_root, "exit_code.py")))
