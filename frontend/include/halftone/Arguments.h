// The arguments that Keras takes as strings: activations, initializers, regularizers; and the closed sets.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Config.h"
#include "Value.h"
#include <concepts>
#include <functional>

namespace halftone {
// Open sets are registries, so strings stay; closed sets are enums whose names are Keras's strings.
enum class Reduction : uint8_t { sum_over_batch_size, sum, mean, mean_with_sample_weight, none };
enum class Numerics : uint8_t {
  fast,  // a fused intermediate may stay wider than its dtype; reports say where
  strict // every op rounds as the interpreter does
};

class HALFTONE_API ActivationArg {
public:
  ActivationArg() noexcept; // linear
  ActivationArg(const ActivationArg &);
  ActivationArg(ActivationArg &&) noexcept;
  ActivationArg &operator=(const ActivationArg &) &;
  ActivationArg &operator=(ActivationArg &&) & noexcept;
  ~ActivationArg();
  ActivationArg(const char *name);
  ActivationArg(const std::string &name);
  template <std::invocable<const Value &> F>
    requires std::convertible_to<std::invoke_result_t<F &, const Value &>, Value>
  ActivationArg(F f) : ActivationArg(std::function<Value(const Value &)>(std::move(f))) {}
  ActivationArg(std::function<Value(const Value &)> f);
  bool defined() const { return rep_ != nullptr; } // false: linear
  std::string name() const;
  Value operator()(const Value &x) const;

private:
  struct Rep;
  std::shared_ptr<const Rep> rep_;
};

class HALFTONE_API Initializer {
public:
  Initializer() noexcept; // add_weight's rule: glorot_uniform for floats, zeros otherwise
  Initializer(const Initializer &);
  Initializer(Initializer &&) noexcept;
  Initializer &operator=(const Initializer &) &;
  Initializer &operator=(Initializer &&) & noexcept;
  ~Initializer();
  Initializer(const char *name);
  Initializer(const std::string &name);
  bool defined() const { return rep_ != nullptr; }
  std::string name() const;
  Config get_config() const;
  /// A fresh value; float dtypes are drawn in float32 and rounded. `seed` is used when the initializer has none of its
  /// own.
  Tensor operator()(const Shape &shape, DType dtype, int64_t seed) const;

protected:
  struct Rep;
  std::shared_ptr<const Rep> rep_;
};
class HALFTONE_API Regularizer {
public:
  Regularizer() noexcept; // none
  Regularizer(const Regularizer &);
  Regularizer(Regularizer &&) noexcept;
  Regularizer &operator=(const Regularizer &) &;
  Regularizer &operator=(Regularizer &&) & noexcept;
  ~Regularizer();
  Regularizer(const char *name);
  bool defined() const { return rep_ != nullptr; }
  Value operator()(const Value &weight) const;

protected:
  struct Rep;
  std::shared_ptr<const Rep> rep_;
};
namespace initializers {
struct RandomArgs {
  double mean = 0.0;
  double stddev = 0.05;
  std::optional<int64_t> seed{};
};
struct SeedArgs {
  std::optional<int64_t> seed{};
};
class HALFTONE_API Zeros : public Initializer {
public:
  Zeros();
};
class HALFTONE_API Ones : public Initializer {
public:
  Ones();
};
class HALFTONE_API Constant : public Initializer {
public:
  explicit Constant(double value = 0.0);
};
class HALFTONE_API RandomNormal : public Initializer {
public:
  explicit RandomNormal(RandomArgs args = {});
};
class HALFTONE_API TruncatedNormal : public Initializer {
public:
  explicit TruncatedNormal(RandomArgs args = {});
};
class HALFTONE_API GlorotUniform : public Initializer {
public:
  explicit GlorotUniform(SeedArgs args = {});
};
class HALFTONE_API GlorotNormal : public Initializer {
public:
  explicit GlorotNormal(SeedArgs args = {});
};
class HALFTONE_API HeNormal : public Initializer {
public:
  explicit HeNormal(SeedArgs args = {});
};
class HALFTONE_API HeUniform : public Initializer {
public:
  explicit HeUniform(SeedArgs args = {});
};
} // namespace initializers
namespace regularizers {
class HALFTONE_API L1 : public Regularizer {
public:
  explicit L1(double l1 = 0.01);
};
class HALFTONE_API L2 : public Regularizer {
public:
  explicit L2(double l2 = 0.01);
};
class HALFTONE_API L1L2 : public Regularizer {
public:
  explicit L1L2(double l1 = 0.0, double l2 = 0.0);
};
enum class OrthogonalMode : uint8_t { rows, columns };
/// factor * the mean of |cosine| between each two rows (columns) of a matrix; value_error for other ranks.
class HALFTONE_API OrthogonalRegularizer : public Regularizer {
public:
  explicit OrthogonalRegularizer(double factor = 0.01, OrthogonalMode mode = OrthogonalMode::rows);
};
} // namespace regularizers
} // namespace halftone
