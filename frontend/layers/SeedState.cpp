// Creates random states and draws keys from them.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/SeedState.h"
#include "frontend/base/RandomSeeds.h"
#include "frontend/graph/CallTransaction.h"
#include "frontend/graph/Promotion.h"
#include "frontend/layers/LayerImpl.h"
#include "runtime/TensorAccess.h"
#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace halftone::detail {

static Tensor tensorOf(const KeyWords &words) {
  Tensor tensor = Tensor::zeros({2}, DType::uint32);
  std::ranges::copy(words, reinterpret_cast<uint32_t *>(TensorAccess::mutableData(tensor)));
  return tensor;
}
Value keyConstant(const KeyWords &words) { return tracing().literal(tensorOf(words)); }

static constexpr const char *nameOfState = "seed_generator_state";
static std::string pathOfState(const LayerImpl &layer) { return layer.path + "/seed_generator/" + nameOfState; }

static Variable stateAt(std::string path, const KeyWords &words) {
  return makeVariable(tensorOf(words), {.name = nameOfState,
                                        .path = std::move(path),
                                        .role = VariableRole::seed,
                                        .update = UpdateKind::assign,
                                        .trainable = false,
                                        .autocast = false});
}

Variable addSeedState(BuildContext &context, std::optional<int64_t> seed) {
  LayerImpl &layer = context.layer();
  layer.weights.push_back(stateAt(pathOfState(layer), keyOfSeed(fmt::format("layer '{}'", layer.name), seed)));
  return layer.weights.back();
}

Variable makeSeedState(const KeyWords &words) { return stateAt(nameOfState, words); }

/// Registers an undo of changes to the layer's states if the call fails.
static void keepForFailure(LayerImpl &layer) {
  CallTransaction::onFailure([self = layer.shared_from_this(), weights = layer.weights, own = layer.ownGenerator,
                              awaited = layer.awaitedStates] {
    self->weights = weights;
    self->ownGenerator = own;
    self->awaitedStates = awaited;
  });
}

void keepSeedState(LayerImpl &layer, const Variable &state) {
  VariableImpl &impl = *state.impl();
  if (impl.path != impl.name)
    return;
  keepForFailure(layer);
  auto found = layer.weights.end();
  if (!layer.awaitedStates.empty()) {
    const Variable awaited = layer.awaitedStates.front();
    layer.awaitedStates.erase(layer.awaitedStates.begin());
    found = std::ranges::find_if(layer.weights, [&](const Variable &each) { return each.impl() == awaited.impl(); });
    CallTransaction::onFailure([state, before = state.value()] { state.assign(before); });
    state.assign(awaited.value());
  }
  CallTransaction::onFailure([state] { state.impl()->path = nameOfState; });
  impl.path = pathOfState(layer);
  if (found == layer.weights.end())
    layer.weights.push_back(state);
  else
    *found = state;
}

Variable ownSeedState(LayerImpl &layer) {
  if (layer.ownGenerator)
    return *layer.ownGenerator;
  keepForFailure(layer);
  if (layer.awaitedStates.empty()) {
    CallTransaction::onFailure([seeds = seedSequence()] { setSeedSequence(seeds); });
    layer.ownGenerator = stateAt(pathOfState(layer), {static_cast<uint32_t>(nextSeed()), 0});
    layer.weights.push_back(*layer.ownGenerator);
  } else {
    layer.ownGenerator = layer.awaitedStates.front();
    layer.awaitedStates.erase(layer.awaitedStates.begin());
  }
  return *layer.ownGenerator;
}

void awaitSeedState(LayerImpl &layer) {
  keepForFailure(layer);
  layer.awaitedStates.push_back(stateAt(pathOfState(layer), {}));
  layer.weights.push_back(layer.awaitedStates.back());
}

int64_t countSeedStates(const LayerImpl &layer) {
  return std::ranges::count_if(layer.weights,
                               [](const Variable &each) { return each.impl()->role == VariableRole::seed; });
}

/// The key of this process.
static Value ofProcess(const Value &key) {
  const Trace &trace = tracing();
  if (!trace.sharedBatch || trace.sharedBatch->rank == 0)
    return key;
  constexpr uint32_t rankStride = 0x9e3779b9; // odd, so that no two ranks collide
  return key + keyConstant({static_cast<uint32_t>(trace.sharedBatch->rank) * rankStride, 0}); // other rows, other draws
}

Value nextKey(const Variable &state) {
  Trace &trace = tracing();
  const Value key = trace.read(state.impl(), DType::uint32);
  trace.assign(state.impl(), key + keyConstant({0, 1}));
  return ofProcess(key);
}

Value fixedKey(const KeyWords &words) { return ofProcess(keyConstant(words)); }

} // namespace halftone::detail
