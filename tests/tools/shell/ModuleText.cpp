// Which texts do not reach MLIR's parser, and which do.
// SPDX-License-Identifier: Apache-2.0
#include "tools/shell/ModuleText.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::tools;

TEST_CASE("Arrays of index are refused with their line", "[text]") {
  for (const char *text : {"\n{a = array<index: 1>}", "\n{a = array<index>}", "\n{a = array < index : 1, 2 >}",
                           "\n{a = array // of\n<\nindex: 1>}", "\n\"an \\\" array<i64>\" array<index: 1>"}) {
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
             Catch::StartsWith("an array of a type by its alias"));
}

TEST_CASE("Text without arrays of index is let through", "[text]") {
  for (const char *text : {"",
                           "array",
                           "array<",
                           "array<i64: 1, 2>",
                           "array<i64>",
                           "array<f32: 0.5>",
                           "dense<1> : tensor<2xindex>",
                           "vector<4xindex>",
                           "// array<index: 1>",
                           "\"array<index: 1>\"",
                           "myarray<index: 1>",
                           "array.x<index>",
                           "array<indexes: 1>",
                           "/",
                           "//",
                           "\"",
                           "\"\\",
                           "\"a\nb",
                           "memref<4xf32, array<i64: 1>>",
                           "ML\xefR array<index: 1>"}) {
    INFO(text);
    CHECK(checkModuleText(text, "net.mlir").isOk());
  }
}
