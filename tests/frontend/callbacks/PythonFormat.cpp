// Formatted numbers, compared with those recorded from Python.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/callbacks/PythonFormat.h"
#include "halftone/Error.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

using namespace halftone;
using detail::pythonFormat;

TEST_CASE("Numbers have the texts of Python's format(), and what Python refuses is a value_error") {
  std::ifstream file(HALFTONE_SOURCE_DIR "/tests/data/python/format.jsonl");
  int count = 0;
  for (std::string line; std::getline(file, line); ++count) {
    INFO(line);
    const nlohmann::json record = nlohmann::json::parse(line), &value = record["value"];
    const auto spec = record["spec"].get<std::string>();
    std::optional<std::string> text;
    try {
      text = value.is_number_integer() ? pythonFormat(value.get<int64_t>(), spec)
                                       : pythonFormat(value.get<double>(), spec);
    } catch (const Error &error) {
      CHECK(error.kind() == ErrorKind::value_error);
    }
    CHECK(text == (record["text"].is_null() ? std::nullopt : std::optional(record["text"].get<std::string>())));
  }
  CHECK(count > 1000);
}

TEST_CASE("Numbers without digits, and the ends of the integers, have Python's texts too") {
  CHECK(pythonFormat(std::nan(""), "010.2f") == "0000000nan");
  CHECK(pythonFormat(-INFINITY, "E") == "-INF");
  CHECK(pythonFormat(INFINITY, "%") == "inf%");
  CHECK(pythonFormat(INT64_MIN, "#_x") == "-0x8000_0000_0000_0000");
  CHECK(pythonFormat(int64_t{65}, "c") == "A");
}

TEST_CASE("Widths and precisions above those of any file's name are refused") {
  for (const char *spec : {"2000000000", "256", ".256f", "099999999999999999999d", ".2000000000%"}) {
    INFO(spec);
    CHECK_THROWS_WITH(pythonFormat(1.0, spec), Catch::Contains("at most 255"));
    CHECK_THROWS_AS(pythonFormat(int64_t{1}, spec), Error);
  }
  CHECK(pythonFormat(int64_t{1}, "0255").size() == 255);
}
