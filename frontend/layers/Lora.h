// LoRA, low-rank adaptation: the trained low-rank delta of a frozen weight, and the bodies of adaptable layers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Layer.h"
#include <map>
#include <utility>

namespace halftone::detail {

/// A snapshot of the values of a layer's variables.
using WeightValues = std::map<const VariableImpl *, Tensor>;

/// The arguments of a weight that LoRA adapts.
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
  /// Adds a and b to the layer and freezes the weight.
  void enable(BuildContext &context, const AdaptedWeight &weight, int64_t rank, const LoraArgs &args);
  bool isOn() const { return a_.defined(); }
  Value value() const;
  /// The contribution of the delta to x @ weight, given x @ a.
  Value fromA(const Value &product) const;
  Value scaled(const Value &product) const; // times alpha / rank
  Variable a() const { return a_; }
  Variable b() const { return b_; }
  /// Initial values of a and b, for which the delta is 0 and can be trained: a from its initializer, b zeros.
  std::pair<Tensor, Tensor> fresh() const;
  /// Returns true if the delta is 0 because b is.
  bool isZero(const WeightValues &values) const;
  /// The sum of a weight and the delta, in float32.
  Tensor addedTo(const Tensor &weight, const WeightValues &values) const;

private:
  Variable a_, b_;
  double factor_ = 0.0;
  Initializer aInitializer_;
};

/// The body of a layer that LoRA can adapt, a base in addition to LayerBody.
class LoraBody {
public:
  virtual const LowRankDelta &delta() const = 0;
  /// Merges the delta into the values of the layer's weights, requantizing integers.
  virtual void merge(WeightValues &values) const = 0;
  /// value_error for a rank below 1, for a weight with a constraint and for a second delta; not_implemented_error under
  /// float8.
  void addDelta(BuildContext &context, int64_t rank, const LoraArgs &args);

protected:
  virtual AdaptedWeight adaptedWeight() const = 0;
  virtual LowRankDelta &ownDelta() = 0;
  /// Stores the arguments in those of the layer.
  virtual void noteLora(int64_t rank, double alpha) = 0;
  ~LoraBody() = default;
};

/// The arguments of a layer, with alpha defaulting to the rank, and absent without a rank.
template <class Options> Options withAlpha(Options options) {
  if (!options.lora_rank)
    options.lora_alpha.reset();
  else if (!options.lora_alpha)
    options.lora_alpha = static_cast<double>(*options.lora_rank);
  return options;
}

} // namespace halftone::detail
