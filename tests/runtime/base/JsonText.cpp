// JSON texts: numbers as Python prints them, limits, errors with positions, and linear running time.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/JsonText.h"
#include "halftone/Error.h"
#include "runtime/base/FileLimits.h"
#include <bit>
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <limits>
#include <random>

using namespace halftone;
using Json = nlohmann::ordered_json;
using Catch::Contains;

TEST_CASE("Infinity, -Infinity and NaN are numbers wherever a number may stand, as in Python's json") {
  const std::string text = R"({"a":[Infinity,-Infinity,NaN,[-Infinity]],"Infinity":NaN,"s":"NaN"})";
  const Json value = parseJson(text);
  CHECK(value["a"][0] == INFINITY);
  CHECK(value["a"][3][0] == -INFINITY);
  CHECK(std::isnan(value["Infinity"].get<double>()));
  CHECK(value["s"] == "NaN");
  CHECK(jsonText(value) == text);
  for (const char *other : {"[NaNs]", "[-NaN]", "[+Infinity]", "[infinity]", "[Infinity5]", "[1Infinity]", "[Inf]",
                            "[--Infinity]", "[- Infinity]", "{Infinity:1}"}) {
    INFO(other);
    CHECK_THROWS_WITH(parseJson(other), Contains("Invalid JSON at line 1, column"));
  }
}

TEST_CASE("Each number comes back from its text with the same bits, and an integer as an integer") {
  std::mt19937_64 random(1);
  Json list = Json::array({0, -1, 1.0, -0.0, 5e-324, 2.2250738585072014e-308, 1e308, 0.1, 1e-7,
                           std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()});
  while (list.size() < 2000) {
    const double number = std::bit_cast<double>(random());
    if (std::isfinite(number))
      list.push_back(number);
  }
  const Json same = parseJson(jsonText(list));
  REQUIRE(same.size() == list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    INFO(list[i]);
    CHECK(same[i].is_number_float() == list[i].is_number_float());
    CHECK(std::bit_cast<uint64_t>(same[i].get<double>()) == std::bit_cast<uint64_t>(list[i].get<double>()));
  }
  for (const char *beyond :
       {"9223372036854775808", "18446744073709551615", "18446744073709551616", "-9223372036854775809"})
    CHECK(parseJson(beyond).is_number_float());
  CHECK(parseJson("1e-400") == 0.0);
  CHECK_THROWS_WITH(parseJson("[1,\n -1e400]"), Contains("line 2, column 2: the number -1e400 is too large"));
}

TEST_CASE("A text is written with the blanks of nlohmann's json, and read with any") {
  const Json value = Json::parse(R"({"a":[1,{"b":null}],"c":{},"d":[],"e":"\u00e9\"\\\n","f":true})");
  CHECK(jsonText(value) == value.dump());
  CHECK(jsonText(value, 2) == value.dump(2));
  CHECK(parseJson(value.dump(3)) == value);
  CHECK(parseJson("\t\r\n {\"a\" : [ 1 , 2 ] }\n") == Json::parse(R"({"a":[1,2]})"));
}

TEST_CASE("Text that is not JSON is an error at its place") {
  for (const char *text : {"",
                           "{",
                           "[",
                           "[1",
                           "[1,",
                           "[1,]",
                           "[,1]",
                           "{\"a\"",
                           "{\"a\":",
                           "{\"a\":1",
                           "{\"a\":1,}",
                           "{a:1}",
                           "[1 2]",
                           "tru",
                           "nulll",
                           "01",
                           "1.",
                           ".5",
                           "1e",
                           "+1",
                           "-",
                           "[1]]",
                           "\"",
                           "\"\\",
                           "\"\\x\"",
                           "\"\\ud800\"",
                           "\"\n\"",
                           "\"\xff\"",
                           "\"\xed\xa0\x80\"",
                           "'a'",
                           "// \n1",
                           "1 // a"}) {
    INFO(text);
    CHECK_THROWS_WITH(parseJson(text), Contains("ValueError: Invalid JSON at line 1, column "));
  }
  CHECK_THROWS_WITH(parseJson("[1,\n  x]"), Contains("line 2, column 3: expected a value, found \"x\""));
  CHECK_THROWS_WITH(jsonText({{"k", {"\xff"}}}), Contains(R"("\xff" of the key "k")"));
  CHECK_THROWS_WITH(jsonText({{"\xff", 1}}), Contains("UTF-8"));
}

TEST_CASE("As many levels of JSON as the limit are read, and no more") {
  const auto nested = [](size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); };
  CHECK(jsonText(parseJson(nested(detail::maxJsonLevels))) == nested(detail::maxJsonLevels));
  CHECK_THROWS_WITH(parseJson(nested(detail::maxJsonLevels + 1)), Contains("more than 200 levels of nesting"));
  CHECK_THROWS_WITH(parseJson(std::string(10'000'000, '[')), Contains("more than 200 levels of nesting"));
}

TEST_CASE("The time to read JSON grows with the text, also for many objects in a list and many keys in an object") {
  const auto seconds = [](const std::string &text) {
    const auto start = std::chrono::steady_clock::now();
    (void)parseJson(text);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  std::string list = "[{}", object = "{\"k\":0";
  for (int i = 0; i < 200'000; ++i) {
    list += ",{}";
    object += ",\"k" + std::to_string(i) + "\":0";
  }
  CHECK(seconds(list + "]") < 5.0); // a quadratic pass would take minutes
  CHECK(seconds(object + "}") < 5.0);
}
