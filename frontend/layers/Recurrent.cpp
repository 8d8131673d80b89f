// RNN, SimpleRNN, LSTM and GRU: a scan of a cell over the steps of a sequence.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/Recurrent.h"
#include "frontend/graph/CallTransaction.h"
#include "frontend/graph/Promotion.h"
#include "frontend/layers/StackedCells.h"
#include "frontend/layers/Wrapped.h"
#include "frontend/ops/Masks.h"
#include "halftone/Loops.h"
#include "runtime/base/ConfigAccess.h"
#include <fmt/format.h>
#include <numeric>

namespace halftone::detail {

namespace {

using Json = nlohmann::ordered_json;
using List = std::vector<Value>;

List listOf(const Values &values) { return {values.begin(), values.end()}; }

Shape withBatch(int64_t batch, const Shape &shape) {
  std::vector<int64_t> dims{batch};
  dims.insert(dims.end(), shape.begin(), shape.end());
  return Shape(dims);
}

/// The mask of one step, (batch,), reshaped for values of another rank.
Value maskFor(const Value &mask, const Value &x) {
  std::vector<int64_t> dims(static_cast<size_t>(x.rank()), 1);
  dims[0] = mask.shape()[0];
  return broadcastTo(ops::reshape(mask, Shape(dims)), x.shape());
}

/// value_error unless the mask has one element per step of each sequence.
Value requiredMask(const Value &mask, const Shape &sequence) {
  if (mask.defined() && (mask.rank() != 2 || mask.shape()[0] != sequence[0] || mask.shape()[1] != sequence[1]))
    throw Error(
        ErrorKind::value_error,
        fmt::format("The mask of a recurrent layer must have the shape (batch, steps), ({}, {}) for inputs of shape "
                    "{}. Received: mask.shape={}",
                    sequence[0], sequence[1], sequence.str(), mask.shape().str()));
  return asMask(mask);
}

} // namespace

Value swapped(const Value &x) {
  std::vector<int64_t> axes(static_cast<size_t>(x.rank()));
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[0], axes[1]);
  return ops::transpose(x, axes);
}

/// The steps of one call. The last carry is the previous output, unless all outputs are returned and none depends on
/// the previous one.
struct RecurrentBody::Loop {
  const RecurrentBody &layer;
  CellMasks dropped;
  DType compute;                   // of the cell
  bool keepsLast, repeats = false; // repeats: a masked step repeats the previous output

  std::pair<Values, Values> operator()(const Values &carry, const Values &slices) const {
    const size_t count = carry.size() - keepsLast;
    const List states(carry.begin(), carry.begin() + count);
    List next = callCell(layer.cell_, slices[0], states, dropped);
    for (Value &each : next)
      each = asDtype(each, compute);
    Value output = next[0];
    next.erase(next.begin());
    if (slices.size() > 1) {
      const Value &seen = slices[1];
      output = ops::where(maskFor(seen, output), output, hidden(output, carry));
      for (size_t i = 0; i < next.size(); ++i)
        next[i] = ops::where(maskFor(seen, next[i]), next[i], states[i]);
    }
    const Values ys = layer.options_.sequences ? Values(output) : Values();
    if (keepsLast)
      next.push_back(output);
    return {Values(next), ys};
  }
  /// The output of a masked step.
  Value hidden(const Value &output, const Values &carry) const {
    if (repeats)
      return carry[carry.size() - 1];
    return layer.options_.zeroMasked ? ops::zeros_like(output) : carry[indexOfOutput(layer.cell_)];
  }
};

RecurrentBody::RecurrentBody(Layer cell, const RunOptions &options, std::optional<int64_t> rank)
    : cell_(std::move(cell)), options_(options), rank_(rank) {
  (void)cellOf(cell_);
}

void RecurrentBody::requireSequence(const Shape &shape) const {
  if (rank_ ? shape.rank() != *rank_ : shape.rank() < 2)
    throw Error(ErrorKind::value_error,
                fmt::format("Input 0 is incompatible with the layer: expected {}={}, found ndim={}. Full shape "
                            "received: {}",
                            rank_ ? "ndim" : "min_ndim", rank_.value_or(2), shape.rank(), shape.str()));
}

void RecurrentBody::build(BuildContext &context, const std::vector<Shape> &shapes) {
  const Shape &sequence = shapes.at(0);
  requireSequence(sequence);
  states_.clear();
  buildPart(context, cell_, sliceShape(sequence));
  owner_ = context.layer().weak_from_this();
  if (options_.stateful && sequence[0] >= 0)
    makeStates(sequence[0]);
}

void RecurrentBody::makeStates(int64_t batch) {
  const std::shared_ptr<LayerImpl> owner = owner_.lock();
  CallTransaction::onFailure([this, owner, before = states_] { states_ = before; });
  states_.clear();
  for (const Shape &state : cellOf(cell_).state_sizes())
    states_.push_back(makeZeros(withBatch(batch, state), owner->resolvedPolicy().variable_dtype(),
                                {.name = "rnn_state",
                                 .path = owner->path + "/rnn_state",
                                 .role = VariableRole::state,
                                 .update = UpdateKind::assign,
                                 .trainable = false,
                                 .follows = true}));
}

/// value_error with Keras's message unless a stateful layer supports this batch; it then has states for it.
void RecurrentBody::requireBatch(const Shape &sequence) {
  if (!options_.stateful)
    return;
  if (isNonePlaceholder(sequence[0]))
    throw Error(ErrorKind::value_error,
                fmt::format("When using `stateful=True` in a RNN, the batch size must be static. Found dynamic batch "
                            "size: sequence.shape={}",
                            sequence.str()));
  if (states_.empty())
    makeStates(sequence[0]);
  if (const int64_t expected = states_[0].shape()[0]; expected != sequence[0])
    throw Error(ErrorKind::value_error,
                fmt::format("If an RNN is stateful, the batch size of the input sequences must be the same as the "
                            "batch size of the initial state. \n- Expected batch size: {}\n- Received batch size: {}",
                            expected, sequence[0]));
}

/// value_error with Keras's message if the layer is to unroll an unknown number of steps, or none.
void RecurrentBody::requireSteps(int64_t steps) const {
  if (!options_.unroll)
    return;
  if (isNonePlaceholder(steps))
    throw Error(ErrorKind::value_error,
                "Cannot unroll a RNN if the time dimension is undefined. \n- If using a Sequential model, specify the "
                "time dimension by passing an `Input()` as your first layer.\n- If using the functional API, specify "
                "the time dimension by passing a `shape` or `batch_shape` argument to your `Input()`.");
  if (steps == 0)
    throw Error(ErrorKind::value_error, "Unrolling requires a fixed number of timesteps.");
}

/// The initial states, in the cell's compute dtype.
List RecurrentBody::firstStates(const Value &x, const Values &given) {
  const CellBody &cell = cellOf(cell_);
  const DType compute = cell_.compute_dtype();
  const int64_t batch = x.shape()[0];
  List states = listOf(given);
  if (states.empty())
    states = options_.stateful ? List(states_.begin(), states_.end()) : listOf(cell.initial_states(batch, compute));
  const std::vector<Shape> sizes = cell.state_sizes();
  if (states.size() != sizes.size())
    throw Error(ErrorKind::value_error, fmt::format("initial_state has {} Values; the cell '{}' has {} states",
                                                    states.size(), cell_.name(), sizes.size()));
  for (size_t i = 0; i < states.size(); ++i) {
    if (const Shape expected = withBatch(batch, sizes[i]); states[i].shape() != expected)
      throw Error(ErrorKind::value_error, fmt::format("initial_state {} has the shape {}; expected {}", i,
                                                      states[i].shape().str(), expected.str()));
    states[i] = asDtype(states[i], compute, "initial state");
  }
  return states;
}

Values RecurrentBody::run(const Value &x, const Values &initialState, const CallContext &context) {
  requireSequence(x.shape());
  requireBatch(x.shape());
  requireSteps(x.shape()[1]);
  const DType compute = cell_.compute_dtype(), result = context.compute_dtype();
  const Value seen = requiredMask(maskOf(x), x.shape());
  List init = firstStates(x, initialState), xs{swapped(x)};
  const size_t states = init.size();
  const bool repeats = options_.unroll && seen.defined();
  const Loop loop{*this, masksOf(cell_, sliceShape(x.shape()), context), compute, !options_.sequences || repeats,
                  repeats};
  if (seen.defined())
    xs.push_back(swapped(seen));
  if (loop.keepsLast)
    init.push_back(firstOutput(x.shape(), init[0], repeats));
  const auto [last, ys] = ops::scan(loop, Values(init), Values(xs), {.reverse = options_.backwards});
  List outputs{options_.sequences ? swapped(options_.backwards ? ops::flip(ys[0], 0) : ys[0]) : last[states]};
  outputs.insert(outputs.end(), last.begin(), last.begin() + states);
  for (Value &each : outputs)
    each = asDtype(each, result, "layer output");
  if (options_.stateful)
    for (size_t i = 0; i < states; ++i)
      tracing().assign(states_[i].impl(), asDtype(outputs[i + 1], states_[i].impl()->dtype));
  if (!options_.state)
    outputs.resize(1);
  return Values(outputs);
}

/// The initial previous output. If some step does not repeat it, it is never read, and is the first state, so that an
/// output that equals the new state shares its carry.
Value RecurrentBody::firstOutput(const Shape &sequence, const Value &state, bool repeats) const {
  const Shape output = withBatch(sequence[0], cellOf(cell_).output_shape());
  if (!repeats && sequence[1] > 0 && state.shape() == output)
    return state;
  return tracing().splat(0.0, output, state.dtype());
}

Value RecurrentBody::mask(const Values &, const std::vector<Value> &masks) {
  return options_.sequences && !masks.empty() ? masks.front() : Value();
}

Json RecurrentBody::stateForm(size_t first) const { return nestedStates(cell_, first); }

void RecurrentBody::resetState() {
  for (const Variable &state : states_)
    state.assign(Tensor::zeros(state.shape(), state.dtype()));
}

std::vector<Value> callRecurrent(const Layer &layer, const Value &x, const layers::RNNCallArgs &args,
                                 RecordedMask::Kind carried) {
  List inputs{x};
  inputs.insert(inputs.end(), args.initial_state.begin(), args.initial_state.end());
  const size_t count = args.initial_state.size();
  Json keywords = Json::object();
  if (count > 0)
    keywords["initial_state"] = dynamic_cast<const RecurrentCalled &>(*layer.impl()->body).stateForm(1);
  RecordedMasks masks{{.kind = carried}};
  if (args.mask.defined()) {
    masks[0] = {.kind = RecordedMask::Kind::given, .position = inputs.size()};
    keywords["mask"] = {{"input", inputs.size()}};
    inputs.push_back(args.mask);
  } else if (carried == RecordedMask::Kind::entered) {
    keywords["mask"] = nullptr;
  }
  Json arguments;
  arguments["args"] = Json::array({{{"input", 0}}});
  arguments["kwargs"] = keywords;
  const auto how = [](LayerBody &body, const Values &now, const CallContext &context) {
    return dynamic_cast<RecurrentCalled &>(body).run(now[0], Values(List(now.begin() + 1, now.end())), context);
  };
  return layer.impl()->call(inputs, {.training = args.training}, how, ConfigAccess::make(std::move(arguments)), masks);
}

} // namespace halftone::detail

namespace halftone::layers {
using namespace detail;

namespace {

/// A layer whose config contains its cell as a whole.
class CellRunner final : public RecurrentBody {
public:
  CellRunner(const Layer &cell, const RNNArgs &args) : RecurrentBody(cell, runOptions(args), {}) {}
  void get_config(Config &config) const override {
    const RunOptions &run = options();
    const RNNArgs args{.return_sequences = run.sequences,
                       .return_state = run.state,
                       .go_backwards = run.backwards,
                       .stateful = run.stateful,
                       .unroll = run.unroll,
                       .zero_output_for_mask = run.zeroMasked};
    writeFields(config, args, runFields<RNNArgs>);
    config.set("cell", serialize(cell()));
  }
};

constexpr int64_t sequenceRank = 3; // (batch, steps, features)

RecurrentBody &bodyOf(const Layer &layer) { return dynamic_cast<RecurrentBody &>(*layer.impl()->body); }

} // namespace

RNN::RNN(std::unique_ptr<LayerBody> body, std::string class_name, const LayerArgs &args, Where where)
    : Layer(std::move(body), std::move(class_name), args, where) {}
RNN::RNN(const Layer &cell, const RNNArgs &args, Where where)
    : RNN(std::make_unique<CellRunner>(cell, args), "RNN", layerArgs(args), where) {}
RNN::RNN(const std::vector<Layer> &cells, const RNNArgs &args, Where where)
    : RNN(StackedRNNCells(cells, {}, where), args, where) {}
Value RNN::operator()(const Value &x, const RNNCallArgs &args) const { return onlyOutput(*this, outputs(x, args)); }
Tensor RNN::operator()(const Tensor &x, const CallArgs &args) const { return Layer::operator()(x, args); }
Values RNN::outputs(const Value &x, const RNNCallArgs &args) const { return Values(callRecurrent(*this, x, args)); }
Layer RNN::cell() const { return bodyOf(*this).cell(); }
std::vector<Variable> RNN::states() const { return bodyOf(*this).states(); }
void RNN::reset_state() const { bodyOf(*this).resetState(); }

SimpleRNN::SimpleRNN(int64_t units, const SimpleRNNArgs &args, Where where)
    : RNN(std::make_unique<RecurrentOf<SimpleRNNOptions>>(
              SimpleRNNCell(units, cellArgs<SimpleRNNCellArgs>(args, "simple_rnn_cell"), where),
              SimpleRNNOptions{args, units}, sequenceRank),
          "SimpleRNN", layerArgs(args), where) {}
LSTM::LSTM(int64_t units, const LSTMArgs &args, Where where)
    : RNN(std::make_unique<RecurrentOf<LSTMOptions>>(LSTMCell(units, cellArgs<LSTMCellArgs>(args, "lstm_cell"), where),
                                                     LSTMOptions{args, units}, sequenceRank),
          "LSTM", layerArgs(args), where) {}
GRU::GRU(int64_t units, const GRUArgs &args, Where where)
    : RNN(std::make_unique<RecurrentOf<GRUOptions>>(GRUCell(units, cellArgs<GRUCellArgs>(args, "gru_cell"), where),
                                                    GRUOptions{args, units}, sequenceRank),
          "GRU", layerArgs(args), where) {}

} // namespace halftone::layers
