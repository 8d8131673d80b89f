// Names with control characters and invalid bytes, as printed to terminals.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/PrintableText.h"
#include <catch2/catch.hpp>

using halftone::printable;

TEST_CASE("Names are printed without control characters, in UTF-8", "[printable]") {
  CHECK(printable("net/dense 1") == "net/dense 1");
  CHECK(printable("\x1b[31m\n\x7f\t") == "\\1B[31m\\0A\\7F\\09");
  CHECK(printable(std::string("a\0b", 3)) == "a\\00b");
  CHECK(printable("a\"b\\c") == "a\\22b\\\\c");
  CHECK(printable("größe 层 😀") == "größe 层 😀");
  CHECK(printable("\xff\xc3") == "\\FF\\C3");
  CHECK(printable("\xc2\x9b[31m") == "\\C2\\9B[31m"); // a control character of two bytes
  CHECK(printable("\xed\xa0\x80") == "\\ED\\A0\\80"); // a surrogate
  CHECK(printable("") == "");
}
