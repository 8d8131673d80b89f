// SimpleRNNCell, LSTMCell and GRUCell: one step each.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/Cells.h"
#include "frontend/layers/FieldsRecurrent.h"
#include "frontend/layers/SpatialAxes.h"
#include "halftone/Ops.h"
#include <fmt/format.h>

namespace halftone::layers {
using namespace detail;

namespace {

/// A cell of `gates` products of (features, units) and (units, units).
template <class Options> class UnitCell : public CellOf<Options> {
public:
  UnitCell(Options options, int64_t gates) : CellOf<Options>(std::move(options)), gates_(gates) {}
  void build(BuildContext &context, const std::vector<Shape> &shapes) override {
    const Shape &input = shapes.at(0);
    if (input.rank() != 2 || input[-1] < 0)
      throw Error(ErrorKind::value_error,
                  fmt::format("A step of {} takes (batch, features) with known features. Received: shape={}",
                              context.layer().className, input.str()));
    const int64_t units = this->options_.units;
    this->setWeights(addCellWeights(
        context, this->options_,
        {.kernel = {input[-1], gates_ * units}, .recurrent = {units, gates_ * units}, .bias = biasShape()},
        biasInitializer()));
  }

protected:
  virtual Shape biasShape() const { return Shape{gates_ * this->options_.units}; }
  virtual Initializer biasInitializer() const { return this->options_.bias_initializer; }
  std::vector<Value> products(const Value &x, const std::vector<Value> &masks, const Value &kernel) const {
    return gateProducts(x, masks, kernel, gates_, [](const Value &a, const Value &b) { return ops::matmul(a, b); });
  }
  /// Returns true if each gate has its own masks, and so its own products, as in Keras's cells with recurrent_dropout.
  bool isByGate() const { return this->options_.recurrent_dropout > 0.0; }
  int64_t inputMasks() const override { return isByGate() ? gates_ : 1; }
  int64_t stateMasks() const override { return gates_; }

private:
  int64_t gates_;
};

class SimpleCell final : public UnitCell<SimpleRNNCellOptions> {
public:
  explicit SimpleCell(SimpleRNNCellOptions options) : UnitCell(std::move(options), 1) {}
  std::vector<Shape> state_sizes() const override { return {Shape{options_.units}}; }
  Values advance(const Value &x, const Values &states, const CellMasks &masks, const CallContext &) override {
    Value h = products(x, masks.inputs, weights().kernel)[0];
    if (options_.use_bias)
      h = h + weights().bias;
    const Value output = options_.activation(h + products(states[0], masks.states, weights().recurrent)[0]);
    return {output, output};
  }

protected:
  double usedRate(double rate) const override { return rate; }
};

class LSTMBody final : public UnitCell<LSTMCellOptions> {
public:
  explicit LSTMBody(LSTMCellOptions options) : UnitCell(std::move(options), 4) {}
  std::vector<Shape> state_sizes() const override { return {Shape{options_.units}, Shape{options_.units}}; }
  Values advance(const Value &x, const Values &states, const CellMasks &masks, const CallContext &) override {
    const std::vector<Value> z =
        isByGate() ? multiplyPerGate(x, states[0], masks) : multiplyAllGates(x, states[0], masks);
    const Value i = options_.recurrent_activation(z[0]), f = options_.recurrent_activation(z[1]);
    const Value c = f * states[1] + i * options_.activation(z[2]);
    const Value o = options_.recurrent_activation(z[3]);
    const Value h = o * options_.activation(c);
    return {h, h, c};
  }

protected:
  Initializer biasInitializer() const override {
    return options_.unit_forget_bias ? withForgetOnes(options_.bias_initializer, options_.units)
                                     : options_.bias_initializer;
  }

private:
  std::vector<Value> multiplyAllGates(const Value &x, const Value &h, const CellMasks &masks) const {
    const Value seen = masks.inputs.empty() ? x : x * masks.inputs[0];
    Value z = ops::matmul(seen, weights().kernel) + ops::matmul(h, weights().recurrent);
    if (options_.use_bias)
      z = z + weights().bias;
    return ops::split(z, 4, 1);
  }
  std::vector<Value> multiplyPerGate(const Value &x, const Value &h, const CellMasks &masks) const {
    std::vector<Value> z = products(x, masks.inputs, weights().kernel);
    const std::vector<Value> inner = products(h, masks.states, weights().recurrent);
    const std::vector<Value> bias = options_.use_bias ? ops::split(weights().bias, 4) : std::vector<Value>();
    for (size_t gate = 0; gate < z.size(); ++gate)
      z[gate] = (bias.empty() ? z[gate] : z[gate] + bias[gate]) + inner[gate];
    return z;
  }
};

class GRUBody final : public UnitCell<GRUCellOptions> {
public:
  explicit GRUBody(GRUCellOptions options) : UnitCell(std::move(options), 3) {}
  std::vector<Shape> state_sizes() const override { return {Shape{options_.units}}; }
  Values advance(const Value &x, const Values &states, const CellMasks &masks, const CallContext &) override {
    const Value h = states[0];
    std::vector<Value> outer = products(x, masks.inputs, weights().kernel);
    if (options_.use_bias)
      outer = added(outer, options_.reset_after ? Value(weights().bias)[0] : Value(weights().bias));
    std::vector<Value> inner = stateProducts(h, masks.states);
    const Value z = options_.recurrent_activation(outer[0] + inner[0]);
    const Value r = options_.recurrent_activation(outer[1] + inner[1]);
    if (options_.reset_after)
      inner[2] = r * inner[2];
    else
      inner.push_back(ops::matmul(r * (masks.states.empty() ? h : h * masks.states[2]), part(2)));
    const Value candidate = options_.activation(outer[2] + inner[2]);
    const Value next = z * h + (1 - z) * candidate;
    return {next, next};
  }

protected:
  Shape biasShape() const override {
    const int64_t width = 3 * options_.units;
    return options_.reset_after ? Shape{2, width} : Shape{width};
  }

private:
  static std::vector<Value> added(std::vector<Value> gates, const Value &bias) {
    const std::vector<Value> parts = ops::split(bias, 3);
    for (size_t gate = 0; gate < gates.size(); ++gate)
      gates[gate] = gates[gate] + parts[gate];
    return gates;
  }
  /// The columns of the recurrent kernel for a gate.
  Value part(size_t gate) const { return ops::split(weights().recurrent, 3, 1)[gate]; }
  /// The products with the state; without reset_after only those of the first two gates.
  std::vector<Value> stateProducts(const Value &h, const std::vector<Value> &masks) const {
    if (options_.reset_after) {
      const std::vector<Value> inner = products(h, masks, weights().recurrent);
      return options_.use_bias ? added(inner, Value(weights().bias)[1]) : inner;
    }
    const Value kernel = ops::split(weights().recurrent, {2 * options_.units}, 1)[0];
    return gateProducts(h, masks.empty() ? masks : std::vector<Value>{masks[0], masks[1]}, kernel, 2,
                        [](const Value &a, const Value &b) { return ops::matmul(a, b); });
  }
};

void requireUnits(const Layer &layer, int64_t units, Where where) {
  if (units <= 0)
    throw Error(
        ErrorKind::value_error,
        fmt::format("Received an invalid value for argument `units`, expected a positive integer, got {}.", units),
        layer.name(), where);
}

} // namespace

SimpleRNNCell::SimpleRNNCell(int64_t units, const SimpleRNNCellArgs &args, Where where)
    : Layer(std::make_unique<SimpleCell>(SimpleRNNCellOptions{args, units}), "SimpleRNNCell", layerArgs(args), where) {
  requireUnits(*this, units, where);
}

LSTMCell::LSTMCell(int64_t units, const LSTMCellArgs &args, Where where)
    : Layer(std::make_unique<LSTMBody>(LSTMCellOptions{args, units}), "LSTMCell", layerArgs(args), where) {
  requireUnits(*this, units, where);
}

GRUCell::GRUCell(int64_t units, const GRUCellArgs &args, Where where)
    : Layer(std::make_unique<GRUBody>(GRUCellOptions{args, units}), "GRUCell", layerArgs(args), where) {
  requireUnits(*this, units, where);
}

} // namespace halftone::layers
