// How much larger the arena of a training step is than the values that must live in it at once.
// SPDX-License-Identifier: Apache-2.0
#include "Mlp.h"
#include "Table.h"
#include <cstdio>
#include <fmt/format.h>
#include <stdexcept>

using namespace halftone;
using namespace halftone::benchmarks;

namespace {

/// The two byte counts in a plan's first line.
struct ArenaSize {
  long long bytes = 0, live = 0;
  explicit ArenaSize(const std::string &plan) {
    const size_t at = plan.find("arena ");
    if (at == std::string::npos || std::sscanf(plan.c_str() + at, "arena %lld bytes (%lld live", &bytes, &live) != 2)
      throw std::runtime_error("the plan's text does not tell its arena's size");
  }
};

void run(Table &table) {
  for (const char *policy : {"float32", "mixed_bfloat16", "mixed_float16"})
    for (int64_t hidden : {2, 12})
      for (int64_t batch : {32, 512}) {
        const ArenaSize arena(mlp(policy, {.hidden = hidden}).ir(Stage::plan, {.batch_size = batch}));
        table.add({fmt::format("arena, {} layers of 512, batch {}, {}", hidden, batch, policy),
                   fmt::format("{} bytes", arena.bytes), fmt::format("live at most {} bytes", arena.live),
                   static_cast<double>(arena.bytes) / static_cast<double>(arena.live), 1.10, 1.02, true});
      }
}

} // namespace

int main() { return runProgram("arena", "arena bytes against the largest sum of live bytes", run); }
