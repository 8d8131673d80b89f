// The size of a training step's arena relative to its live values, and of a GPT's arena relative to strict mode.
// SPDX-License-Identifier: Apache-2.0
#include "Gpt.h"
#include "Mlp.h"
#include "Table.h"
#include <cstdio>
#include <fmt/format.h>
#include <stdexcept>

using namespace halftone;
using namespace halftone::benchmarks;

namespace {

/// The two byte counts in the first line of a plan.
struct ArenaSize {
  long long bytes = 0, live = 0;
  explicit ArenaSize(const std::string &plan) {
    const size_t at = plan.find("arena ");
    if (at == std::string::npos || std::sscanf(plan.c_str() + at, "arena %lld bytes (%lld live", &bytes, &live) != 2)
      throw std::runtime_error("the text of the plan does not contain the size of the arena");
  }
};

ArenaSize arenaOf(const Model &model, int64_t batch) { return ArenaSize(model.ir(Stage::plan, {.batch_size = batch})); }

/// Compares the arena with the maximum number of live bytes.
void addTightness(Table &table, const std::string &what, const ArenaSize &arena) {
  table.add({what, fmt::format("{} bytes", arena.bytes), fmt::format("live at most {} bytes", arena.live),
             static_cast<double>(arena.bytes) / static_cast<double>(arena.live), 1.10, 1.02, true});
}

/// The arena of a GPT, also compared with strict mode, which stores the attention weights, and with rematerialized
/// blocks.
void runGpt(Table &table, const std::string &policy) {
  const int64_t batch = 16;
  const std::string what = fmt::format("arena, GPT of 6 layers of 384, 256 long, batch {}, {}", batch, policy);
  if (!table.wants(what))
    return;
  const ArenaSize arena = arenaOf(gpt(policy), batch);
  addTightness(table, what, arena);
  const ArenaSize strict = arenaOf(gpt(policy, {.numerics = Numerics::strict}), batch);
  table.add({what, fmt::format("{} bytes", arena.bytes), fmt::format("strict mode {} bytes", strict.bytes),
             static_cast<double>(arena.bytes) / static_cast<double>(strict.bytes), 0.75, 0.5, true});
  const ArenaSize again = arenaOf(gpt(policy, {.rematerialize = "full"}), batch);
  table.add({what + ", rematerialized", fmt::format("{} bytes", again.bytes), fmt::format("kept {} bytes", arena.bytes),
             static_cast<double>(again.bytes) / static_cast<double>(arena.bytes), 0.5, 0.4, true});
}

void run(Table &table) {
  for (const char *policy : {"float32", "mixed_bfloat16", "mixed_float16"})
    for (int64_t hidden : {2, 12})
      for (int64_t batch : {32, 512})
        if (const auto what = fmt::format("arena, {} layers of 512, batch {}, {}", hidden, batch, policy);
            table.wants(what))
          addTightness(table, what, arenaOf(mlp(policy, {.hidden = hidden}), batch));
  for (const char *policy : {"float32", "mixed_bfloat16"})
    runGpt(table, policy);
}

} // namespace

int main() { return runProgram("arena", "arena bytes against the largest sum of live bytes", run); }
