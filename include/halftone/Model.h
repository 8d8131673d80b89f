// Models: Sequential, functional and custom; compile, fit, evaluate, predict; looking inside; saving.
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

/// One loss for all outputs, one per output, or losses by the outputs' names. An output without a loss (a Loss that is not
/// defined, or no name) adds nothing to the loss.
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
/// Metrics of the only output; of several outputs one metric for all of them, one per output as in Keras, or metrics by the
/// outputs' names. Each output has a state of its own: an object that is given once holds that of the first output.
class HALFTONE_API MetricSpec {
public:
  MetricSpec() = default;
  MetricSpec(std::initializer_list<Metric> metrics) : metrics_(metrics) {}
  MetricSpec(std::vector<Metric> metrics) : metrics_(std::move(metrics)) {}
  MetricSpec(std::initializer_list<std::pair<std::string, std::vector<Metric>>> by_name);
  explicit MetricSpec(const std::vector<std::pair<std::string, std::vector<Metric>>> &by_name);
  const std::vector<Metric> &metrics() const { return metrics_; }
  const std::vector<std::string> &names() const { return names_; } // of the outputs, one per metric; may be empty

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
  ValidationData(Dataset dataset) : dataset_(std::move(dataset)), defined_(true) {} // of batches
  bool defined() const { return defined_; }
  const std::optional<Dataset> &dataset() const { return dataset_; } // empty: arrays()
  const Batch &arrays() const { return arrays_; }

private:
  Batch arrays_{};
  std::optional<Dataset> dataset_;
  bool defined_ = false;
};

/// The first batch shows the outputs. Then a list of losses, weights of losses or metrics that has too few or too many entries,
/// two for one output, or one for a name that no output has is a value_error.
/// One CompileArgs may serve several models: a name stands for a new optimizer or metric of each. An Optimizer object
/// belongs to the variables that it updated first; with those of another model, fit() throws a value_error.
struct CompileArgs { // Trainer.compile, then ours
  Optimizer optimizer = "rmsprop";
  LossSpec loss{};
  std::vector<double> loss_weights{}; // one per output; with one loss for all outputs also one
  MetricSpec metrics{};
  MetricSpec weighted_metrics{};
  bool run_eagerly = false;        // the reference interpreter, op by op
  int64_t steps_per_execution = 1; // steps from one call of callbacks' batch methods to the next
  bool jit_compile = true;
  bool auto_scale_loss = true;    // wraps when the model's policy is named mixed_float16
  std::optional<Device> device{}; // where it runs, else default_device(); what it updates moves there
  Numerics numerics = Numerics::fast;
  std::optional<int64_t> max_standalone_casts{}; // compile_error when the step needs more
};
struct FitArgs { // Trainer.fit
  int64_t batch_size = 32;
  int64_t epochs = 1;
  int64_t verbose = 1; // 0 silent, 1 a bar, 2 a line an epoch
  std::vector<CallbackArg> callbacks{};
  double validation_split = 0.0;
  ValidationData validation_data{};
  bool shuffle = true;
  std::vector<std::pair<int64_t, double>> class_weight{}; // of a dataset's batches too, when they have no weights
  Tensors sample_weight{};                                // of arrays
  int64_t initial_epoch = 0;
  std::optional<int64_t> steps_per_epoch{};  // an epoch goes on in the data where the last one ended
  std::optional<int64_t> validation_steps{}; // from the beginning each time
  std::optional<int64_t> validation_batch_size{};
  int64_t validation_freq = 1;
  int64_t initial_batch = 0; // Restored::batch, beside Restored::epoch: the run goes on within an epoch (Checkpoint)
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
  int64_t line_length = 0; // of the table in text(); 0: as wide as its cells
  bool expand_nested = false;
  bool show_trainable = false;
  bool show_policy = true;
};
enum class Program : uint8_t { predict, test, train };
struct IrArgs {
  std::optional<Program> program{};
  std::optional<int64_t> batch_size{};
  bool locations = false;
}; // train when compiled
struct ReportArgs {
  bool time_kernels = true;   // plays the program a few times, with zeros, on copies of its variables
  Tensors calibration_data{}; // inputs for a section with the quantization_report(); none: no such section
};
struct SaveArgs {
  bool overwrite = true; // false: io_error if the file is there
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
  std::string name; // in the file
  std::vector<int64_t>
      transpose{}; // its axes in the weight's order: {1, 0} of a Linear, {2, 3, 1, 0} of a Conv2d; {}: as it is
};
struct LoadWeightsArgs {
  bool skip_mismatch = false;
  std::vector<std::pair<std::string, SavedTensor>> names{}; // by the paths of the weights
};

class HALFTONE_API Model : public Layer {
public:
  Model(const Values &inputs, const Values &outputs, const ModelArgs &args = {}, Where where = Where::current());
  template <CustomLayer T>
  explicit Model(T self, const ModelArgs &args = {}, Where where = Where::current())
      : Model(std::make_unique<detail::CustomBody<T>>(std::move(self)), detail::type_name<T>(), args, where) {}

  /// If a callback, a generator or a layer calls this, the run that is under way goes on with the state with which it
  /// began.
  void compile(const CompileArgs &args = {}) const;
  /// Data are tensors in order, or by the names of the model's inputs and outputs (in a batch of a Dataset too): x has one for
  /// each input; y one for each output, but may lack those of outputs without a loss and a metric; sample_weight one for
  /// all outputs, or one for each target. value_error for an entry too few or too many, and for a name that there is not.
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

  Optimizer optimizer() const; // the wrapper when the loss is scaled
  std::optional<optimizers::LossScaleOptimizer> loss_scale_optimizer() const;
  Layer get_layer(std::string_view name) const; // value_error lists the names there are
  /// Handles of the loss's tracker and of compile()'s metrics, the tracker alone before the first batch; their results by the
  /// names of the logs; and their reset. value_error unless the model is compiled.
  std::vector<Metric> metrics() const;
  Logs get_metrics_result() const;
  void reset_metrics() const;
  std::vector<Value> inputs() const;
  std::vector<Value> outputs() const;
  using Layer::outputs;

  /// Gives every layer the map, which it shares, and says which key decides where. Weights keep their dtype; the
  /// model's own policy, by which compile() scales the loss, too. value_error, and nothing is changed, when the model
  /// is not built (layers have no paths) or two keys match one path.
  PolicyReport apply_policy(const DTypePolicyMap &map) const;
  /// Computes each layer that can be quantized, on the inputs that it has when the model computes x (samples, ...), in float32
  /// and under quantization modes, and compares. float8 has the scales that training on x would reach. The model stays as it
  /// is. value_error for a model that is not built, without samples and for an unknown mode.
  CalibrationReport quantization_report(const Tensors &x, const CalibrationArgs &args = {}) const;
  /// A map that quantizes as many layers as the loss on (x, y) allows, and keeps the policies of the others: it adds the
  /// layers one by one, the one with the best signal to noise first, and leaves out those with which the loss increases by
  /// more than `max_loss_increase`. It trains nothing, and works on copies; apply_policy() quantizes. value_error for a
  /// model that is not compiled or that clone_model() cannot copy, for a mode that cannot be measured so (float8: its scales
  /// come from training), for a negative increase, and if int8 could only quantize layers that compute in float16; where
  /// these are some of the layers, a warning names them.
  DTypePolicyMap suggest_policy_map(const Tensors &x, const Tensors &y, const SuggestArgs &args = {}) const;
  SummaryReport summary(const SummaryArgs &args = {}) const;
  /// The text of a stage: MLIR up to linalg, the plan's steps, the target's assembly.
  std::string ir(Stage stage, const IrArgs &args = {}) const;
  /// One file a stage: 0-graph.mlir, 1-cast.mlir, 2-pure.mlir, 3-kernel.mlir, 4-linalg.mlir, 5-plan.txt, 6-target.s.
  void dump_ir(const std::string &directory, const IrArgs &args = {}) const;
  CastLedger cast_ledger(const IrArgs &args = {}) const;
  /// Of the last fit(); without epochs before the first.
  History history() const;
  /// Writes a page that a browser shows without a network: layers, policies, casts, kernels, memory, learning curves. It
  /// compiles the training step if that was not compiled before, without compile() the program of predict; the model
  /// stays as it is. If a section cannot be made, the page says why. value_error unless the name ends with ".html";
  /// io_error, and no file changes, if the page cannot be written.
  void report(const std::string &filepath, const ReportArgs &args = {}) const;

  /// Writes a .keras file, which Keras opens: layers and calls, the arguments of compile(), weights, and the optimizer's
  /// state; whole or not at all. load_model() reads each file that it writes. value_error for another ending, for an unbuilt
  /// model, for a config past the reader's limits, and for a model that no config can hold, such as one of a struct, one with
  /// a function of the user's, with a layer that is not registered, or with one layer in two inner models or twice in a
  /// Sequential.
  void save(const std::string &filepath, const SaveArgs &args = {}) const;
  /// The model as in config.json of that file; from_config(Config::parse(to_json())) makes it again, with new weights and not
  /// compiled. (get_config() has the arguments alone.)
  std::string to_json() const;
  static Model from_config(const Config &config);
  /// Writes weights() to "<name>.weights.h5", Keras's form, which holds the optimizer's state too, or to
  /// "<name>.safetensors", whole or not at all. value_error for another ending or an unbuilt model.
  void save_weights(const std::string &filepath, const SaveArgs &args = {}) const;
  /// Reads weights() from a file of save_weights(), or those in a checkpoint, "<name>.ckpt". Floats are converted to
  /// the variables' dtypes. Layers are found by given names, or else by class and place, never by automatic names.
  /// value_error, and no weight changes, when the file lacks a weight, has another weight or another shape. With `skip_mismatch` such weights keep their values, and a warning names them.
  void load_weights(const std::string &filepath, bool skip_mismatch = false) const;
  /// From tensors of other names and axes, as those of a PyTorch state dict: "<name>.safetensors" alone. value_error that lists
  /// the weights without an entry, entries for no weight and shapes that differ; tensors that no entry names are left.
  void load_weights(const std::string &filepath, const LoadWeightsArgs &args) const;

  explicit Model(const Layer &layer); // type_error when it is not a model
protected:
  Model(std::unique_ptr<detail::LayerBody> body, std::string class_name, const ModelArgs &args, Where where);
};

struct LoadArgs {
  bool compile = true; // as the file's model was, with its optimizer's state
  std::optional<Device> device{};
  Numerics numerics = Numerics::fast; // of the compiled model: files do not hold them
};
/// A model with the same layers and new weights, not compiled. value_error as of Model::save().
HALFTONE_API Model clone_model(const Model &model);
/// Reads a model from a .keras file of Keras's: Sequential and functional models of this library's layers, the arguments
/// of compile(), weights, and the optimizer's state. io_error for a damaged file, value_error for one that holds something
/// else; the error names the file, the place in its config.json and the class.
HALFTONE_API Model load_model(const std::string &filepath, const LoadArgs &args = {});

class HALFTONE_API Sequential : public Model {
public:
  Sequential(std::initializer_list<Layer> layers = {}, const ModelArgs &args = {}, Where where = Where::current());
  explicit Sequential(std::vector<Layer> layers, const ModelArgs &args = {}, Where where = Where::current());
  void add(const Layer &layer) const;
  void pop() const;
};

HALFTONE_API void set_random_seed(int64_t seed); // initial weights, shuffling, dropout
/// Where the progress asked for by `verbose` and warnings go: stdout until set. Nothing else in the library writes. Text that
/// stdout does not take, for nobody reads the pipe or a limit is reached, is dropped: it ends no run.
HALFTONE_API void set_output(std::function<void(std::string_view)> sink);
} // namespace halftone
