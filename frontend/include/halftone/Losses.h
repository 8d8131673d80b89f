// Losses: a name, an object, or any function of (y_true, y_pred).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Arguments.h"
#include "Policy.h"

namespace halftone {
struct LossArgs {
  Reduction reduction = Reduction::sum_over_batch_size;
  std::string name{};
  PolicyArg dtype{}; // floatx when empty, never the global policy; a policy gives its compute dtype
};
class HALFTONE_API Loss {
public:
  Loss() noexcept; // none
  Loss(const Loss &);
  Loss(Loss &&) noexcept;
  Loss &operator=(const Loss &) &;
  Loss &operator=(Loss &&) &noexcept;
  ~Loss();
  Loss(const char *name);
  Loss(const std::string &name);
  template <std::invocable<const Value &, const Value &> F>
  requires std::convertible_to<std::invoke_result_t<F &, const Value &, const Value &>, Value>
  Loss(F f, const LossArgs &args = {}) : Loss(Function(std::move(f)), args) {}
  bool defined() const { return rep_ != nullptr; }
  Value operator()(const Value &y_true, const Value &y_pred, const Value &sample_weight = {}) const;
  Tensor operator()(const Tensor &y_true, const Tensor &y_pred, const Tensor &sample_weight = {}) const;
  std::string name() const;
  DType dtype() const;
  Config get_config() const; // {"name", "reduction"}: the dtype is not saved, as in Keras
  using Function = std::function<Value(const Value &, const Value &)>;
  Loss(Function f, const LossArgs &args = {});

protected:
  struct Rep;
  std::shared_ptr<const Rep> rep_;
};
namespace losses {
struct CrossentropyArgs {
  bool from_logits = false;
  double label_smoothing = 0.0;
  int64_t axis = -1;
  Reduction reduction = Reduction::sum_over_batch_size;
  std::string name{};
  PolicyArg dtype{};
};
struct SparseCrossentropyArgs {
  bool from_logits = false;
  std::optional<int64_t> ignore_class{};
  Reduction reduction = Reduction::sum_over_batch_size;
  int64_t axis = -1;
  std::string name{};
  PolicyArg dtype{};
};
class HALFTONE_API MeanSquaredError : public Loss {
public:
  explicit MeanSquaredError(const LossArgs &args = {});
};
class HALFTONE_API MeanAbsoluteError : public Loss {
public:
  explicit MeanAbsoluteError(const LossArgs &args = {});
};
class HALFTONE_API BinaryCrossentropy : public Loss {
public:
  explicit BinaryCrossentropy(const CrossentropyArgs &args = {});
};
class HALFTONE_API CategoricalCrossentropy : public Loss {
public:
  explicit CategoricalCrossentropy(const CrossentropyArgs &args = {});
};
class HALFTONE_API SparseCategoricalCrossentropy : public Loss {
public:
  explicit SparseCategoricalCrossentropy(const SparseCrossentropyArgs &args = {});
};
} // namespace losses
} // namespace halftone
