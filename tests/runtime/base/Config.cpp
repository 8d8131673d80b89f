// Keras's configs as JSON objects.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Config.h"
#include "halftone/Error.h"
#include "runtime/base/ConfigAccess.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace halftone;

template <class Function> static ErrorKind kindOf(Function function) {
  try {
    function();
  } catch (const Error &error) {
    return error.kind();
  }
  return ErrorKind::internal_error;
}

TEST_CASE("Config fields come back in the order in which they were set") {
  Config inner, config;
  inner.set("b", 2);
  config.set("z", "text");
  config.set("a", true);
  config.set("i", std::numeric_limits<int64_t>::min());
  config.set("d", 1e-7);
  config.set("whole", 1.0);
  config.set("o", inner);
  config.set_null("n");
  CHECK(config.dump() ==
        R"({"z":"text","a":true,"i":-9223372036854775808,"d":1e-07,"whole":1.0,"o":{"b":2},"n":null})");
  CHECK(config.keys() == std::vector<std::string>{"z", "a", "i", "d", "whole", "o", "n"});
  const Config same = Config::parse(config.dump());
  CHECK(same.dump(2) == config.dump(2));
  CHECK(same.get_string("z") == "text");
  CHECK(same.get_bool("a"));
  CHECK(same.get_int("i") == std::numeric_limits<int64_t>::min());
  CHECK(same.get_double("d") == 1e-7);
  CHECK(same.get_double("i") == -0x1p63);
  CHECK(same.get_object("o").get_int("b") == 2);
  CHECK(same.contains("n"));
  CHECK_FALSE(same.contains("m"));
  config.set("z", static_cast<const char *>(nullptr));
  CHECK(config.keys()[0] == "z");
  CHECK(kindOf([&] { (void)config.get_string("z"); }) == ErrorKind::type_error);
}

TEST_CASE("Copies of a Config are independent, and an empty one is {}") {
  Config a;
  CHECK(a.dump() == "{}");
  Config b = a;
  b.set("x", 1);
  Config c = b, d;
  c.set("x", 2);
  d = c;
  d.set("x", 3);
  CHECK_FALSE(a.contains("x"));
  CHECK(b.get_int("x") == 1);
  CHECK(c.get_int("x") == 2);
  CHECK(d.get_int("x") == 3);
  a.set("self", b);
  b.set("x", 9);
  CHECK(a.get_object("self").get_int("x") == 1);
  a = std::move(c);
  CHECK(a.get_int("x") == 2);
}

TEST_CASE("A Config holds lists of objects") {
  const Config config = Config::parse(R"({"l":[{"a":1},{"a":2}],"m":[1],"e":[]})");
  CHECK(config.get_list("l").size() == 2);
  CHECK(config.get_list("l")[1].get_int("a") == 2);
  CHECK(config.get_list("e").empty());
  CHECK(kindOf([&] { (void)config.get_list("m"); }) == ErrorKind::type_error);
}

TEST_CASE("An absent key of a Config is a KeyError, another kind a TypeError") {
  const Config config = Config::parse(R"({"s":"x","i":3,"d":1.5,"n":null,"big":18446744073709551615})");
  CHECK(kindOf([&] { (void)config.get_int("absent"); }) == ErrorKind::key_error);
  CHECK(kindOf([&] { (void)config.get_int("d"); }) == ErrorKind::type_error);
  CHECK(kindOf([&] { (void)config.get_int("big"); }) == ErrorKind::type_error);
  CHECK(kindOf([&] { (void)config.get_string("i"); }) == ErrorKind::type_error);
  CHECK(kindOf([&] { (void)config.get_bool("i"); }) == ErrorKind::type_error);
  CHECK(kindOf([&] { (void)config.get_double("s"); }) == ErrorKind::type_error);
  CHECK(kindOf([&] { (void)config.get_object("n"); }) == ErrorKind::type_error);
  CHECK(kindOf([&] { (void)config.get_list("s"); }) == ErrorKind::type_error);
  CHECK_THROWS_WITH(config.get_int("absent"), Catch::Contains("'absent'") && Catch::Contains("s, i, d, n, big"));
  CHECK_THROWS_WITH(config.get_string("i"), Catch::Contains("'i' must be a string; it is an integer"));
}

TEST_CASE("Bad JSON in a Config is a ValueError with line and column") {
  CHECK_THROWS_WITH(Config::parse("{\n  \"a\": }"), Catch::Contains("ValueError: Invalid JSON at line 2, column 8"));
  for (const char *text : {"", "{", "{\"a\":1,}", "{} x", "[1]", "3", "null", "\"s\"", "{\"a\":01}", "{\"a\":nan}",
                           "{\"a\":1e999}", "{\"a\":\"\xff\"}", "{'a':1}"}) {
    INFO(text);
    CHECK(kindOf([&] { (void)Config::parse(text); }) == ErrorKind::value_error);
  }
  CHECK(kindOf([] { (void)Config::parse("{\"a\":" + std::string(100000, '[')); }) == ErrorKind::value_error);
}

TEST_CASE("A zero byte or a byte order mark in JSON is a ValueError: nothing behind it is dropped") {
  using namespace std::string_view_literals;
  for (const std::string_view text : {"{}\0"sv, "{}\0 more"sv, "\0{}"sv, "{\"a\": 1,\n \0 \"b\": 2}"sv})
    CHECK_THROWS_WITH(Config::parse(text), Catch::Contains("a zero byte"));
  CHECK_THROWS_WITH(Config::parse("{\n\0}"sv), Catch::Contains("line 2, column 1"));
  CHECK_THROWS_WITH(Config::parse("\xef\xbb\xbf{}"), Catch::Contains("a byte order mark"));
  CHECK(Config::parse("{\"a\":\"\\u0000\"}").get_string("a").size() == 1);
}

TEST_CASE("A key that occurs twice in one object is a ValueError, at any depth") {
  CHECK_THROWS_WITH(Config::parse(R"({"a":1,"b":2,"a":1})"),
                    Catch::Contains("ValueError: Invalid JSON: the key 'a' occurs twice"));
  CHECK_THROWS_WITH(Config::parse(R"({"l":[{"x":{"k":1,"\u006b":2}}]})"), Catch::Contains("the key 'k' occurs twice"));
  CHECK(Config::parse(R"({"a":{"k":1},"b":{"k":1},"l":[{"k":1},{"k":1}],"k":1})").keys().size() == 4);
}

TEST_CASE("A message about JSON is short, however long the text") {
  const auto messageOf = [](const std::string &text) {
    try {
      (void)Config::parse(text);
    } catch (const Error &error) {
      return error.message();
    }
    return std::string("none");
  };
  CHECK(messageOf("{\n \"a\": 1e999}") == "Invalid JSON at line 2, column 7: the number 1e999 is too large");
  const std::string digits(100000, '7');
  CHECK(messageOf("{\"a\":" + digits + "}") == "Invalid JSON at line 1, column 6: the number " + digits.substr(0, 80) +
                                                   "... (100000 characters) is too large");
  for (const std::string &text : {"{\"a\": \"" + digits + "\n\"}", "{\"a\": " + digits + "x}", "{" + digits + "}",
                                  "{\"" + digits + "\": 1, \"" + digits + "\": 1}"}) {
    const std::string message = messageOf(text);
    CHECK_THAT(message, Catch::StartsWith("Invalid JSON"));
    CHECK(message.size() < 400);
  }
}

TEST_CASE("A Config keeps infinities and NaN, and does not write text that is not UTF-8") {
  Config config;
  config.set("a", NAN);
  config.set("b", -INFINITY);
  CHECK(config.dump() == R"({"a":NaN,"b":-Infinity})");
  CHECK(std::isnan(Config::parse(config.dump()).get_double("a")));
  CHECK(Config::parse(config.dump()).get_double("b") == -INFINITY);
  config.set("s", "caf\xe9");
  CHECK_THROWS_WITH(config.dump(), Catch::Contains("ValueError: ") && Catch::Contains(R"("caf\xe9" of the key "s")"));
}

TEST_CASE("ConfigAccess gives the JSON inside a Config") {
  const Config config = ConfigAccess::make({{"a", {1, 2}}});
  CHECK(ConfigAccess::json(config)["a"][1] == 2);
  CHECK(ConfigAccess::json(Config()).is_object());
  CHECK(kindOf([] { (void)ConfigAccess::make(nlohmann::ordered_json::array()); }) == ErrorKind::type_error);
}
