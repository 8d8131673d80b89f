// Lookup time in a policy map of many regular expressions.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Policy.h"
#include <algorithm>
#include <chrono>
#include <fmt/format.h>

using namespace halftone;

static double milliseconds(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

int main() {
  fmt::print("{:>6} {:>12} {:>12} {:>12}\n", "keys", "first ms", "hit ms", "miss ms");
  for (const int keys : {10, 100, 1000, 10000}) {
    const DTypePolicyMap map("float32");
    for (int i = 0; i < keys; ++i)
      map.insert(fmt::format("net/block_{}/(attention|mlp)/[a-z_]+(_[0-9]+)?", i), "mixed_bfloat16");
    const std::string hit = fmt::format("net/block_{}/mlp/dense_12", keys - 1), miss = "net/head/mlp/dense_12";
    const auto begin = std::chrono::steady_clock::now();
    bool right = map.matching_key(hit).has_value(); // the first lookup compiles every key
    const double first = milliseconds(begin);
    double best[2] = {1e9, 1e9};
    for (int round = 0; round < 20; ++round)
      for (int which = 0; which < 2; ++which) {
        const auto start = std::chrono::steady_clock::now();
        right &= map.matching_key(which ? miss : hit).has_value() == (which == 0);
        best[which] = std::min(best[which], milliseconds(start));
      }
    if (!right)
      return 1;
    fmt::print("{:>6} {:>12.4f} {:>12.4f} {:>12.4f}\n", keys, first, best[0], best[1]);
  }
}
