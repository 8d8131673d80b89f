// The texts that reach MLIR's parser, and those that do not.
// SPDX-License-Identifier: Apache-2.0
#include "tools/shell/ModuleText.h"
#include <catch2/catch.hpp>
#include <vector>

using namespace halftone;
using namespace halftone::tools;

TEST_CASE("Arrays of index are refused with their line", "[text]") {
  for (const char *text :
       {"\n{a = array<index: 1>}", "\n{a = array<index>}", "\n{a = array < index : 1, 2 >}",
        "\n{a = array // of\n<\nindex: 1>}", "\n\"an \\\" array<i64>\" array<index: 1>", "\n// x\rarray<index: 1>"}) {
    INFO(text);
    const Status status = checkModuleText(text, "net.mlir");
    REQUIRE_FALSE(status.isOk());
    CHECK(status.kind() == ErrorKind::value_error);
    CHECK_THAT(status.message(), Catch::StartsWith("an array of index; expected i1, i8,"));
    CHECK(std::string(status.where().file) == "net.mlir");
    CHECK(status.where().line >= 2);
  }
  CHECK(checkModuleText("\n\n array<index: 1>", "net.mlir").where().line == 3);
  CHECK_THAT(checkModuleText("!i = index\n{a = array<!i: 1>}", "").message(),
             Catch::StartsWith("an array whose type is an alias"));
}

TEST_CASE("Text without arrays of index is let through", "[text]") {
  for (const char *text :
       {"", "array", "array<", "array<i64: 1, 2>", "array<i64>", "array<f32: 0.5>", "dense<1> : tensor<2xindex>",
        "vector<4xindex>", "// array<index: 1>", "\"array<index: 1>\"", "myarray<index: 1>", "array.x<index>",
        "array<indexes: 1>", "/", "//", "\"", "\"\\", "\"a\nb", "memref<4xf32, array<i64: 1>>"}) {
    INFO(text);
    CHECK(checkModuleText(text, "net.mlir").isOk());
  }
}

TEST_CASE("A blank for MLIR's lexer is one for the check", "[text]") {
  const std::string text("a = array\0<\0index: 1>", 22);
  CHECK_FALSE(checkModuleText(text, "net.mlir").isOk());
}

TEST_CASE("Bytecode is no text, wherever it stands", "[text]") {
  CHECK(isBytecode("ML\xefR\x06"));
  for (const char *text : {"ML\xefR array<index: 1>", "module {}\n// -----\nML\xefR\x06"})
    CHECK_THAT(checkModuleText(text, "net.mlir").message(), Catch::StartsWith("MLIR bytecode inside text"));
}

namespace {

std::string repeated(std::string_view text, size_t count) {
  std::string all;
  for (size_t i = 0; i < count; ++i)
    all += text;
  return all;
}

/// `count` aliases, each defined by the previous one, which @ in `value` represents.
std::string chain(const std::string &sign, const std::string &first, const std::string &value, size_t count) {
  std::string text = sign + "a0 = " + first + "\n";
  for (size_t i = 1; i < count; ++i) {
    std::string next = value;
    for (size_t at; (at = next.find('@')) != std::string::npos;)
      next.replace(at, 1, sign + "a" + std::to_string(i - 1));
    text += sign + "a" + std::to_string(i) + " = " + next + "\n";
  }
  return text;
}

} // namespace

TEST_CASE("Text that nests deeply is refused, whatever nests", "[text]") {
  const auto nested = [](size_t levels) {
    return std::vector<std::string>{
        repeated("[", levels) + "1" + repeated("]", levels),
        repeated("{a = ", levels) + "1" + repeated("}", levels),
        repeated("module {", levels) + repeated("}\n", levels),
        repeated("tuple<", levels) + "i1" + repeated(">", levels),
        repeated("(", levels) + "i1" + repeated(") -> i1", levels),
        "loc(" + repeated("callsite(", levels) + repeated(")", levels) + ")",
        "affine_map<(d0) -> (" + repeated("- ", levels) + "d0)>",
        "affine_map<(d0) -> (d0" + repeated(" + d0 floordiv 3", levels / 2) + ")>",
        chain("#", "[1]", "[@]", levels),
        chain("!", "tuple<i1>", "tuple<@>", levels),
        chain("#", "loc(\"a\")", "loc(@)", levels),
        "{\n// -----\n" + chain("#", "[1]", "[@]", levels),
    };
  };
  for (const std::string &text : nested(1100)) {
    INFO(text.substr(0, 60));
    const Status status = checkModuleText(text, "net.mlir");
    CHECK_THAT(status.isOk() ? "" : status.message(), Catch::StartsWith("text that nests more than 1000 levels deep"));
  }
  for (const std::string &text : nested(900)) {
    INFO(text.substr(0, 60));
    CHECK(checkModuleText(text, "net.mlir").isOk());
  }
}

TEST_CASE("Long text is not deep", "[text]") {
  for (const char *line : {"%c = arith.constant -1 : i64\n", "#m = affine_map<(d0) -> (-d0 + 1)>\n",
                           "#s = affine_set<(d0) : (d0 - 1 >= 0, d0 - 9 <= 0)>\n", "func.func private @f(i32) -> i32\n",
                           "\"a.b\"() {c = [-1, -2, +3], d = -1.0e-5} : () -> ()\n", "#loc = loc(\"a\":1:2)\n"}) {
    INFO(line);
    CHECK(checkModuleText(repeated(line, 3000), "net.mlir").isOk());
  }
}

TEST_CASE("Aliases that double are refused", "[text]") {
  const Status status = checkModuleText(chain("#", "[1]", "[@, @]", 60), "net.mlir");
  CHECK_THAT(status.isOk() ? "" : status.message(), Catch::StartsWith("aliases that expand to more than"));
  CHECK(checkModuleText(chain("#", "[1]", "[@, @]", 10), "net.mlir").isOk());
}

TEST_CASE("Absolute files of locations become relative, and nothing else changes", "[text]") {
  CHECK(withRelativeFiles("x loc(\"/net.cpp\":3:1) \"/path\" [\"\\2Fa\" // c\n : 4:1]") ==
        "x loc(\"_net.cpp\":3:1) \"/path\" [\"_2Fa\" // c\n : 4:1]");
  CHECK(withRelativeFiles("loc(\"net.cpp\":3:1) {a = \"/x\" : !t}") == "loc(\"net.cpp\":3:1) {a = \"/x\" : !t}");
}
