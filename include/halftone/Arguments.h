// Arguments that Keras takes as strings: activations, initializers, regularizers, constraints; and closed sets.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Config.h"
#include "Ops.h"
#include "Signature.h"
#include "Value.h"
#include <concepts>
#include <functional>

namespace halftone {
// Open sets are registries and take strings; closed sets are enums whose names are Keras's strings.
enum class Numerics : uint8_t {
  fast,  // a fused intermediate may be wider than its dtype; reports say where
  strict // every op rounds, as in the interpreter
};

/// One or more numbers, where Keras takes a float or a list.
class Numbers {
public:
  Numbers() = default; // none
  Numbers(double one) : list_{one} {}
  Numbers(std::initializer_list<double> list) : list_(list) {}
  explicit Numbers(std::vector<double> list) : list_(std::move(list)) {}
  const std::vector<double> &list() const { return list_; }

private:
  std::vector<double> list_;
};

/// A number, or a list or tensor that broadcasts with an input. Files keep the form that was given.
class NumberOrTensor {
public:
  NumberOrTensor(double number) : values_(Tensor(std::vector<double>{number}, Shape{})) {}
  NumberOrTensor(std::initializer_list<double> list) : NumberOrTensor(std::vector<double>(list)) {}
  explicit NumberOrTensor(std::vector<double> list)
      : values_(Tensor(list, Shape{static_cast<int64_t>(list.size())})), isList_(true) {}
  NumberOrTensor(const Tensor &values, bool is_list = false) : values_(values), isList_(is_list) {}
  /// A number has the shape ().
  const Tensor &values() const { return values_; }
  bool is_number() const { return values_.shape().rank() == 0; }
  /// True if (nested) lists were given, false for a tensor.
  bool is_list() const { return isList_; }

private:
  Tensor values_;
  bool isList_ = false;
};

namespace detail {
HALFTONE_API std::string class_name_of(std::string_view pretty_function);
template <class T> std::string type_name() { return class_name_of(__PRETTY_FUNCTION__); }
template <class T> std::string registered_name(const std::string &package) {
  return package.empty() ? type_name<T>() : package + ">" + type_name<T>();
}
template <class T>
concept HasConfig = requires(const T &t, Config &c) { t.get_config(c); };

/// The representation of a user's object in a config: its class, if that has get_config() and is registered.
struct CustomObject {
  std::string class_name = "function"; // for objects without get_config()
  std::function<void(Config &)> get_config{};
};
template <class T> CustomObject custom_object(const T &object) {
  if constexpr (HasConfig<T>)
    return {type_name<T>(), [object](Config &config) { object.get_config(config); }};
  else
    return {};
}
} // namespace detail

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
  ActivationArg(Value (*f)(const Value &));        // a function of activations:: stands for its name
  bool defined() const { return rep_ != nullptr; } // false: linear
  std::string name() const;
  Value operator()(const Value &x) const;

private:
  struct Rep;
  std::shared_ptr<const Rep> rep_;
};

/// An initializer: a class of `initializers`, or any function or struct that returns a tensor of the shape and the
/// dtype. A struct with get_config(Config &) const can be saved after register_initializer<T>().
class HALFTONE_API Initializer {
public:
  using Draw = std::function<Tensor(const Shape &shape, DType dtype, int64_t seed)>;
  Initializer() noexcept; // add_weight's rule: glorot_uniform for floats, zeros otherwise
  Initializer(const Initializer &);
  Initializer(Initializer &&) noexcept;
  Initializer &operator=(const Initializer &) &;
  Initializer &operator=(Initializer &&) & noexcept;
  ~Initializer();
  Initializer(const char *name);
  Initializer(const std::string &name);
  template <class F>
    requires(!std::derived_from<F, Initializer> && std::invocable<F &, const Shape &, DType, int64_t> &&
             std::convertible_to<std::invoke_result_t<F &, const Shape &, DType, int64_t>, Tensor>)
  Initializer(F draw) : Initializer(Draw(draw), detail::custom_object(draw)) {}
  Initializer(Draw draw, detail::CustomObject object);
  bool defined() const { return rep_ != nullptr; }
  std::string name() const;  // the class, "function", or "" for none
  Config get_config() const; // value_error for a function
  /// Draws a new value; float dtypes are drawn in float32 and rounded. `seed` is used if the initializer has no seed.
  Tensor operator()(const Shape &shape, DType dtype, int64_t seed) const;

protected:
  struct Rep;
  std::shared_ptr<const Rep> rep_;
};
class Regularizer;
namespace detail {
/// The penalty of a layer's outputs, divided by the batch size and then rounded to their dtype.
Value activity_penalty(const Regularizer &regularizer, const Value &outputs);
} // namespace detail
/// A regularizer: a class of `regularizers`, or any function or struct that returns a penalty. A struct with
/// get_config(Config &) const can be saved after register_regularizer<T>().
class HALFTONE_API Regularizer {
public:
  Regularizer() noexcept; // none
  Regularizer(const Regularizer &);
  Regularizer(Regularizer &&) noexcept;
  Regularizer &operator=(const Regularizer &) &;
  Regularizer &operator=(Regularizer &&) & noexcept;
  ~Regularizer();
  Regularizer(const char *name);
  Regularizer(const std::string &name);
  template <class F>
    requires(!std::derived_from<F, Regularizer> && std::invocable<F &, const Value &> &&
             std::convertible_to<std::invoke_result_t<F &, const Value &>, Value>)
  Regularizer(F f) : Regularizer(std::function<Value(const Value &)>(f), detail::custom_object(f)) {}
  Regularizer(std::function<Value(const Value &)> f, detail::CustomObject object); // returns a scalar
  bool defined() const { return rep_ != nullptr; }
  std::string name() const;  // the class, "function", or "" for none
  Config get_config() const; // value_error for a function
  Value operator()(const Value &weight) const;

protected:
  struct Rep;
  std::shared_ptr<const Rep> rep_;

private:
  friend Value detail::activity_penalty(const Regularizer &regularizer, const Value &outputs);
  Value penalty_of(const Value &weight) const; // not rounded to the dtype of `weight`
};
/// A projection of a weight. The optimizer applies it to the weight after each apply(), except in a step that loss
/// scaling skips. A user's struct with get_config(Config &) const can be saved after register_constraint<T>().
class HALFTONE_API Constraint {
public:
  Constraint() noexcept; // none
  Constraint(const Constraint &);
  Constraint(Constraint &&) noexcept;
  Constraint &operator=(const Constraint &) &;
  Constraint &operator=(Constraint &&) & noexcept;
  ~Constraint();
  Constraint(const char *name); // "max_norm", "MaxNorm", ...; value_error that lists the known names
  Constraint(const std::string &name);
  template <class F>
    requires(!std::derived_from<F, Constraint> && std::invocable<F &, const Value &> &&
             std::convertible_to<std::invoke_result_t<F &, const Value &>, Value>)
  Constraint(F f) : Constraint(std::function<Value(const Value &)>(f), detail::custom_object(f)) {}
  Constraint(std::function<Value(const Value &)> f, detail::CustomObject object); // keeps the shape of the weight
  bool defined() const { return rep_ != nullptr; }
  std::string name() const;  // the class, "function", or "" for none
  Config get_config() const; // value_error for a function
  Value operator()(const Value &weight) const;

protected:
  struct Rep;
  std::shared_ptr<const Rep> rep_;
};
/// Registers a user's class for files under the name "package>Class", Keras's registered name, or "Class", which Keras
/// writes for a class that is not registered in Python. `make` creates its objects from the config that get_config()
/// wrote. value_error for another form of the name, and for a class that is registered in another package. T has a
/// static T from_config(const Config &).
HALFTONE_API void register_initializer(const std::string &registered_name,
                                       std::function<Initializer(const Config &)> make);
HALFTONE_API void register_regularizer(const std::string &registered_name,
                                       std::function<Regularizer(const Config &)> make);
HALFTONE_API void register_constraint(const std::string &registered_name,
                                      std::function<Constraint(const Config &)> make);
template <detail::HasConfig T> void register_initializer(const std::string &package = "") {
  register_initializer(detail::registered_name<T>(package),
                       [](const Config &config) { return Initializer(T::from_config(config)); });
}
template <detail::HasConfig T> void register_regularizer(const std::string &package = "") {
  register_regularizer(detail::registered_name<T>(package),
                       [](const Config &config) { return Regularizer(T::from_config(config)); });
}
template <detail::HasConfig T> void register_constraint(const std::string &package = "") {
  register_constraint(detail::registered_name<T>(package),
                      [](const Config &config) { return Constraint(T::from_config(config)); });
}

/// Registers a user's function for files under "package>name", or its plain name if it is not decorated in Python. An
/// ActivationArg with that name is f, and one with the same function pointer has the name. value_error for another form
/// of the name, and for the name of an activation of the library.
HALFTONE_API void register_activation(const std::string &registered_name, const ActivationArg &f);
namespace initializers {
struct RandomArgs {
  double mean = 0.0;
  double stddev = 0.05;
  std::optional<int64_t> seed{};
};
struct UniformArgs {
  double minval = -0.05;
  double maxval = 0.05;
  std::optional<int64_t> seed{};
};
struct SeedArgs {
  std::optional<int64_t> seed{};
};
/// The fan of a weight (window.., inputs, outputs): the number of inputs or the number of outputs, times the size of
/// the window, or the mean of both products.
enum class FanMode : uint8_t { fan_in, fan_out, fan_avg };
enum class Distribution : uint8_t { uniform, truncated_normal, untruncated_normal };
struct VarianceScalingArgs {
  double scale = 1.0; // above 0
  FanMode mode = FanMode::fan_in;
  Distribution distribution = Distribution::truncated_normal;
  std::optional<int64_t> seed{};
};
struct OrthogonalArgs {
  double gain = 1.0;
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
  Constant(double value = 0.0);
};
/// `gain` on the diagonal of a matrix and 0 elsewhere. value_error unless the rank is 2.
class HALFTONE_API Identity : public Initializer {
public:
  Identity(double gain = 1.0);
};
class HALFTONE_API RandomUniform : public Initializer {
public:
  RandomUniform(UniformArgs args = {});
};
class HALFTONE_API RandomNormal : public Initializer {
public:
  RandomNormal(RandomArgs args = {});
};
class HALFTONE_API TruncatedNormal : public Initializer {
public:
  TruncatedNormal(RandomArgs args = {});
};
/// Random values with the variance scale / fan. value_error unless scale > 0.
class HALFTONE_API VarianceScaling : public Initializer {
public:
  VarianceScaling(VarianceScalingArgs args = {});
};
/// A matrix with orthonormal columns, or orthonormal rows if there are fewer rows, times `gain`; all axes except the
/// last form the rows. value_error for a rank below 2.
class HALFTONE_API Orthogonal : public Initializer {
public:
  Orthogonal(OrthogonalArgs args = {});
};
class HALFTONE_API GlorotUniform : public Initializer {
public:
  GlorotUniform(SeedArgs args = {});
};
class HALFTONE_API GlorotNormal : public Initializer {
public:
  GlorotNormal(SeedArgs args = {});
};
class HALFTONE_API HeNormal : public Initializer {
public:
  HeNormal(SeedArgs args = {});
};
class HALFTONE_API HeUniform : public Initializer {
public:
  HeUniform(SeedArgs args = {});
};
class HALFTONE_API LecunNormal : public Initializer {
public:
  LecunNormal(SeedArgs args = {});
};
class HALFTONE_API LecunUniform : public Initializer {
public:
  LecunUniform(SeedArgs args = {});
};
/// {"module", "class_name", "config", "registered_name"}, as Keras saves it. deserialize() throws value_error for an
/// unknown class or argument, also for regularizers and constraints.
HALFTONE_API Config serialize(const Initializer &initializer);
HALFTONE_API Initializer deserialize(const Config &config);
} // namespace initializers
namespace regularizers {
class HALFTONE_API L1 : public Regularizer {
public:
  L1(double l1 = 0.01);
};
class HALFTONE_API L2 : public Regularizer {
public:
  L2(double l2 = 0.01);
};
class HALFTONE_API L1L2 : public Regularizer {
public:
  L1L2(double l1 = 0.0, double l2 = 0.0);
};
enum class OrthogonalMode : uint8_t { rows, columns };
/// factor times the mean |cosine| of all pairs of rows (columns) of a matrix; value_error unless the rank is 2.
class HALFTONE_API OrthogonalRegularizer : public Regularizer {
public:
  OrthogonalRegularizer(double factor = 0.01, OrthogonalMode mode = OrthogonalMode::rows);
};
HALFTONE_API Config serialize(const Regularizer &regularizer);
HALFTONE_API Regularizer deserialize(const Config &config);
} // namespace regularizers
/// Constraints on Euclidean norms over `axis` of the weight. They are computed in at least float32, and the result is
/// rounded to the dtype of the weight; config::epsilon() is added to norms in denominators. Keras's default axis, 0,
/// suits the kernel of a Dense: one norm per unit.
namespace constraints {
/// Scales vectors whose norm exceeds max_value down to that norm.
class HALFTONE_API MaxNorm : public Constraint {
public:
  MaxNorm(double max_value = 2.0, const Axes &axis = 0);
};
/// Sets negative elements to 0.
class HALFTONE_API NonNeg : public Constraint {
public:
  NonNeg();
};
class HALFTONE_API UnitNorm : public Constraint {
public:
  UnitNorm(const Axes &axis = 0);
};
/// Moves each norm toward [min_value, max_value], by the fraction `rate` of the distance at each update.
class HALFTONE_API MinMaxNorm : public Constraint {
public:
  MinMaxNorm(double min_value = 0.0, double max_value = 1.0, double rate = 1.0, const Axes &axis = 0);
};
HALFTONE_API Config serialize(const Constraint &constraint); // value_error for a function
HALFTONE_API Constraint deserialize(const Config &config);
} // namespace constraints
} // namespace halftone
