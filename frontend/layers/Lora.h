// LoRA, low-rank adaptation: the trained product that is added to a frozen weight, and the bodies of layers that have one.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Layer.h"
#include <map>
#include <utility>

namespace halftone::detail {

/// The values of a layer's variables, of one moment.
using WeightValues = std::map<const VariableImpl *, Tensor>;

/// The weight of a layer that LoRA adapts, as the layer's arguments describe it.
struct AdaptedWeight {
  const char *name; // "kernel", "embeddings"
  Variable variable;
  Shape shape; // as floats: (..., n)
  Regularizer regularizer;
  Constraint constraint;
};

/// alpha / rank * a @ b, with a (..., rank) and b (rank, n) in float32: it is added to a weight (..., n).
class LowRankDelta {
public:
  /// Adds a and b to the layer, and freezes the weight.
  void enable(BuildContext &context, const AdaptedWeight &weight, int64_t rank, const LoraArgs &args);
  bool isOn() const { return a_.defined(); }
  Value value() const;
  /// Of x @ a, the share of the delta in x @ weight.
  Value fromA(const Value &product) const;
  Value scaled(const Value &product) const; // by alpha / rank
  Variable a() const { return a_; }
  Variable b() const { return b_; }
  /// Values of a and b with which the delta is 0 and can be trained: a as its initializer draws it, b zeros.
  std::pair<Tensor, Tensor> fresh() const;
  /// Whether the delta is 0 since b is.
  bool isZero(const WeightValues &values) const;
  /// The sum of a weight and the delta, in float32.
  Tensor addedTo(const Tensor &weight, const WeightValues &values) const;

private:
  Variable a_, b_;
  double factor_ = 0.0;
  Initializer aInitializer_;
};

/// The body of a layer that LoRA can adapt, beside its LayerBody.
class LoraBody {
public:
  virtual const LowRankDelta &delta() const = 0;
  /// Replaces the values of the layer's weights by those that have the delta in them, quantized anew if they are integers.
  virtual void merge(WeightValues &values) const = 0;
  /// value_error for a rank below 1, for a weight with a constraint and for a second delta; not_implemented_error under
  /// float8.
  void addDelta(BuildContext &context, int64_t rank, const LoraArgs &args);

protected:
  virtual AdaptedWeight adaptedWeight() const = 0;
  virtual LowRankDelta &ownDelta() = 0;
  /// Writes the arguments into those of the layer.
  virtual void noteLora(int64_t rank, double alpha) = 0;
  ~LoraBody() = default;
};

/// The arguments of a layer, in which alpha is the rank unless it is given, and is absent without a rank.
template <class Options> Options withAlpha(Options options) {
  if (!options.lora_rank)
    options.lora_alpha.reset();
  else if (!options.lora_alpha)
    options.lora_alpha = static_cast<double>(*options.lora_rank);
  return options;
}

} // namespace halftone::detail
