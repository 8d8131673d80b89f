// lint with its index has the findings of a search through all keys and paths, and takes seconds for large inputs.
// SPDX-License-Identifier: Apache-2.0
#include "tools/halftone-policy/KeyChecks.h"
#include <catch2/catch.hpp>
#include <chrono>
#include <fmt/format.h>
#include <fstream>
#include <random>
#include <unistd.h>

using namespace halftone;
using namespace halftone::tools;

namespace {

MapFile mapOf(const std::vector<std::string> &keys) {
  MapFile map;
  for (const std::string &key : keys) {
    MapEntry entry{key, PathPattern::isLiteral(key), std::nullopt, DTypePolicy("float16")};
    entry.pattern.emplace(key);
    map.add(std::move(entry));
  }
  return map;
}

RecordedModel modelOf(const std::vector<std::string> &paths) {
  RecordedModel model;
  for (const std::string &path : paths)
    model.layers.push_back({path, "Dense", DTypePolicy("float32"), std::nullopt});
  return model;
}

std::string textOf(const std::vector<Finding> &findings) {
  std::string text;
  for (const auto &[isError, code, message] : findings)
    text += fmt::format("{} {}\n", code, message);
  return text;
}

double secondsOf(const auto &work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

} // namespace

TEST_CASE("The index finds the same patterns as a match of each one", "[lint]") {
  std::mt19937 random(3);
  const std::string letters[] = {"a", "b", "/", "ab", "\xc3\xa4"},
                    signs[] = {".*", ".",   "[ab]", "a?",   "b*",   "(a|b)", "(ab)?",    "^",
                               "$",  "\\.", "|b",   "[^|]", "[]|]", "a{2}",  "\xc3\xa4+"};
  const auto text = [&](bool pattern) {
    std::string result;
    for (unsigned left = 1 + random() % 5; left > 0; --left)
      result +=
          pattern && random() % 3 == 0 ? signs[random() % std::size(signs)] : letters[random() % std::size(letters)];
    return result;
  };
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> keys;
    while (keys.size() < 30)
      if (std::string key = text(true); std::ranges::find(keys, key) == keys.end())
        try {
          (void)PathPattern(key);
          keys.push_back(key);
        } catch (const Error &) { // the key is not a pattern
        }
    const MapFile map = mapOf(keys);
    for (int paths = 0; paths < 30; ++paths) {
      const std::string path = text(false);
      std::vector<std::string> expected, found;
      for (const MapEntry &entry : map.entries)
        if (!entry.isLiteral && entry.pattern->matches(path))
          expected.push_back(entry.key);
      for (const MapEntry *entry : map.patternsMatching(path))
        found.push_back(entry->key);
      INFO(path);
      REQUIRE(found == expected);
      const bool isKey = std::ranges::find(keys, path) != keys.end();
      CHECK(map.matching(path).size() == (isKey ? 1 : expected.size()));
    }
  }
}

TEST_CASE("keys of a policy map that cover other keys are found by their ends", "[lint]") {
  CHECK(textOf(checkKeys(mapOf({"net/(a|b)_0", "net/.*", ".*_0", "n.*0", "x|net/a"}))) ==
        "P002 every path that 'net/(a|b)_0' matches is also matched by 'net/.*'\n"
        "P002 every path that 'net/(a|b)_0' matches is also matched by '.*_0'\n"
        "P002 every path that 'net/(a|b)_0' matches is also matched by 'n.*0'\n");
  CHECK(textOf(checkKeys(mapOf({"^a.*", "a.*$"}))) ==
        "P002 every path that '^a.*' matches is also matched by 'a.*$'\n");
}

TEST_CASE("The nearest path has the fewest edits, short or long", "[lint]") {
  const std::string longName(70, 'x');
  CHECK(textOf(checkKeys(mapOf({"net/heed", "nit", longName + "b"}),
                         modelOf({"net/body", "net/head", "net", longName, longName + "aa"}))) ==
        "P001 'net/heed' matches no layer; the nearest path is 'net/head'\n"
        "P001 'nit' matches no layer; the nearest path is 'net'\n"
        "P001 '" +
            longName + "b' matches no layer; the nearest path is '" + longName + "'\n");
}

TEST_CASE("The check of 20,000 keys takes seconds, with and without a model", "[lint]") {
  std::string json =
      R"({"module": "keras.dtype_policies", "class_name": "DTypePolicyMap", "config": {"default_policy": "float32", "policy_map": {)";
  const auto add = [&](const std::string &key) { json += fmt::format("\"{}\": \"float16\", ", key); };
  for (int i = 0; i < 5000; ++i) {
    add(fmt::format("net/block_{}/.*", i));
    add(fmt::format("net/block_{}/(query|key)_[0-9]+", i));
    add(fmt::format("net/block_{}/dense", i));
    add(fmt::format("other/.*/dense_{}", i));
  }
  json += R"("last": "float16"}}})";
  const std::string path = fmt::format("/tmp/halftone-lint-{}.json", getpid());
  std::ofstream(path) << json;
  MapFile map;
  double seconds = secondsOf([&] { map = readMapFile(path); });
  unlink(path.c_str());
  REQUIRE(map.entries.size() == 20001);
  std::vector<Finding> findings;
  seconds += secondsOf([&] { findings = checkKeys(map); });
  CHECK(findings.size() == 5000); // the two patterns of each block
  std::vector<std::string> paths;
  for (int i = 0; i < 1000; ++i)
    paths.push_back(fmt::format("net/block_{}/query_{}", i / 2, i % 2));
  const RecordedModel model = modelOf(paths);
  seconds += secondsOf([&] { findings = checkKeys(map, model); });
  CHECK(findings.size() == 500 + 20001 - 1000);
  CHECK(seconds < 15);
}
