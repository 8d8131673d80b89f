// Text escaped as markup.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/report/Markup.h"
#include <catch2/catch.hpp>
#include <string>

using namespace halftone::detail;

TEST_CASE("text becomes characters of XML, whatever its bytes are") {
  const std::string unknown = "\uFFFD";
  CHECK(escaped("a<b>&\"c\"'\t\n") == "a&lt;b&gt;&amp;&quot;c&quot;'\t\n");
  CHECK(escaped("é層😀") == "é層😀");
  CHECK(escaped(std::string("\0\x01\r\x7f", 4)) == unknown + unknown + unknown + unknown);
  CHECK(escaped("\xff") == unknown);
  CHECK(escaped("\xc3") == unknown);                             // truncated
  CHECK(escaped("\xc0\x80") == unknown + unknown);               // an overlong encoding
  CHECK(escaped("\xed\xa0\x80") == unknown + unknown + unknown); // half of a UTF-16 surrogate pair
  CHECK(escaped("\xef\xbf\xbf") == unknown + unknown + unknown); // U+FFFF is not a character in XML
  CHECK(escaped("\xf4\x90\x80\x80").substr(0, 3) == unknown);    // beyond Unicode
  CHECK(escaped("").empty());
}

TEST_CASE("a table marks columns of numbers and gives the keys by which rows are sorted") {
  const std::string table =
      tableMarkup({{"a"}, {"n", true}}, {{Cell::text("<"), Cell::count(12345)}, {shareCell(0.25), Cell::bytes(0)}});
  CHECK(table.find("<th class=\"number\"><button>n</button></th>") != std::string::npos);
  CHECK(table.find("<td>&lt;</td><td class=\"number\" data-key=\"12345\">12,345</td>") != std::string::npos);
  CHECK(table.find("width:25.00%") != std::string::npos);
  CHECK(table.find("data-key=\"0\">0</td>") != std::string::npos);
}
