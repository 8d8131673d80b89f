// Layer, the handle of a layer, and Custom<T>, which makes a layer from any struct with a call().
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Arguments.h"
#include "Error.h"
#include "Policy.h"
#include "Quantization.h"
#include "Training.h"
#include <functional>

namespace halftone {
class Layer;
class Input;
namespace detail {
struct LayerImpl;
struct RematMode;
} // namespace detail

/// DTypePolicy.convert_input, as free functions, so that Policy.h needs neither Value nor Tensor.
HALFTONE_API Value convert_input(const DTypePolicy &policy, const Value &x, bool autocast, DType dtype);
HALFTONE_API Tensor convert_input(const DTypePolicy &policy, const Tensor &x, bool autocast, DType dtype);

struct CallArgs {
  std::optional<bool> training{}; // empty: inherited from the calling layer; false outside of fit
};
struct WeightArgs { // Layer.add_weight, in Keras's order
  Shape shape{};
  Initializer initializer{};
  std::optional<DType> dtype{};
  bool trainable = true;
  bool autocast = true;
  Regularizer regularizer{};
  Constraint constraint{};
  bool overwrite_with_gradient = false;
  std::string name{};
};

class HALFTONE_API BuildContext { // the context of a custom layer's build()
public:
  Variable add_weight(const WeightArgs &args);
  DType compute_dtype() const;
  DType variable_dtype() const;
  std::string path() const;
  explicit BuildContext(detail::LayerImpl &layer) : layer_(layer) {}
  detail::LayerImpl &layer() const { return layer_; }

private:
  detail::LayerImpl &layer_;
};
class HALFTONE_API CallContext { // the context of a custom layer's call()
public:
  bool training() const;
  DType compute_dtype() const;
  std::string path() const;
  void add_loss(const Value &loss) const;
  CallContext(detail::LayerImpl &layer, bool training) : layer_(layer), training_(training) {}

private:
  detail::LayerImpl &layer_;
  bool training_;
};

namespace detail {
/// The implementation interface of layers; Custom<T> implements it for users' structs.
class HALFTONE_API LayerBody {
public:
  virtual ~LayerBody();
  virtual void build(BuildContext &, const std::vector<Shape> &) {}
  virtual Values call(const Values &inputs, const CallContext &context) = 0;
  virtual void get_config(Config &) const {}
  enum class Hook : uint8_t { train_step, test_step, compute_loss };
  virtual bool has(Hook) const { return false; }
  virtual void step(Hook, const StepContext &, const StepData &) {}
  virtual Value compute_loss(const StepContext &, const StepData &, const Values &) { return {}; }
  /// The bool mask (batch, ...) that the first outputs carry; undefined if there is none. `masks` holds the masks of
  /// the inputs.
  virtual Value mask(const Values &inputs, const std::vector<Value> &masks);
  virtual size_t masked_outputs() const; // the number of leading outputs that carry the mask
  /// The maximum number of inputs of a call; 0: unlimited.
  virtual size_t most_inputs() const;
  /// Returns true if the layer supports this quantization mode, by its policy or by quantize().
  virtual bool quantizes(std::string_view mode) const;
  /// Replaces the float weights by quantized ones. Called only for a mode for which quantizes() is true.
  virtual void quantize(BuildContext &, const QuantizationConfig &) {}
};
/// The body of a cell: a layer that a recurrent layer calls at each step. Its inputs are the step's slice of the
/// sequence and the states; its outputs are the output of the step and the new states.
class HALFTONE_API CellBody : public LayerBody {
public:
  /// The shapes of the states of a built cell, without the batch.
  virtual std::vector<Shape> state_sizes() const = 0;
  virtual Shape output_shape() const; // without the batch; by default the shape of the first state
  /// By default zeros in the compute dtype.
  virtual Values initial_states(int64_t batch, DType compute) const;
};

template <class T>
concept CallsOne = requires(T &t, const Value &x) {
  { t.call(x) } -> std::convertible_to<Values>;
};
template <class T>
concept CallsOneIn = requires(T &t, const Value &x, const CallContext &c) {
  { t.call(x, c) } -> std::convertible_to<Values>;
};
template <class T>
concept CallsMany = requires(T &t, const Values &x) {
  { t.call(x) } -> std::convertible_to<Values>;
};
template <class T>
concept CallsManyIn = requires(T &t, const Values &x, const CallContext &c) {
  { t.call(x, c) } -> std::convertible_to<Values>;
};
template <class T>
concept CallsStep = requires(T &t, const Value &x, const Values &states) {
  { t.call(x, states) } -> std::convertible_to<Values>;
};
template <class T>
concept CallsStepIn = requires(T &t, const Value &x, const Values &states, const CallContext &c) {
  { t.call(x, states, c) } -> std::convertible_to<Values>;
};
template <class T>
concept IsCell = CallsStep<T> || CallsStepIn<T>;
template <class T>
concept HasStateSize = requires(const T &t) { t.state_size; } || requires(const T &t) { t.state_size(); };
template <class T>
concept HasOutputSize = requires(const T &t) { t.output_size; } || requires(const T &t) { t.output_size(); };
template <class T>
concept HasInitialState = requires(const T &t, int64_t batch) {
  { t.get_initial_state(batch) } -> std::convertible_to<Values>;
};
template <class T>
concept Builds = requires(T &t, BuildContext &b, const Shape &s) { t.build(b, s); };
template <class T>
concept BuildsMany = requires(T &t, BuildContext &b, const std::vector<Shape> &s) { t.build(b, s); };
template <class T>
concept HasBuild = requires { &T::build; };
template <class T>
concept HasTrainStep = requires { &T::train_step; };
template <class T>
concept HasTestStep = requires { &T::test_step; };
template <class T>
concept HasLoss = requires { &T::compute_loss; };
template <class T>
concept TrainsItself = requires(T &t, const StepContext &c, const StepData &d) {
  { t.train_step(c, d) } -> std::same_as<void>;
};
template <class T>
concept TestsItself = requires(T &t, const StepContext &c, const StepData &d) {
  { t.test_step(c, d) } -> std::same_as<void>;
};
template <class T>
concept ComputesLoss = requires(T &t, const StepContext &c, const StepData &d, const Values &y) {
  { t.compute_loss(c, d, y) } -> std::convertible_to<Value>;
};

template <class T, bool isCell = IsCell<T>> class CustomBase : public LayerBody {
public:
  explicit CustomBase(T t) : self(std::move(t)) {}
  T self;
};
template <class T> class CustomBase<T, true> : public CellBody {
public:
  static_assert(HasStateSize<T>, "a cell needs state_size: a number, or the std::vector<Shape> of its states");
  explicit CustomBase(T t) : self(std::move(t)) {}
  std::vector<Shape> state_sizes() const override {
    const auto size = [this] {
      if constexpr (requires { self.state_size(); })
        return self.state_size();
      else
        return self.state_size;
    }();
    if constexpr (std::convertible_to<decltype(size), int64_t>)
      return {Shape{static_cast<int64_t>(size)}};
    else
      return std::vector<Shape>(size.begin(), size.end());
  }
  Shape output_shape() const override {
    if constexpr (!HasOutputSize<T>)
      return CellBody::output_shape();
    else {
      const auto size = [this] {
        if constexpr (requires { self.output_size(); })
          return self.output_size();
        else
          return self.output_size;
      }();
      if constexpr (std::convertible_to<decltype(size), int64_t>)
        return Shape{static_cast<int64_t>(size)};
      else
        return size;
    }
  }
  Values initial_states(int64_t batch, DType compute) const override {
    if constexpr (HasInitialState<T>)
      return self.get_initial_state(batch);
    else
      return CellBody::initial_states(batch, compute);
  }
  T self;
};
template <class T> class CustomBody final : public CustomBase<T> {
public:
  using CustomBase<T>::CustomBase;
  using CustomBase<T>::self;
  using Hook = LayerBody::Hook;
  static_assert(!HasBuild<T> || Builds<T> || BuildsMany<T>,
                "a custom layer's build must be callable as build(BuildContext &, const Shape &)");
  void build(BuildContext &b, const std::vector<Shape> &shapes) override {
    if constexpr (BuildsMany<T>)
      self.build(b, shapes);
    else if constexpr (Builds<T>)
      self.build(b, shapes.at(0));
  }
  Values call(const Values &x, const CallContext &c) override {
    if constexpr (IsCell<T>) {
      const Values states(std::vector<Value>(x.begin() + 1, x.end()));
      if constexpr (CallsStepIn<T>)
        return self.call(x[0], states, c);
      else
        return self.call(x[0], states);
    } else if constexpr (CallsManyIn<T>)
      return self.call(x, c);
    else if constexpr (CallsMany<T>)
      return self.call(x);
    else if constexpr (CallsOneIn<T>)
      return self.call(x[0], c);
    else
      return self.call(x[0]);
  }
  size_t most_inputs() const override { return IsCell<T> || CallsManyIn<T> || CallsMany<T> ? 0 : 1; }
  void get_config(Config &c) const override {
    if constexpr (HasConfig<T>)
      self.get_config(c);
  }
  static_assert(!HasTrainStep<T> || TrainsItself<T>,
                "a model's train_step must be callable as void train_step(const StepContext &, const StepData &)");
  static_assert(!HasTestStep<T> || TestsItself<T>,
                "a model's test_step must be callable as void test_step(const StepContext &, const StepData &)");
  static_assert(!HasLoss<T> || ComputesLoss<T>, "a model's compute_loss must be callable as Value compute_loss(const "
                                                "StepContext &, const StepData &, const Values &y_pred)");
  bool has(Hook hook) const override {
    return hook == Hook::train_step ? TrainsItself<T> : hook == Hook::test_step ? TestsItself<T> : ComputesLoss<T>;
  }
  void step([[maybe_unused]] Hook hook, [[maybe_unused]] const StepContext &c,
            [[maybe_unused]] const StepData &d) override {
    if constexpr (TrainsItself<T>)
      if (hook == Hook::train_step)
        self.train_step(c, d);
    if constexpr (TestsItself<T>)
      if (hook == Hook::test_step)
        self.test_step(c, d);
  }
  Value compute_loss([[maybe_unused]] const StepContext &c, [[maybe_unused]] const StepData &d,
                     [[maybe_unused]] const Values &y) override {
    if constexpr (ComputesLoss<T>)
      return self.compute_loss(c, d, y);
    return {};
  }
};
} // namespace detail

/// A struct with  call(const Value &)  or  call(const Values &), each with an optional second parameter
/// const CallContext &. Optional members:  build(BuildContext &, const Shape &),  get_config(Config &) const,
/// static T from_config(const Config &);  for a model also  compute_loss,  train_step,  test_step  (Training.h).
/// A cell of layers::RNN has instead  Values call(const Value &x, const Values &states), which returns the output and
/// the new states, and state_size, an integer or the shapes of the states. Optional:  output_size,
/// Values get_initial_state(batch) const.
/// build() assigns the struct's layers and weights to members. If the call that builds the layer fails, the next call
/// builds it again.
template <class T>
concept CustomLayer =
    !std::derived_from<T, Layer> && (detail::CallsOne<T> || detail::CallsOneIn<T> || detail::CallsMany<T> ||
                                     detail::CallsManyIn<T> || detail::IsCell<T>);

struct RematArgs {
  int64_t output_size_threshold = 1024;   // "larger_than": applies above this total of output elements per call
  std::vector<std::string> layer_names{}; // "list_of_layers": names or paths
};
/// keras.RematScope: rematerialization for the layers that this thread creates during the lifetime of the scope. A
/// training step does not keep their values for its backward pass, which recomputes them: the step takes less memory
/// and more time. The results are the same, and in strict numerics bit-identical. Modes:
///   "full": only the layer's inputs are kept;
///   "activations": the input of the layer's activation is kept, its output is not;
///   "larger_than": as "full", for layers with outputs of more than output_size_threshold elements;
///   "list_of_layers": as "full", for the layers in layer_names;
///   nullopt: all values are kept.
/// A layer inside such a layer is part of it. A graph of layers (Sequential, Model) is rematerialized as a whole only
/// if it has an explicit name and another layer calls it. value_error for other modes.
class HALFTONE_API RematScope {
public:
  [[nodiscard]] RematScope(const std::optional<std::string> &mode = "full", const RematArgs &args = {});
  ~RematScope();
  RematScope(const RematScope &) = delete;

private:
  std::unique_ptr<std::optional<detail::RematMode>> saved_;
};
/// keras.remat: returns a function with the results of `f`. In a function being traced (the call() of a custom layer, a
/// loss, jit) only its arguments are kept for the backward pass, which recomputes all other values of `f`, including
/// those of layers that it calls. value_error for an empty function.
HALFTONE_API std::function<Value(const Values &)> remat(std::function<Value(const Values &)> f);

struct LoraArgs {                     // for enable_lora(), in Keras's order
  std::optional<double> lora_alpha{}; // default: the rank
  Initializer a_initializer = "he_uniform";
  Initializer b_initializer = "zeros";
};
struct LayerArgs { // Layer.__init__, in Keras's order
  Regularizer activity_regularizer{};
  bool trainable = true;
  PolicyArg dtype{};
  bool autocast = true;
  std::string name{};
};

/// A handle with reference semantics, like a Python reference. Copies share weights, and `const` applies to the handle,
/// not to the layer. Subclasses (Dense, Model, ...) add constructors and accessors but no data, so a Dense can be
/// sliced to a Layer without loss. A call on a Value records the layer; a call on a Tensor compiles and runs it, and
/// returns data.
class HALFTONE_API Layer {
public:
  Layer(const Layer &);
  Layer(Layer &&) noexcept;
  Layer &operator=(const Layer &) &;
  Layer &operator=(Layer &&) & noexcept;
  ~Layer();
  Layer(const Input &input); // so that Sequential({Input({784}), ...}) compiles, as in Keras

  [[nodiscard]] Value operator()(const Value &x, const CallArgs &args = {}) const;
  [[nodiscard]] Value operator()(const Values &xs, const CallArgs &args = {}) const;
  [[nodiscard]] Tensor operator()(const Tensor &x, const CallArgs &args = {}) const;
  [[nodiscard]] Tensor operator()(const Tensors &xs, const CallArgs &args = {}) const;
  /// Keras's layer.output: the output of the layer's first call in a functional or Sequential model, which may be a
  /// loaded one; for such a model itself, the output of its own graph. attribute_error if there is no call, or if no
  /// Value and no model of the call's graph is alive.
  Value output(size_t index = 0) const;
  Value input(size_t index = 0) const;
  /// The scalar losses of this layer and its children while a function is traced: the values of add_loss() and activity
  /// regularizers in the calls so far, and the penalty of each regularized weight that is trainable. runtime_error
  /// outside of a trace.
  std::vector<Value> losses() const;
  [[nodiscard]] Values outputs(const Values &xs, const CallArgs &args = {}) const; // for layers with several outputs

  std::string name() const;
  std::string path() const; // "net/encoder/dense_1"; assigned by build
  std::string class_name() const;
  bool built() const;
  bool trainable() const;
  void set_trainable(bool trainable) const;
  DTypePolicy dtype_policy() const; // may be a map; the dtypes and the mode below apply to the layer's path
  /// Sets the policy of the calls that follow; weights keep their dtype. If the layer has a map and a path, the policy
  /// replaces the map's entry for that path, in every layer that shares the map; a map replaces the map.
  void set_dtype_policy(const PolicyArg &policy) const;
  DType dtype() const; // the variable dtype
  DType compute_dtype() const;
  DType variable_dtype() const;
  DType input_dtype() const; // for a Sequential the dtype of its Input, otherwise the compute dtype
  std::optional<std::string> quantization_mode() const;
  std::vector<Layer> layers() const;       // children, in the order of their first call
  std::vector<Variable> variables() const; // includes the states of random layers
  std::vector<Variable> weights() const;   // the variables of get_weights() and set_weights()
  std::vector<Variable> trainable_variables() const;
  std::vector<Variable> non_trainable_variables() const;
  std::vector<Tensor> get_weights() const;
  void set_weights(const std::vector<Tensor> &weights) const;
  int64_t count_params() const;
  Config get_config() const;
  /// Quantizes the weights of a built layer, or of the layers of a model, in the mode "int8", "int4" or "float8"; ""
  /// takes the mode of `args.config`. The policy becomes "<mode>_from_<policy>". A model skips layers that do not
  /// support the mode, and reports them. value_error for a layer that is not built or is already quantized, for an
  /// unknown mode, and for int8 over a policy that computes in float16; not_implemented_error for a layer that does not
  /// support the mode. Nothing changes then.
  QuantizationReport quantize(std::string_view mode, const QuantizeArgs &args = {}) const;
  /// Low-rank adaptation of a built Dense, EinsumDense, Conv1D, Conv2D, Conv3D, Embedding or ReversibleEmbedding: its
  /// kernel (..., n) or table is frozen, and lora_alpha / rank * a @ b is added to it, with the trainable float32
  /// weights a (..., rank) and b (rank, n). Keras's files hold the sum. attribute_error for another layer; value_error
  /// for a layer that is not built, already has LoRA or has a constraint on the weight, and for a rank below 1;
  /// not_implemented_error under float8. Nothing changes then.
  void enable_lora(int64_t rank, const LoraArgs &args = {}) const;
  friend bool operator==(const Layer &, const Layer &) = default; // identity
  explicit Layer(std::shared_ptr<detail::LayerImpl> impl);
  const std::shared_ptr<detail::LayerImpl> &impl() const { return impl_; }

protected:
  Layer(std::unique_ptr<detail::LayerBody> body, std::string class_name, const LayerArgs &args, Where where);
  Variable weight(std::string_view name) const;
  detail::LayerBody &body() const;
  std::shared_ptr<detail::LayerImpl> impl_;
};

HALFTONE_API std::ostream &operator<<(std::ostream &os, const Layer &layer); // <Dense name=dense, built=True>

/// auto y = Custom(LowRank{.units = 64})(x);   or   using LowRankDense = Custom<LowRank>;
/// Layers that call() calls become its children; they need no registration.
template <CustomLayer T> class Custom : public Layer {
public:
  explicit Custom(T self, const LayerArgs &args = {}, Where where = Where::current())
      : Layer(std::make_unique<detail::CustomBody<T>>(std::move(self)), detail::type_name<T>(), args, where) {}
  const T &self() const { return static_cast<detail::CustomBody<T> &>(body()).self; }
};
/// Registers a user's class for files under the name "package>Class", Keras's registered name, or "Class", which Keras
/// writes for a class that is not registered in Python. load_model() and Model::from_config() create its layers by
/// `make`, from the class's own config and from the arguments that all layers share. A class may be registered under
/// both names; files are written with the package. value_error for another form of the name, and for a class that is
/// registered in another package.
HALFTONE_API void register_layer(const std::string &registered_name,
                                 std::function<Layer(const Config &, const LayerArgs &)> make);
/// Registers Custom<T>. T has a static T from_config(const Config &), which reads the fields that T's get_config() writes.
template <CustomLayer T> void register_custom(const std::string &package = "") {
  register_layer(detail::registered_name<T>(package), [](const Config &config, const LayerArgs &args) -> Layer {
    return Custom<T>(T::from_config(config), args);
  });
}
namespace utils {
/// Resets the thread's policy to that of floatx(), and restarts the numbering of automatic names.
HALFTONE_API void clear_session();
} // namespace utils

struct InputArgs {
  std::optional<int64_t> batch_size{};
  std::optional<DType> dtype{}; // empty: floatx, as in Keras, not the policy's dtype
  std::string name{};
};
class HALFTONE_API Input : public Value { // shape without the batch
public:
  explicit Input(const Shape &shape, const InputArgs &args = {});
};
} // namespace halftone
