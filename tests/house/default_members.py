#!/usr/bin/env python3
# Checks that a struct may have a member without an initializer of any class with default arguments.
# SPDX-License-Identifier: Apache-2.0
"""Usage: default_members.py INCLUDE_DIR COMPILER...

`struct Block { LayerNormalization norm; }; Block{}` initializes the member from {}, which must not select an explicit
constructor: g++ accepts one there, clang does not. So each public class that is default-constructible must be
implicitly so. The classes are those of the headers, and each compiler checks all of them.
"""
import os
import re
import subprocess
import sys
import tempfile

CLASS = re.compile(r"^(?:class|struct) (?:HALFTONE_API )?(\w+)(?: final)?(?: : public [\w:<>, ]+)? \{")
PROGRAM = """#include <halftone/Halftone.h>
#include <halftone/Legacy.h>
#include <type_traits>
using namespace halftone;
template <class T> void take(T);
template <class T> concept Implicit = requires { take<T>({}); };
template <class T> struct Block { T member; };
template <class T> constexpr bool holds = !std::is_default_constructible_v<T> || !std::is_move_constructible_v<T> ||
                                          (Implicit<T> && requires { Block<T>{}; });
"""
# The spellings of arguments are unambiguous: a list of arguments is never taken for an object.
SPELLINGS = """
struct Net {
  layers::Dense dense{4};
  layers::LayerNormalization norm;
  layers::UpSampling2D larger;
  losses::MeanSquaredError loss;
  metrics::Mean mean;
  optimizers::Adam adam;
  initializers::GlorotUniform draw;
  Value call(const Value &x) const { return norm(dense(x)); }
};
Net made() { return {}; }
[[maybe_unused]] auto custom = [] { return Custom(Net{}); };
[[maybe_unused]] auto several = [] {
  (void)layers::UpSampling2D({2, 2});
  (void)layers::UpSampling2D(2, {.name = "a"});
  (void)layers::ZeroPadding2D({{1, 2}, {0, 3}});
  (void)layers::Softmax(-1);
  (void)layers::Softmax({-1, -2});
  (void)layers::LayerNormalization({.axis = {1, 2}});
  (void)losses::Huber(2.0, {.name = "h"});
  (void)optimizers::SGD(0.1, {.momentum = 0.9});
  layers::Add add = {};
  (void)add;
};
"""


def classes(include):
    """The qualified names of the classes at namespace scope, except templates."""
    for name in sorted(os.listdir(include)):
        spaces, before = [], ""
        with open(os.path.join(include, name), encoding="utf-8") as file:
            for line in file:
                opened = re.match(r"namespace ([\w:]+) \{", line)
                if opened:
                    spaces.append(opened[1])
                elif line.startswith("} // namespace "):
                    spaces.pop()
                found = CLASS.match(line)
                if found and not before.startswith("template"):
                    yield "::".join(spaces + [found[1]]).removeprefix("halftone::"), name
                before = line


def main(include, *compilers):
    found = dict(classes(os.path.join(include, "halftone")))
    if len(found) < 250:
        return f"{len(found)} classes found; expected the headers to declare more"
    checks = "".join(f"static_assert(holds<{name}>, \"{header}: {name} needs a default constructor that is not explicit\");\n"
                     for name, header in found.items() if not name.startswith("detail::"))
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program.cpp")
        with open(path, "w", encoding="utf-8") as file:
            file.write(PROGRAM + checks + SPELLINGS)
        for compiler in compilers:
            command = [compiler, "-std=c++20", "-Wall", "-Werror", "-fsyntax-only", "-I", include, path]
            failures += subprocess.run(command).returncode != 0
    print(f"{len(found)} classes, {len(compilers)} compilers, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) > 2 else __doc__)
