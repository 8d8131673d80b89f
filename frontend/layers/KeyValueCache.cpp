// Finds a model's causal attention, stores its keys and values, and processes tokens after them.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/KeyValueCache.h"
#include "frontend/graph/Devices.h"
#include "frontend/graph/Graph.h"
#include "frontend/graph/Promotion.h"
#include "frontend/ops/Operations.h"
#include "halftone/Ops.h"
#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace halftone {
namespace detail {

namespace {

thread_local OpenCache *innermost = nullptr;
constexpr int64_t chunks[] = {64, 16, 4, 1}; // numbers of tokens that one program processes

[[noreturn]] void refuse(const std::string &message) {
  throw Error(ErrorKind::value_error, "a key-value cache " + message);
}

Shape withSteps(const Shape &shape, int64_t steps) {
  std::vector<int64_t> dims = shape.dims();
  dims[1] = steps;
  return Shape(dims);
}

Variable zeros(const std::string &layer, const char *name, const Shape &shape, DType dtype) {
  const std::string path = layer + "/cache/" + name;
  checkMemoryFor("the key-value cache's '" + path + "'", shape, dtype);
  return makeZeros(shape, dtype,
                   {.name = name,
                    .path = path,
                    .role = VariableRole::state,
                    .update = UpdateKind::assign,
                    .trainable = false,
                    .autocast = false});
}

/// The last logits of a chunk in float32, (batch, vocabulary).
Value lastOf(const Value &logits) {
  const Shape shape = logits.shape();
  const Value last = ops::slice(logits, Shape{0, shape[1] - 1, 0}, Shape{shape[0], 1, shape[2]});
  return asDtype(ops::reshape(last, Shape{shape[0], shape[2]}), DType::float32, "logits");
}

/// Collects the calls of the model's causal attention, and the extent of its logits.
void findCalls(const std::shared_ptr<KeyValueState> &state) {
  const std::vector<ValueSpec> outputs =
      inferSpecs({{Shape{state->batch, 1}, DType::int32}}, [&](const std::vector<Value> &tokens) {
        const CacheScope scope{KeyValueCache(state)};
        return std::vector<Value>{state->model(tokens[0])};
      });
  const ValueSpec &logits = outputs.front();
  if (logits.shape.rank() != 3 || logits.shape[0] != state->batch || logits.shape[1] != 1 || !is_float(logits.dtype))
    refuse(fmt::format("needs a model that maps tokens (batch, steps) to logits (batch, steps, vocabulary). For tokens "
                       "({}, 1) the model '{}' returns {} in {}",
                       state->batch, state->model.name(), logits.shape.str(), name(logits.dtype)));
  if (state->calls.empty())
    refuse(
        fmt::format("needs causal attention: no layer MultiHeadAttention or GroupQueryAttention of the model '{}' is "
                    "called with use_causal_mask",
                    state->model.name()));
  state->vocabulary = logits.shape[2];
}

void setLength(KeyValueState &state, const std::optional<int64_t> &length) {
  if (!length)
    refuse("needs a length: the model has no PositionEmbedding to determine it");
  state.length = *length;
  if (state.length < 1)
    refuse(fmt::format("needs a length of at least 1. Received: length={}", state.length));
  if (state.positions && state.length > *state.positions)
    refuse(fmt::format("of length {} is longer than the {} positions of the model's PositionEmbedding", state.length,
                       *state.positions));
}

/// Creates the variables of the cache, on the device of the model's variables.
void makeVariables(KeyValueState &state) {
  std::vector<Variable> made;
  for (CachedCall &call : state.calls) {
    call.dtype = state.dtype.value_or(call.dtype);
    call.keys = zeros(call.path, "keys", withSteps(call.keyShape, state.length), call.dtype);
    call.values = zeros(call.path, "values", withSteps(call.valueShape, state.length), call.dtype);
    made.insert(made.end(), {call.keys, call.values});
  }
  state.position = zeros(state.model.name(), "position", {}, DType::int32);
  made.push_back(state.position);
  if (const std::vector<Variable> weights = state.model.variables(); !weights.empty())
    moveVariables(made, weights.front().impl()->memory->sharedDevice());
}

} // namespace

std::string described(const Tensor &tensor) {
  return tensor.defined() ? fmt::format("{} in {}", tensor.shape().str(), name(tensor.dtype())) : "an undefined Tensor";
}

std::shared_ptr<KeyValueState> KeyValueState::make(const Model &model, const KeyValueCacheArgs &args,
                                                   std::optional<int64_t> needed) {
  const auto state = std::make_shared<KeyValueState>(model, args);
  findCalls(state);
  setLength(*state, args.length ? args.length : state->positions ? state->positions : needed);
  makeVariables(*state);
  return state;
}

KeyValueState::KeyValueState(const Model &given, const KeyValueCacheArgs &args)
    : model(given), batch(args.batch), dtype(args.dtype),
      program({.name = "read"}, {"tokens"}, [this](Trace &, const std::vector<Value> &feeds, const FeedLayout &) {
        // The state owns the program, so the program must not own the state.
        const CacheScope scope{KeyValueCache(std::shared_ptr<KeyValueState>(std::shared_ptr<KeyValueState>(), this))};
        return std::vector<CompiledFunction::Named>{{"logits", lastOf(model(feeds[0]))}};
      }) {
  if (batch < 1)
    refuse(fmt::format("needs a batch of at least 1. Received: batch={}", batch));
  if (dtype && !is_float(*dtype))
    throw Error(ErrorKind::type_error,
                fmt::format("a key-value cache stores floats. Received: dtype={}", halftone::name(*dtype)));
}

OpenCache::OpenCache(std::shared_ptr<KeyValueState> state, std::shared_ptr<Trace> trace)
    : state_(std::move(state)), trace_(trace), outer_(std::exchange(innermost, this)) {}

std::shared_ptr<OpenCache> OpenCache::open(const std::shared_ptr<KeyValueState> &state) {
  Trace *trace = Trace::current();
  if (!trace)
    throw Error(ErrorKind::runtime_error,
                "CacheScope is for functions being traced: use it inside a jit function, around the call of the model");
  if (state->trace.lock().get() == trace)
    refuse("supports one scope in a traced function. Received: another");
  state->trace = trace->shared_from_this();
  const std::shared_ptr<OpenCache> opened(new OpenCache(state, trace->shared_from_this()));
  trace->atEnd.push_back([opened, trace] { opened->finish(*trace); });
  return opened;
}
void OpenCache::close() { innermost = outer_; }

OpenCache *OpenCache::current() {
  return innermost && innermost->trace_.lock().get() == Trace::current() ? innermost : nullptr;
}

void OpenCache::noteSteps(int64_t batch, int64_t steps) {
  if (batch != state_->batch)
    refuse(fmt::format("for a batch of {} received a batch of {}", state_->batch, batch));
  if (steps < 1 || (steps_ && steps != steps_))
    refuse(steps < 1 ? "received no tokens"
                     : fmt::format("must read the same number of steps in every layer. Received: {} and {} steps",
                                   steps_, steps));
  steps_ = steps;
}

void OpenCache::place(const Shape &input, int64_t positions) {
  noteSteps(input[0], input[-2]);
  state_->positions = std::min(positions, state_->positions.value_or(positions));
}

Value OpenCache::position() const {
  return state_->position.defined() ? tracing().read(state_->position.impl(), DType::int32)
                                    : tracing().splat(0.0, {}, DType::int32);
}

Value OpenCache::appended(const Variable &cached, const Value &steps) const {
  const VariableImpl &all = *cached.impl();
  const Value stepIndex = tracing().iota(1, all.shape, DType::int32) - position(); // among the new steps
  const Value isNew =
      ops::logical_and(ops::greater_equal(stepIndex, scalarLike(0.0, stepIndex)), ops::less(stepIndex, steps_));
  const Value index = tracing().iota(0, Shape{state_->length}, DType::int32) - position();
  const Value moved = steps_ == 1 ? broadcastTo(steps, all.shape) : tracing().gather(steps, index, 1);
  const Value old = asDtype(tracing().read(cached.impl(), all.dtype), steps.dtype(), "cache");
  const Value stored = asDtype(ops::where(isNew, moved, old), all.dtype, "cache"); // the old ones do not change
  cached.assign(stored);
  return asDtype(stored, steps.dtype(), "cache");
}

KeysAndValues OpenCache::append(const std::string &path, const KeysAndValues &steps) {
  noteSteps(steps.keys.shape()[0], steps.keys.shape()[1]);
  if (!state_->position.defined()) {
    state_->calls.push_back({path, steps.keys.shape(), steps.values.shape(), steps.keys.dtype()});
    return steps;
  }
  if (next_ == state_->calls.size() || state_->calls[next_].path != path)
    refuse("supports one call of its model. Received: another call of causal attention");
  const CachedCall &call = state_->calls[next_++];
  return {appended(call.keys, steps.keys), appended(call.values, steps.values)};
}

void OpenCache::finish(Trace &trace) const {
  if (next_ != state_->calls.size())
    refuse(fmt::format("supports one call of its model, which has {} calls of causal attention. Received: {}",
                       state_->calls.size(), next_));
  state_->position.assign(position() + steps_);
  const VariableHandle memory = state_->position.impl()->memory;
  const auto prepare = [state = state_, steps = steps_, memory]() -> BeforePlay::Begin {
    const uint64_t version = memory->version(); // read first: the position belongs to this version or a later one
    const auto position = static_cast<int64_t>(hostScalar(state->position));
    if (position + steps > state->length)
      refuse(fmt::format("of length {} holds {} tokens. Received: {} more", state->length, position, steps));
    return [memory, version]() -> StatusOr<bool> { return memory->version() == version; };
  };
  trace.beforeRun.push_back({{memory}, prepare});
}

} // namespace detail

using namespace detail;

KeyValueCache::KeyValueCache(const Model &model, const KeyValueCacheArgs &args)
    : state_(KeyValueState::make(model, args)) {}
KeyValueCache::KeyValueCache(std::shared_ptr<KeyValueState> state) : state_(std::move(state)) {}
KeyValueCache::KeyValueCache(const KeyValueCache &) = default;
KeyValueCache::KeyValueCache(KeyValueCache &&other) noexcept : state_(other.state_) {} // copies, so that it stays whole
KeyValueCache &KeyValueCache::operator=(const KeyValueCache &) & = default;
KeyValueCache &KeyValueCache::operator=(KeyValueCache &&other) & noexcept {
  return *this = static_cast<const KeyValueCache &>(other);
}
KeyValueCache::~KeyValueCache() = default;
int64_t KeyValueCache::batch() const { return state_->batch; }
int64_t KeyValueCache::length() const { return state_->length; }
int64_t KeyValueCache::position() const { return static_cast<int64_t>(hostScalar(state_->position)); }
int64_t KeyValueCache::vocabulary() const { return state_->vocabulary; }

Tensor KeyValueCache::read(const Tensor &tokens) const {
  const Shape shape = tokens.defined() ? tokens.shape() : Shape{};
  if (shape.rank() != 2 || shape[0] != batch() || shape[1] < 1 || is_float(tokens.dtype()))
    throw Error(ErrorKind::value_error,
                fmt::format("KeyValueCache::read needs integers of shape ({}, 1 or more). Received: {}", batch(),
                            described(tokens)));
  if (const int64_t before = position(); before + shape[1] > length())
    refuse(fmt::format("of length {} holds {} tokens. Received: {} more", length(), before, shape[1]));
  const std::vector<int32_t> all = tokens.astype(DType::int32).to_vector<int32_t>();
  Tensor logits;
  for (int64_t done = 0; done < shape[1];) {
    const int64_t count = *std::ranges::find_if(chunks, [&](int64_t each) { return each <= shape[1] - done; });
    std::vector<int32_t> chunk;
    for (int64_t text = 0; text < batch(); ++text) {
      const auto from = all.begin() + text * shape[1] + done;
      chunk.insert(chunk.end(), from, from + count);
    }
    logits = state_->program.run({Tensor(std::move(chunk), {batch(), count})}).front();
    done += count;
  }
  return logits;
}

void KeyValueCache::reset() const {
  // Masked values are multiplied by 0, so a NaN among them would propagate.
  for (const CachedCall &call : state_->calls)
    for (const Variable *variable : {&call.keys, &call.values})
      variable->assign(Tensor::zeros(variable->impl()->shape, variable->impl()->dtype));
  state_->position.assign(Tensor::zeros({}, DType::int32));
}

CacheScope::CacheScope(const KeyValueCache &cache) : open_(OpenCache::open(cache.state())) {}
CacheScope::~CacheScope() { open_->close(); }

} // namespace halftone
