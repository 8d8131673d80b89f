// Recurrent cells with dropout: masks drawn once before a loop, and steps that use them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/layers/Fields.h"
#include "frontend/layers/SeedState.h"
#include <vector>

namespace halftone::detail {

/// Dropout masks for the inputs and the states of a cell: none, one, or one per gate.
struct CellMasks {
  std::vector<Value> inputs{}, states{};
  std::vector<CellMasks> cells{}; // for stacked cells
};

/// A Keras cell, a base in addition to CellBody.
class MaskedCell {
public:
  /// Draws the masks of one call of a recurrent layer, for a slice of this shape. Empty outside of training.
  virtual CellMasks drawMasks(const Shape &slice, const CallContext &context) const = 0;
  virtual Values advance(const Value &x, const Values &states, const CellMasks &masks, const CallContext &context) = 0;

protected:
  ~MaskedCell() = default;
};

/// The cell of a layer; value_error with Keras's message if it is not a cell.
CellBody &cellOf(const Layer &layer);
/// The masks of a cell; none for a user's cell.
CellMasks masksOf(const Layer &cell, const Shape &slice, const CallContext &context);
/// Runs one step and returns the output and the new states. value_error naming the cell if it returns a different
/// number of states.
std::vector<Value> callCell(const Layer &cell, const Value &x, const std::vector<Value> &states,
                            const CellMasks &masks);
/// The states among the inputs of a cell's call, which are x and one Value per state; value_error for a different
/// number of inputs.
Values statesOf(const CellBody &cell, const Values &inputs);
/// The shape of one step of x (batch, steps, ...).
Shape sliceShape(const Shape &sequence);

/// A dropout rate of a cell. Keras clips rates to [0, 1].
double clippedRate(double rate);
/// Draws `count` masks of shape `shape` from the random state; none for a rate of 0.
std::vector<Value> drawnMasks(const Variable &state, double rate, int64_t count, const Shape &shape, DType dtype);

/// The products of x with the parts of a kernel that are concatenated along its last axis. Each part multiplies x under
/// its own mask; a single mask applies to all parts. In a product with the whole kernel, the results of the parts are
/// along `axis`.
std::vector<Value> gateProducts(const Value &x, const std::vector<Value> &masks, const Value &kernel, int64_t gates,
                                const std::function<Value(const Value &x, const Value &kernel)> &product,
                                int64_t axis = -1);

/// The bias initializer of an LSTM with ones for the forget gate.
Initializer withForgetOnes(const Initializer &initializer, int64_t units);

/// Kernel, recurrent kernel, bias and seed state, in the order of Keras's cells.
struct CellWeights {
  Variable kernel{}, recurrent{}, bias{}, seed{};
};
struct CellShapes {
  Shape kernel{}, recurrent{}, bias{};
};
template <class Options>
CellWeights addCellWeights(BuildContext &context, const Options &options, const CellShapes &shapes,
                           const Initializer &bias) {
  CellWeights weights;
  weights.kernel = context.add_weight({.shape = shapes.kernel,
                                       .initializer = options.kernel_initializer,
                                       .regularizer = options.kernel_regularizer,
                                       .constraint = options.kernel_constraint,
                                       .name = "kernel"});
  weights.recurrent = context.add_weight({.shape = shapes.recurrent,
                                          .initializer = options.recurrent_initializer,
                                          .regularizer = options.recurrent_regularizer,
                                          .constraint = options.recurrent_constraint,
                                          .name = "recurrent_kernel"});
  if (options.use_bias)
    weights.bias = context.add_weight({.shape = shapes.bias,
                                       .initializer = bias,
                                       .regularizer = options.bias_regularizer,
                                       .constraint = options.bias_constraint,
                                       .name = "bias"});
  weights.seed = addSeedState(context, options.seed);
  return weights;
}

/// The body of a cell whose states all have one shape.
template <class Options> class CellOf : public CellBody, public MaskedCell {
public:
  explicit CellOf(Options options) : options_(std::move(options)) {
    options_.dropout = clippedRate(options_.dropout);
    options_.recurrent_dropout = clippedRate(options_.recurrent_dropout);
  }
  void get_config(Config &config) const override { writeFields(config, options_, layerFields<Options>); }
  Values call(const Values &inputs, const CallContext &context) override {
    const Values states = statesOf(*this, inputs);
    return advance(inputs[0], states, drawMasks(inputs[0].shape(), context), context);
  }
  CellMasks drawMasks(const Shape &slice, const CallContext &context) const override {
    if (!context.training())
      return {};
    const Shape state = state_sizes()[0];
    std::vector<int64_t> dims{slice[0]};
    dims.insert(dims.end(), state.begin(), state.end());
    const DType dtype = context.compute_dtype();
    return {.inputs = drawnMasks(weights_.seed, usedRate(options_.dropout), inputMasks(), slice, dtype),
            .states =
                drawnMasks(weights_.seed, usedRate(options_.recurrent_dropout), stateMasks(), Shape(dims), dtype)};
  }

protected:
  virtual int64_t inputMasks() const = 0; // number of dropout masks
  virtual int64_t stateMasks() const = 0;
  /// In most Keras cells a rate of 1 means no dropout.
  virtual double usedRate(double rate) const { return rate < 1.0 ? rate : 0.0; }
  const CellWeights &weights() const { return weights_; }
  void setWeights(CellWeights weights) { weights_ = std::move(weights); }
  Options options_;

private:
  CellWeights weights_;
};

} // namespace halftone::detail
