// Models: Sequential, functional and custom; compile, fit, evaluate, predict; introspection; saving.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Callbacks.h"
#include "Data.h"
#include "Layer.h"
#include "Losses.h"
#include "Metrics.h"
#include "Optimizers.h"
#include "Reports.h"

namespace halftone {

/// One loss for all outputs, one per output, or losses by the outputs' names. An output without a loss (an undefined
/// Loss, or a name that is absent) contributes nothing to the total loss.
class HALFTONE_API LossSpec {
public:
  LossSpec() = default;
  template <std::convertible_to<Loss> L> LossSpec(L loss) : losses_{Loss(std::move(loss))} {}
  LossSpec(std::initializer_list<Loss> per_output) : losses_(per_output) {}
  LossSpec(std::initializer_list<std::pair<std::string, Loss>> by_name);
  explicit LossSpec(std::vector<Loss> per_output) : losses_(std::move(per_output)) {}
  explicit LossSpec(const std::vector<std::pair<std::string, Loss>> &by_name);
  const std::vector<Loss> &losses() const { return losses_; }
  const std::vector<std::string> &names() const { return names_; }

private:
  std::vector<Loss> losses_;
  std::vector<std::string> names_;
};
/// The metrics of a single output; or, for several outputs, one metric for all of them, one per output as in Keras, or
/// metrics by output name. Each output has its own state: an object that is given for all outputs holds the state of
/// the first output.
class HALFTONE_API MetricSpec {
public:
  MetricSpec() = default;
  MetricSpec(std::initializer_list<Metric> metrics) : metrics_(metrics) {}
  MetricSpec(std::vector<Metric> metrics) : metrics_(std::move(metrics)) {}
  MetricSpec(std::initializer_list<std::pair<std::string, std::vector<Metric>>> by_name);
  explicit MetricSpec(const std::vector<std::pair<std::string, std::vector<Metric>>> &by_name);
  const std::vector<Metric> &metrics() const { return metrics_; }
  const std::vector<std::string> &names() const { return names_; } // the names of the outputs, one per metric; may be
                                                                   // empty

private:
  std::vector<Metric> metrics_;
  std::vector<std::string> names_;
};
/// (x, y), (x, y, sample_weight) or a dataset.
class HALFTONE_API ValidationData {
public:
  ValidationData() = default;
  ValidationData(const Tensors &x, const Tensors &y, const Tensors &sample_weight = {})
      : arrays_{x, y, sample_weight}, defined_(true) {}
  ValidationData(Dataset dataset) : dataset_(std::move(dataset)), defined_(true) {} // a dataset of batches
  bool defined() const { return defined_; }
  const std::optional<Dataset> &dataset() const { return dataset_; } // empty: arrays()
  const Batch &arrays() const { return arrays_; }

private:
  Batch arrays_{};
  std::optional<Dataset> dataset_;
  bool defined_ = false;
};

/// The arguments of Model::compile(). The outputs are known from the first batch on, where losses, loss weights and
/// metrics are checked: value_error for a list with too few or too many entries, for two entries for one output, and
/// for a name that no output has.
/// One CompileArgs may serve several models: each model makes its own optimizer or metric from a name. An Optimizer
/// object belongs to the variables that it updates first; fit() of another model with it is a value_error.
struct CompileArgs { // those of Trainer.compile, then Halftone's
  Optimizer optimizer = "rmsprop";
  LossSpec loss{};
  std::vector<double> loss_weights{}; // one per output; a single loss for all outputs takes a single weight
  MetricSpec metrics{};
  MetricSpec weighted_metrics{};
  bool run_eagerly = false;        // runs the reference interpreter, op by op
  int64_t steps_per_execution = 1; // steps between calls of the callbacks' batch methods
  bool jit_compile = true;
  bool auto_scale_loss = true;    // wraps the optimizer in a LossScaleOptimizer if the model's policy is mixed_float16
  std::optional<Device> device{}; // if empty, default_device(); variables that the model updates move there
  Numerics numerics = Numerics::fast;
  std::optional<int64_t> max_standalone_casts{}; // compile_error if the step needs more
};
struct FitArgs { // Trainer.fit
  int64_t batch_size = 32;
  int64_t epochs = 1;
  int64_t verbose = 1; // 0: silent, 1: a progress bar, 2: one line per epoch
  std::vector<CallbackArg> callbacks{};
  double validation_split = 0.0;
  ValidationData validation_data{};
  bool shuffle = true;
  std::vector<std::pair<int64_t, double>> class_weight{}; // also applies to batches of a dataset without sample weights
  Tensors sample_weight{};                                // only if the data are arrays
  int64_t initial_epoch = 0;
  std::optional<int64_t> steps_per_epoch{};  // each epoch continues in the data where the previous one ended
  std::optional<int64_t> validation_steps{}; // each validation starts at the beginning of the data
  std::optional<int64_t> validation_batch_size{};
  int64_t validation_freq = 1;
  int64_t initial_batch = 0; // Restored::batch, with Restored::epoch: resumes within an epoch (Checkpoint)
};
struct EvaluateArgs {
  int64_t batch_size = 32;
  int64_t verbose = 1;
  Tensors sample_weight{};
  std::optional<int64_t> steps{};
  std::vector<CallbackArg> callbacks{};
};
struct PredictArgs {
  int64_t batch_size = 32;
  int64_t verbose = 1;
  std::optional<int64_t> steps{};
  std::vector<CallbackArg> callbacks{};
};
struct BatchArgs {
  Tensors sample_weight{};
  std::vector<std::pair<int64_t, double>> class_weight{};
};
struct SummaryArgs {
  int64_t line_length = 0; // the width of the table in text(); 0: as wide as its cells
  bool expand_nested = false;
  bool show_trainable = false;
  bool show_policy = true;
};
enum class Program : uint8_t { predict, test, train };
struct IrArgs {
  std::optional<Program> program{}; // default: train if the model is compiled, otherwise predict
  std::optional<int64_t> batch_size{};
  bool locations = false;
};
struct ReportArgs {
  bool time_kernels = true;   // runs the program a few times on zeros, with copies of its variables
  Tensors calibration_data{}; // inputs for the quantization_report() section; without them there is none
};
struct SaveArgs {
  bool overwrite = true; // false: io_error if the file exists
};
struct ModelArgs {
  std::string name{};
  bool trainable = true;
};

class HALFTONE_API History {
public:
  std::vector<double> operator[](std::string_view key) const; // one value per epoch
  std::vector<std::string> keys() const;
  std::vector<int64_t> epoch() const;

  struct Rep;

private:
  std::shared_ptr<Rep> rep_;
  friend class Model;
};

struct SavedTensor {
  std::string name; // the name in the file
  std::vector<int64_t>
      transpose{}; // its axes in the weight's order: {1, 0} for a Linear, {2, 3, 1, 0} for a Conv2d; {}: unchanged
};
struct LoadWeightsArgs {
  bool skip_mismatch = false;
  std::vector<std::pair<std::string, SavedTensor>> names{}; // keyed by the paths of the weights
};

class HALFTONE_API Model : public Layer {
public:
  Model(const Values &inputs, const Values &outputs, const ModelArgs &args = {}, Where where = Where::current());
  template <CustomLayer T>
  explicit Model(T self, const ModelArgs &args = {}, Where where = Where::current())
      : Model(std::make_unique<detail::CustomBody<T>>(std::move(self)), detail::type_name<T>(), args, where) {}

  /// If a callback, a generator or a layer calls this, the run in progress continues with the state with which it
  /// began.
  void compile(const CompileArgs &args = {}) const;
  /// Trains the model. Data are tensors in order, or by the names of the model's inputs and outputs (also in a batch of
  /// a Dataset): x has one tensor per input; y has one per output, and may omit outputs without a loss and a metric;
  /// sample_weight has one for all outputs, or one per target. value_error for a missing or extra entry, and for an
  /// unknown name.
  History fit(const Tensors &x, const Tensors &y, const FitArgs &args = {}) const;
  History fit(const Dataset &dataset, const FitArgs &args = {}) const;
  Logs evaluate(const Tensors &x, const Tensors &y, const EvaluateArgs &args = {}) const;
  Logs evaluate(const Dataset &dataset, const EvaluateArgs &args = {}) const;
  Tensor predict(const Tensors &x, const PredictArgs &args = {}) const; // value_error for several outputs: predict_all
  Tensors predict_all(const Tensors &x, const PredictArgs &args = {}) const;
  Logs train_on_batch(const Tensors &x, const Tensors &y, const BatchArgs &args = {}) const;
  Logs test_on_batch(const Tensors &x, const Tensors &y, const BatchArgs &args = {}) const;
  Tensor predict_on_batch(const Tensors &x) const;
  void stop_training() const;

  Optimizer optimizer() const; // the LossScaleOptimizer if the loss is scaled
  std::optional<optimizers::LossScaleOptimizer> loss_scale_optimizer() const;
  Layer get_layer(std::string_view name) const; // value_error for an unknown name; it lists the known ones
  /// Handles of the loss tracker and of the metrics of compile(); before the first batch, of the tracker alone.
  /// get_metrics_result() gives their results by log name. value_error if the model is not compiled.
  std::vector<Metric> metrics() const;
  Logs get_metrics_result() const;
  void reset_metrics() const;
  std::vector<Value> inputs() const;
  std::vector<Value> outputs() const;
  using Layer::outputs;

  /// Sets the map, which is shared, as the policy of every layer, and reports which key applies to which layer. Weights
  /// keep their dtype, and the model keeps its own policy, by which compile() decides on loss scaling. value_error if
  /// the model is not built (its layers have no paths yet) or two keys match one path; nothing changes then.
  PolicyReport apply_policy(const DTypePolicyMap &map) const;
  /// Compares each quantizable layer in float32 with the same layer under each quantization mode, on the inputs that
  /// the layer sees when the model computes x (samples, ...). float8 uses the scales that training on x would reach.
  /// The model is not changed. value_error for a model that is not built, without samples and for an unknown mode.
  CalibrationReport quantization_report(const Tensors &x, const CalibrationArgs &args = {}) const;
  /// Returns a map that quantizes as many layers as the loss on (x, y) allows, and keeps the policies of the others.
  /// Layers are added one by one in the order of decreasing signal-to-noise ratio; a layer with which the loss
  /// increases by more than `max_loss_increase` is skipped. Nothing is trained, and the search works on copies:
  /// apply_policy() quantizes. value_error for a model that is not compiled or that clone_model() cannot copy, for
  /// float8 (its scales come from training), for a negative increase, and if all candidates for int8 compute in
  /// float16; if only some do, a warning names them.
  DTypePolicyMap suggest_policy_map(const Tensors &x, const Tensors &y, const SuggestArgs &args = {}) const;
  SummaryReport summary(const SummaryArgs &args = {}) const;
  /// The IR of a stage as text: MLIR up to linalg, then the steps of the plan, then the target's assembly.
  std::string ir(Stage stage, const IrArgs &args = {}) const;
  /// Writes one file per stage: 0-graph.mlir, 1-cast.mlir, 2-pure.mlir, 3-kernel.mlir, 4-linalg.mlir, 5-plan.txt,
  /// 6-target.s.
  void dump_ir(const std::string &directory, const IrArgs &args = {}) const;
  CastLedger cast_ledger(const IrArgs &args = {}) const;
  /// The history of the last fit(); empty before the first.
  History history() const;
  /// Writes a self-contained HTML page with the layers, policies, casts, kernels, memory and learning curves. It
  /// compiles the training step if necessary, or predict if the model is not compiled; the model is not changed. If a
  /// section cannot be created, the page says why. value_error unless the name ends with ".html"; io_error, and no file
  /// changes, if the page cannot be written.
  void report(const std::string &filepath, const ReportArgs &args = {}) const;

  /// Writes a .keras file, which Keras can load: layers and calls, the arguments of compile(), weights, and the
  /// optimizer's state. The write is atomic. load_model() reads every file that save() writes. value_error for another
  /// file extension, for an unbuilt model, for a config that exceeds the reader's limits, and for a model that a config
  /// cannot represent: a model made from a struct, one with a user's function or with an unregistered layer, and one
  /// with a layer in two inner models or twice in a Sequential.
  void save(const std::string &filepath, const SaveArgs &args = {}) const;
  /// The model as config.json of a .keras file holds it. from_config(Config::parse(to_json())) creates an uncompiled
  /// copy with new weights. (get_config() has only the arguments.)
  std::string to_json() const;
  static Model from_config(const Config &config);
  /// Writes weights() to "<name>.weights.h5", Keras's format, which also holds the optimizer's state, or to
  /// "<name>.safetensors". The write is atomic. value_error for another file extension or an unbuilt model.
  void save_weights(const std::string &filepath, const SaveArgs &args = {}) const;
  /// Reads weights() from a file of save_weights(), or from a checkpoint, "<name>.ckpt". Floats are converted to the
  /// variables' dtypes. Layers are matched by explicit name, or else by class and position in the model, never by
  /// automatic name. value_error if a weight is missing from the file, is extra in it, or has another shape there; no
  /// weight changes then. With `skip_mismatch` such weights keep their values, and a warning names them.
  void load_weights(const std::string &filepath, bool skip_mismatch = false) const;
  /// Reads tensors with other names and axis orders, such as those of a PyTorch state dict, from "<name>.safetensors".
  /// value_error for weights without an entry, entries without a weight and mismatched shapes; the error lists them.
  /// Tensors that no entry names are ignored.
  void load_weights(const std::string &filepath, const LoadWeightsArgs &args) const;

  explicit Model(const Layer &layer); // type_error if it is not a model
protected:
  Model(std::unique_ptr<detail::LayerBody> body, std::string class_name, const ModelArgs &args, Where where);
};

struct LoadArgs {
  bool compile = true; // compiles the model as it was saved, with its optimizer's state
  std::optional<Device> device{};
  Numerics numerics = Numerics::fast; // the numerics of the compiled model; files do not record them
};
/// Returns an uncompiled model with the same layers and new weights. value_error as for Model::save().
HALFTONE_API Model clone_model(const Model &model);
/// Reads a model from a .keras file of Keras: Sequential and functional models of this library's layers, the arguments
/// of compile(), weights, and the optimizer's state. io_error for a damaged file, value_error for unsupported content;
/// the error names the file, the location in its config.json and the class.
HALFTONE_API Model load_model(const std::string &filepath, const LoadArgs &args = {});

class HALFTONE_API Sequential : public Model {
public:
  Sequential(std::initializer_list<Layer> layers = {}, const ModelArgs &args = {}, Where where = Where::current());
  explicit Sequential(std::vector<Layer> layers, const ModelArgs &args = {}, Where where = Where::current());
  void add(const Layer &layer) const;
  void pop() const;
};

HALFTONE_API void set_random_seed(int64_t seed); // for initial weights, shuffling and dropout
/// Sets the sink of warnings and of the progress that `verbose` requests; the default is stdout. The library prints
/// nothing else. Text that stdout rejects (a closed pipe, a file size limit) is dropped, so it never ends a run.
HALFTONE_API void set_output(std::function<void(std::string_view)> sink);
} // namespace halftone
