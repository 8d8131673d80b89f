// Policies by layer path: exact keys and regexes; the rule that decided, and the rule that decided for no layer.
// SPDX-License-Identifier: Apache-2.0
#include <halftone/Halftone.h>
#include <iostream>
using namespace halftone;
using namespace halftone::layers;

int main() {
  DTypePolicyMap map(DTypePolicy("mixed_bfloat16"),
                     {
                         {"net/encoder_[0-9]+", "mixed_float16"},
                         {"net/.*norm", float32},
                         {"net/head", DTypePolicy("float32")},
                         {"net/attention/query", QuantizedDTypePolicy("int8", "bfloat16")},
                     });
  map.insert("net/tail", "float32"); // as in Keras, a second insert of the same key throws

  PolicyScope scope(map); // the global policy may be a map: each layer looks up its own path when it is built
  Sequential net({Input({64}), Dense(64, {.activation = "gelu", .name = "encoder_0"}),
                  Dense(64, {.activation = "gelu", .name = "encoder_1"}), LayerNormalization({.name = "norm"}),
                  Dense(32, {.name = "middle"}), Dense(10, {.name = "head"})},
                 {.name = "net"});
  std::cout << net.summary();

  PolicyReport report =
      net.apply_policy(DTypePolicyMap("mixed_bfloat16", {{"net/middle", "float32"}, {"net/typo", "float16"}}));
  for (const PolicyReport::Row &row : report.rows)
    std::cout << row.path << " " << row.policy << " by " << row.key.value_or("the default") << "\n";
  for (const std::string &key : report.unused_keys)
    std::cout << "never matched: " << key << "\n";

  std::cout << map["net/encoder_3"].name() << " " << map["elsewhere"].name() << " " << map.size() << "\n";
  map.save("policies.json");
  return report.unused_keys == std::vector<std::string>{"net/typo"} && map.size() == 5 &&
                 map["net/encoder_3"].name() == "mixed_float16"
             ? 0
             : 1;
}
