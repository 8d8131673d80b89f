// Random names and damaged configs are accepted, or rejected with an error kind and a message.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Legacy.h"
#include "tests/runtime/policy/PolicyFacts.h"
#include <catch2/catch.hpp>
#include <fstream>
#include <random>

using namespace halftone;
using Json = nlohmann::ordered_json;

namespace {

class Random {
public:
  explicit Random(uint32_t seed) : engine(seed) {}
  size_t below(size_t bound) { return bound ? engine() % bound : 0; }
  template <class List> const auto &oneOf(const List &list) { return list[below(std::size(list))]; }

private:
  std::mt19937 engine;
};

/// Returns true if `make` succeeds. A rejection must have an error kind and a message.
template <class Function> bool accepts(Function make) {
  try {
    make();
    return true;
  } catch (const Error &error) {
    const bool says = !error.message().empty() && error.kind() != ErrorKind::internal_error;
    if (!says)
      FAIL("refused without a reason: " << error.what());
    return false;
  }
}

const char *const pieces[] = {"int8",
                              "int4",
                              "float8",
                              "gptq",
                              "awq",
                              "ternary",
                              "_from_",
                              "/",
                              "128",
                              "-1",
                              "None",
                              "4",
                              "float",
                              "16",
                              "32",
                              "mixed_",
                              "bfloat16",
                              "float32",
                              "string",
                              "torch",
                              ".",
                              "jax.numpy",
                              "infer",
                              "_with_float32_vars",
                              " ",
                              "\xff",
                              "_",
                              "\xc3\xa9",
                              "e4m3fn",
                              "complex64",
                              "9999999999999999999999",
                              "0",
                              "+",
                              "'",
                              "\"",
                              "\\",
                              "{}",
                              "%s"};

std::string randomName(Random &random) {
  std::string text;
  for (size_t n = random.below(8); n > 0; --n)
    if (random.below(8) == 0)
      text += static_cast<char>(random.below(256));
    else
      text += random.oneOf(pieces);
  return text;
}

std::vector<std::string> recordedConfigs() {
  std::vector<std::string> configs;
  for (const char *name : {"policies", "quantized_classes", "maps"}) {
    std::ifstream file(std::string(HALFTONE_SOURCE_DIR "/tests/data/keras/") + name + ".jsonl");
    for (std::string line; std::getline(file, line);) {
      const Json row = Json::parse(line);
      if (row.contains("serialized"))
        configs.push_back(row["serialized"].dump());
      else if (row.contains("serialized_null_default"))
        configs.push_back(row["serialized_null_default"].dump());
      else if (row["result"].contains("ok") && row["result"]["ok"].contains("serialized"))
        configs.push_back(row["result"]["ok"]["serialized"].dump());
    }
  }
  configs.push_back(dtype_policies::serialize(legacy::Policy("infer", 2.0)).dump());
  configs.push_back(dtype_policies::serialize(legacy::Policy("float16", "dynamic")).dump());
  return configs;
}

/// Changes a random value of the tree, removes its key or adds a sibling.
void damage(Json &json, Random &random) {
  const Json values[] = {nullptr,
                         true,
                         1,
                         -7,
                         1.5,
                         "",
                         "float32",
                         "int8_from_float32",
                         "(",
                         Json::array(),
                         Json::object(),
                         18446744073709551615u,
                         "DTypePolicyMap",
                         Json{{"class_name", "DTypePolicy"}}};
  Json *place = &json;
  while (place->is_structured() && !place->empty() && random.below(4) != 0) {
    auto child = place->begin();
    std::advance(child, random.below(place->size()));
    place = &*child;
  }
  if (place->is_object() && random.below(2) == 0) {
    if (!place->empty() && random.below(2) == 0)
      place->erase(place->items().begin().key());
    else
      (*place)[randomName(random)] = random.oneOf(values);
  } else {
    *place = random.oneOf(values);
  }
}

void damage(std::string &text, Random &random) {
  const size_t at = random.below(text.size());
  switch (random.below(4)) {
  case 0:
    text[at] = static_cast<char>(random.below(256));
    break;
  case 1:
    text.erase(at, random.below(12));
    break;
  case 2:
    text.insert(at, random.oneOf(pieces));
    break;
  default:
    text.insert(at, text.substr(random.below(text.size()), random.below(60)));
  }
}

} // namespace

TEST_CASE("10,000 random names make policies or clear errors") {
  Random random(1);
  int accepted = 0;
  const PolicyScope restore{PolicyArg()};
  for (int i = 0; i < 10000; ++i) {
    const std::string name = randomName(random), source = randomName(random);
    accepted += accepts([&] { DTypePolicy policy(name); });
    accepted += accepts([&] { (void)dtype_policies::get(name).repr(); });
    accepted += accepts([&] { QuantizedDTypePolicy policy(name, source); });
    accepted += accepts([&] { QuantizedFloat8DTypePolicy policy(name, source); });
    accepted += accepts([&] { Int4DTypePolicy policy(name, "float32"); });
    accepted += accepts([&] { GPTQDTypePolicy policy(name, "float32"); });
    accepted += accepts([&] { AWQDTypePolicy policy(name, "float32"); });
    accepted += accepts([&] { legacy::Policy policy(name); });
    accepted += accepts([&] { set_dtype_policy(name); });
    set_dtype_policy("float32");
    const DTypePolicyMap map("float32", {{name, "float16"}});
    accepted += accepts([&] { (void)map[source]; });
    CHECK(map[name].name() == "float16");
  }
  CHECK(accepted > 1000);
}

TEST_CASE("10,000 damaged configs make policies or clear errors") {
  Random random(2);
  const std::vector<std::string> configs = recordedConfigs();
  REQUIRE(configs.size() > 250);
  int accepted = 0;
  for (int i = 0; i < 10000; ++i) {
    std::string text = random.oneOf(configs);
    if (i % 2) {
      Json json = Json::parse(text);
      for (size_t n = 1 + random.below(3); n > 0; --n)
        damage(json, random);
      text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
    } else {
      for (size_t n = 1 + random.below(3); n > 0 && !text.empty(); --n)
        damage(text, random);
    }
    INFO(text);
    std::string written, again;
    accepted += accepts([&] {
      const DTypePolicy policy = dtype_policies::deserialize(Config::parse(text));
      written = dtype_policies::serialize(policy).dump();
      again = dtype_policies::serialize(dtype_policies::deserialize(Config::parse(written))).dump();
      if (const std::optional<DTypePolicyMap> map = policy.as_map())
        (void)accepts([&] { (void)(*map)["encoder/dense_1/query"]; });
    });
    CHECK(again == written);
  }
  CHECK(accepted > 500);
  CHECK(accepted < 9500);
}
