// The base body of layers that run a cell over the steps of a sequence.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/layers/Cells.h"
#include "frontend/layers/FieldsRecurrent.h"
#include "halftone/LayersRecurrent.h"
#include "runtime/base/ConfigAccess.h"
#include <memory>
#include <optional>
#include <vector>

namespace halftone::detail {

/// A layer whose call takes initial states and a mask, a base in addition to LayerBody.
class RecurrentCalled {
public:
  virtual Values run(const Value &x, const Values &initialState, const CallContext &context) = 0;
  /// initial_state in Keras's nesting, with indices from `first` on: {"input": 1} for each state.
  virtual nlohmann::ordered_json stateForm(size_t first) const = 0;
  virtual void resetState() = 0;

protected:
  ~RecurrentCalled() = default;
};

/// Calls `layer`, whose body is a RecurrentCalled.
std::vector<Value> callRecurrent(const Layer &layer, const Value &x, const layers::RNNCallArgs &args,
                                 RecordedMask::Kind carried = RecordedMask::Kind::carried);

/// Swaps (batch, steps, ...) to (steps, batch, ...), and back.
Value swapped(const Value &x);

/// The options with which a layer runs its cell.
struct RunOptions {
  bool sequences = false, state = false, backwards = false, stateful = false, unroll = false, zeroMasked = false;
};
template <class Args> RunOptions runOptions(const Args &args) {
  return {args.return_sequences, args.return_state, args.go_backwards,
          args.stateful,         args.unroll,       args.zero_output_for_mask};
}

class RecurrentBody : public LayerBody, public RecurrentCalled {
public:
  /// `rank`: the rank of a sequence, if the layer accepts only one.
  RecurrentBody(Layer cell, const RunOptions &options, std::optional<int64_t> rank);
  void build(BuildContext &context, const std::vector<Shape> &shapes) override;
  Values call(const Values &inputs, const CallContext &context) override { return run(inputs[0], {}, context); }
  Values run(const Value &x, const Values &initialState, const CallContext &context) override;
  Value mask(const Values &, const std::vector<Value> &masks) override;
  size_t most_inputs() const override { return 1; }
  nlohmann::ordered_json stateForm(size_t first) const override;
  void resetState() override;
  const Layer &cell() const { return cell_; }
  const RunOptions &options() const { return options_; }
  const std::vector<Variable> &states() const { return states_; }
  /// Keras's Bidirectional sets it in layers created without it.
  virtual void setZeroMasked(bool isZero) { options_.zeroMasked = isZero; }

private:
  struct Loop;
  void requireSequence(const Shape &shape) const;
  void requireBatch(const Shape &sequence);
  void requireSteps(int64_t steps) const;
  void makeStates(int64_t batch);
  std::vector<Value> firstStates(const Value &x, const Values &given);
  Value firstOutput(const Shape &sequence, const Value &state, bool repeats) const;

  Layer cell_;
  RunOptions options_;
  std::optional<int64_t> rank_;
  std::vector<Variable> states_; // for a stateful layer
  std::weak_ptr<LayerImpl> owner_;
};

/// Extracts the arguments of a cell from those of its layer.
template <class CellArgs, class Args> CellArgs cellArgs(const Args &args, const char *name) {
  CellArgs cell{.activation = args.activation};
  if constexpr (requires { args.recurrent_activation; })
    cell.recurrent_activation = args.recurrent_activation;
  cell.use_bias = args.use_bias;
  cell.kernel_initializer = args.kernel_initializer;
  cell.recurrent_initializer = args.recurrent_initializer;
  cell.bias_initializer = args.bias_initializer;
  if constexpr (requires { args.unit_forget_bias; })
    cell.unit_forget_bias = args.unit_forget_bias;
  cell.kernel_regularizer = args.kernel_regularizer;
  cell.recurrent_regularizer = args.recurrent_regularizer;
  cell.bias_regularizer = args.bias_regularizer;
  cell.kernel_constraint = args.kernel_constraint;
  cell.recurrent_constraint = args.recurrent_constraint;
  cell.bias_constraint = args.bias_constraint;
  cell.dropout = args.dropout;
  cell.recurrent_dropout = args.recurrent_dropout;
  if constexpr (requires { args.reset_after; })
    cell.reset_after = args.reset_after;
  cell.seed = args.seed;
  cell.trainable = args.trainable;
  cell.dtype = args.dtype;
  cell.autocast = args.autocast;
  cell.name = name;
  return cell;
}

/// The body of a layer whose config contains the arguments of its cell.
template <class Options> class RecurrentOf final : public RecurrentBody {
public:
  RecurrentOf(Layer cell, const Options &options, int64_t rank)
      : RecurrentBody(std::move(cell), runOptions(options), rank), fields_(options) {
    fields_.dropout = clippedRate(options.dropout);
    fields_.recurrent_dropout = clippedRate(options.recurrent_dropout);
  }
  void get_config(Config &config) const override { writeFields(config, fields_, layerFields<Options>); }
  void setZeroMasked(bool isZero) override {
    RecurrentBody::setZeroMasked(isZero);
    fields_.zero_output_for_mask = isZero;
  }

private:
  Options fields_;
};

} // namespace halftone::detail
