// TensorFlow 2.0's experimental Policy and LossScale, for old programs. Not in the umbrella header.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Policy.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halftone::legacy {

/// A handle: copies share the present scale. Safe to use from several threads.
class HALFTONE_API LossScale {
public:
  static std::optional<LossScale> get(std::nullopt_t) { return std::nullopt; }
  static std::optional<LossScale> get(double value);                // fixed; value_error unless it is at least 1
  static std::optional<LossScale> get(std::string_view identifier); // "dynamic"; value_error for all else
  double operator()() const;                                        // the present scale, a float32
  /// Returns whether the step should be applied. A fixed scale always says yes. A dynamic scale is multiplied after
  /// increment_period finite steps in a row, if the product is finite. It is divided, but not below 1, after a step
  /// that is not finite.
  bool update(bool all_finite) const;
  std::string repr() const;       // FixedLossScale(2.0)
  std::string class_name() const; // FixedLossScale or DynamicLossScale
  Config get_config() const;

protected:
  struct Rep;
  explicit LossScale(std::shared_ptr<Rep> rep) : rep_(std::move(rep)) {}
  std::shared_ptr<Rep> rep_;
};
class HALFTONE_API FixedLossScale : public LossScale {
public:
  explicit FixedLossScale(double loss_scale_value);
};
struct DynamicLossScaleArgs {
  double initial_loss_scale = 32768.0;
  int64_t increment_period = 2000;
  double multiplier = 2.0;
};
class HALFTONE_API DynamicLossScale : public LossScale {
public:
  explicit DynamicLossScale(DynamicLossScaleArgs args = {});
};

/// LossScaleArg{} is USE_DEFAULT: dynamic for mixed_float16, none otherwise.
class HALFTONE_API LossScaleArg {
public:
  LossScaleArg() = default;
  LossScaleArg(std::nullopt_t) : set_(true) {}
  LossScaleArg(double value) : set_(true), scale_(LossScale::get(value)) {}
  LossScaleArg(const char *identifier) : set_(true), scale_(LossScale::get(identifier)) {}
  LossScaleArg(LossScale scale) : set_(true), scale_(std::move(scale)) {}
  bool is_default() const { return !set_; }
  const std::optional<LossScale> &scale() const { return scale_; }

private:
  bool set_ = false;
  std::optional<LossScale> scale_;
};

/// Any dtype's name, mixed_float16, mixed_bfloat16, 'infer', 'infer_with_float32_vars' (in the beta
/// infer_float32_vars) and '<dtype>_with_float32_vars'. A layer whose policy infers settles it at its first call, by
/// its first input's dtype.
class HALFTONE_API Policy {
public:
  explicit Policy(std::string_view name, LossScaleArg loss_scale = {}, Where where = Where::current());
  std::string name() const;
  std::optional<DType> compute_dtype() const;                                      // nullopt: inferred
  std::optional<DType> variable_dtype() const;                                     // nullopt: inferred
  std::optional<DType> default_variable_dtype() const { return variable_dtype(); } // the beta's name
  bool should_cast_variables() const;                                              // the two differ
  std::optional<LossScale> loss_scale() const;
  std::string repr() const; // <Policy "float16", loss_scale=FixedLossScale(2.0)>
  /// The warnings that TensorFlow would have logged: deprecated names, a loss scale without effect.
  std::vector<std::string> warnings() const;
  operator PolicyArg() const; // so that it can be a layer's dtype
  operator DTypePolicy() const;

  struct Rep;

private:
  std::shared_ptr<const Rep> rep_;
};

/// The policy of set_policy and of halftone::set_dtype_policy is one and the same. While none is set, each read makes
/// one of floatx().
HALFTONE_API Policy global_policy();
HALFTONE_API void set_policy(std::nullopt_t);
HALFTONE_API void set_policy(std::string_view name, Where where = Where::current());
HALFTONE_API void set_policy(const Policy &policy);
} // namespace halftone::legacy
