// Makes random states and draws keys from them.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/SeedState.h"
#include "frontend/base/RandomSeeds.h"
#include "frontend/graph/Promotion.h"
#include "frontend/layers/LayerImpl.h"
#include "runtime/TensorAccess.h"

namespace halftone::detail {

static Tensor words(uint32_t first, uint32_t second) {
  Tensor tensor = Tensor::zeros({2}, DType::uint32);
  auto *data = reinterpret_cast<uint32_t *>(TensorAccess::mutableData(tensor));
  data[0] = first;
  data[1] = second;
  return tensor;
}

Variable addSeedState(BuildContext &context, std::optional<int64_t> seed) {
  LayerImpl &layer = context.layer();
  Variable state = makeVariable(words(static_cast<uint32_t>(seed.value_or(nextSeed())), 0),
                                {.name = "seed_generator_state",
                                 .path = layer.path + "/seed_generator/seed_generator_state",
                                 .role = VariableRole::seed,
                                 .update = UpdateKind::assign,
                                 .trainable = false,
                                 .autocast = false});
  layer.weights.push_back(state);
  return state;
}

Value nextKey(const Variable &state) {
  Trace &trace = tracing();
  Value key = trace.read(state.impl(), DType::uint32);
  trace.assign(state.impl(), trace.binary("add", key, trace.literal(words(0, 1))));
  if (trace.sharedBatch && trace.sharedBatch->rank > 0) { // other rows, other draws
    constexpr uint32_t farApart = 0x9e3779b9;             // odd, so that no two ranks meet
    key = trace.binary("add", key, trace.literal(words(static_cast<uint32_t>(trace.sharedBatch->rank) * farApart, 0)));
  }
  return key;
}

} // namespace halftone::detail
