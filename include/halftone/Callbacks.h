// Callbacks of fit(), evaluate() and predict(). Pass a callback by value, or keep it and pass its address.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Choice.h"
#include <concepts>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halftone {
class Model;
namespace detail {
struct CallbackFacts;
class CallbackList;
class StepValues;
} // namespace detail
/// Named values in Keras's order: sorted names, then sorted names of validation, then names that callbacks added. If a
/// device is still computing the values of a step, the first read of its logs waits for the step.
class HALFTONE_API Logs {
public:
  double operator[](std::string_view name) const; // key_error that lists the names
  bool contains(std::string_view name) const;
  void set(std::string_view name, double value);
  using const_iterator = std::vector<std::pair<std::string, double>>::const_iterator;
  const_iterator begin() const & { return items().begin(); }
  const_iterator end() const & { return items().end(); }
  const_iterator begin() const && = delete;
  const_iterator end() const && = delete;
  std::string str() const; // "accuracy: 0.9876 - loss: 0.1234"
private:
  friend class detail::StepValues;
  const std::vector<std::pair<std::string, double>> &items() const;
  std::vector<std::pair<std::string, double>> items_;
  std::shared_ptr<detail::StepValues> step_; // used instead of items_ until a value is set
};

HALFTONE_API std::ostream &operator<<(std::ostream &os, const Logs &logs); // str()

struct CallbackParams {
  int64_t epochs = 0;             // the epochs of fit(); 1 in evaluate() and predict()
  std::optional<int64_t> steps{}; // the steps of an epoch; none if the number is unknown before the run
  int64_t verbose = 0;
};
/// The base class of callbacks. A run calls each method for all callbacks, in the order of the list. Validation calls
/// on_test_..., with the params() of fit(). Every on_..._batch_begin() is followed by its on_..._batch_end(): a batch
/// begins only once its data are available.
///
/// If fit() ends with an error, on_train_end() is not called; on_train_begin() must therefore reset the state that the
/// callback keeps of a run. The logs of on_train_end() are those of the last epoch, without the values that callbacks
/// have set.
class HALFTONE_API Callback {
public:
  virtual ~Callback();
  virtual void on_train_begin(const Logs &) {}
  virtual void on_train_end(const Logs &) {}
  virtual void on_epoch_begin(int64_t, const Logs &) {}
  virtual void on_epoch_end(int64_t, Logs &) {}
  virtual void on_train_batch_begin(int64_t, const Logs &) {}
  virtual void on_train_batch_end(int64_t, const Logs &) {}
  virtual void on_test_begin(const Logs &) {}
  virtual void on_test_end(const Logs &) {}
  virtual void on_test_batch_begin(int64_t, const Logs &) {}
  virtual void on_test_batch_end(int64_t, const Logs &) {}
  virtual void on_predict_begin(const Logs &) {}
  virtual void on_predict_end(const Logs &) {}
  virtual void on_predict_batch_begin(int64_t, const Logs &) {}
  virtual void on_predict_batch_end(int64_t, const Logs &) {}
  virtual void set_model(const Model &model);
  void clear_model();
  Model model() const;           // runtime_error outside fit, evaluate and predict
  CallbackParams params() const; // runtime_error as for model()
private:
  friend class detail::CallbackList;
  std::shared_ptr<void> model_;
  std::optional<CallbackParams> params_;
};
class CallbackArg {
public:
  template <std::derived_from<Callback> C> CallbackArg(C given) : callback_(std::make_shared<C>(std::move(given))) {}
  template <std::derived_from<Callback> C> CallbackArg(C *kept) : callback_(std::shared_ptr<void>(), kept) {}
  template <std::derived_from<Callback> C> CallbackArg(std::shared_ptr<C> shared) : callback_(std::move(shared)) {}
  Callback &operator*() const { return callback_ ? *callback_ : none(); } // value_error if null or moved from

private:
  [[noreturn]] HALFTONE_API static Callback &none();
  std::shared_ptr<Callback> callback_;
};

namespace callbacks {
struct EarlyStoppingArgs {
  std::string monitor = "val_loss";
  double min_delta = 0.0;
  int64_t patience = 0;
  int64_t verbose = 0;
  Choice<MonitorMode> mode = MonitorMode::automatic;
  std::optional<double> baseline{};
  bool restore_best_weights = false;
  int64_t start_from_epoch = 0;
};
class HALFTONE_API EarlyStopping : public Callback {
public:
  EarlyStopping(EarlyStoppingArgs args = {});
  void on_train_begin(const Logs &logs) override;
  void on_epoch_end(int64_t epoch, Logs &logs) override;
  void on_train_end(const Logs &logs) override;
  int64_t stopped_epoch() const { return stopped_epoch_; } // 0 if training was not stopped

private:
  friend struct detail::CallbackFacts;
  struct State;
  EarlyStoppingArgs args_;
  std::shared_ptr<State> state_;
  int64_t stopped_epoch_ = 0;
};
struct ModelCheckpointArgs {
  std::string monitor = "val_loss";
  int64_t verbose = 0;
  bool save_best_only = false;
  bool save_weights_only = false;
  Choice<MonitorMode> mode = MonitorMode::automatic;
  std::optional<int64_t> save_freq{};              // interval in batches; default: each epoch
  std::optional<double> initial_value_threshold{}; // a value must be better than this to be saved as the first best
};
/// Saves the model after each epoch, or after each `save_freq` batches. A path that ends in .keras is written by
/// Model::save(), in .ckpt or .safetensors by a Checkpoint; with save_weights_only the path is for save_weights(). Its
/// fields {epoch}, {batch} and {<name in the logs>} take Python's formats, as in
/// "model.{epoch:02d}-{val_loss:.2f}.ckpt"; epochs and batches count from 1. A missing directory is created. With
/// save_best_only, if the logs lack the monitored value, it warns and saves.
class HALFTONE_API ModelCheckpoint : public Callback { // value_error for another extension or a save_freq below 1
public:
  explicit ModelCheckpoint(std::string filepath, ModelCheckpointArgs args = {});
  void on_epoch_begin(int64_t epoch, const Logs &logs) override;
  void on_train_batch_end(int64_t batch, const Logs &logs) override;
  void on_epoch_end(int64_t epoch, Logs &logs) override;

private:
  friend struct detail::CallbackFacts;
  struct State;
  void save(int64_t epoch, std::optional<int64_t> batch, const Logs &logs);
  void write(const std::string &path) const;
  std::string filepath_;
  ModelCheckpointArgs args_;
  std::shared_ptr<State> state_;
};
struct BackupAndRestoreArgs {
  std::optional<int64_t> save_freq{}; // interval in batches; default: each epoch
  bool double_checkpoint = false;     // keeps the previous file as "previous.ckpt"
  bool delete_checkpoint = true;      // removes the files when fit() ends
};
/// Writes a Checkpoint, "<backup_dir>/latest.ckpt", after each epoch, or after each `save_freq` batches. If that file
/// exists when fit() begins, the callback restores it, and fit() resumes after its last epoch or batch, bit for bit as
/// if the run had not been interrupted. If it cannot be read, the callback restores the previous file. When fit() ends,
/// the callback removes its files, and the directory if it is empty.
class HALFTONE_API BackupAndRestore : public Callback { // value_error for an empty name or a save_freq below 1
public:
  explicit BackupAndRestore(std::string backup_dir, BackupAndRestoreArgs args = {});
  void on_train_begin(const Logs &logs) override;
  void on_train_batch_end(int64_t batch, const Logs &logs) override;
  void on_epoch_end(int64_t epoch, Logs &logs) override;
  void on_train_end(const Logs &logs) override;

private:
  friend struct detail::CallbackFacts;
  std::string file(const char *name) const;
  void save() const;
  std::string backup_dir_;
  BackupAndRestoreArgs args_;
  int64_t batches_since_save_ = 0, last_batch_ = -1;
};
/// Swaps the trainable weights with their moving averages, which an optimizer with `use_ema` keeps, for each
/// validation, evaluate() and predict(). With `swap_on_epoch` the model holds the averages from the end of an epoch
/// until the next epoch begins, so that a ModelCheckpoint after this callback saves them. value_error if the optimizer
/// keeps no averages.
class HALFTONE_API SwapEMAWeights : public Callback {
public:
  SwapEMAWeights(bool swap_on_epoch = false);
  void on_train_begin(const Logs &logs) override;
  void on_train_end(const Logs &logs) override;
  void on_epoch_begin(int64_t epoch, const Logs &logs) override;
  void on_epoch_end(int64_t epoch, Logs &logs) override;
  void on_test_begin(const Logs &logs) override;
  void on_test_end(const Logs &logs) override;
  void on_predict_begin(const Logs &logs) override;
  void on_predict_end(const Logs &logs) override;

private:
  friend struct detail::CallbackFacts;
  void set_averages(bool wanted) const; // true if the model should hold the averages
  bool swap_on_epoch_;
};
struct TensorBoardArgs {
  std::optional<int64_t> update_freq{}; // the interval in batches at which logs are written; default: never
  bool write_steps_per_second = false;
};
/// Writes the logs as TensorBoard scalars to event files: those of training in "<log_dir>/train", those of validation
/// and evaluate() in "<log_dir>/validation". The tags are Keras's: "epoch_loss" and "epoch_learning_rate" per epoch,
/// "evaluation_loss_vs_iterations" per update, and with `update_freq` "batch_loss" per batch. io_error if a file cannot
/// be written; value_error for an empty name or an update_freq below 1.
class HALFTONE_API TensorBoard : public Callback {
public:
  TensorBoard(std::string log_dir = "logs", TensorBoardArgs args = {});
  void on_train_begin(const Logs &logs) override;
  void on_train_end(const Logs &logs) override;
  void on_epoch_begin(int64_t epoch, const Logs &logs) override;
  void on_epoch_end(int64_t epoch, Logs &logs) override;
  void on_train_batch_begin(int64_t batch, const Logs &logs) override;
  void on_train_batch_end(int64_t batch, const Logs &logs) override;
  void on_test_end(const Logs &logs) override;

private:
  friend struct detail::CallbackFacts;
  struct State;
  std::string log_dir_;
  TensorBoardArgs args_;
  std::shared_ptr<State> state_;
};
struct CSVLoggerArgs {
  char separator = ',';
  bool append = false;
};
class HALFTONE_API CSVLogger : public Callback { // io_error if the file cannot be written
public:
  explicit CSVLogger(std::string filename, CSVLoggerArgs args = {});
  void on_train_begin(const Logs &logs) override;
  void on_epoch_end(int64_t epoch, Logs &logs) override;
  void on_train_end(const Logs &logs) override;

private:
  struct State;
  std::string filename_;
  CSVLoggerArgs args_;
  std::shared_ptr<State> state_;
};
/// Stops training if the running mean loss is NaN or infinite; with raise_error it throws runtime_error.
class HALFTONE_API TerminateOnNaN : public Callback {
public:
  TerminateOnNaN(bool raise_error = false);
  void on_train_batch_end(int64_t batch, const Logs &logs) override;

private:
  friend struct detail::CallbackFacts;
  bool raise_error_;
};
class HALFTONE_API LearningRateScheduler : public Callback {
public:
  explicit LearningRateScheduler(std::function<double(int64_t epoch, double learning_rate)> schedule,
                                 int64_t verbose = 0);
  void on_epoch_begin(int64_t epoch, const Logs &logs) override;
  void on_epoch_end(int64_t epoch, Logs &logs) override;

private:
  friend struct detail::CallbackFacts;
  std::function<double(int64_t, double)> schedule_;
  int64_t verbose_;
};
struct ReduceLROnPlateauArgs {
  std::string monitor = "val_loss";
  double factor = 0.1; // value_error unless < 1
  int64_t patience = 10;
  int64_t verbose = 0;
  Choice<MonitorMode> mode = MonitorMode::automatic;
  double min_delta = 1e-4;
  int64_t cooldown = 0;
  double min_lr = 0.0;
};
/// Multiplies a constant learning rate by `factor` after `patience` epochs without an improvement.
class HALFTONE_API ReduceLROnPlateau : public Callback {
public:
  ReduceLROnPlateau(ReduceLROnPlateauArgs args = {});
  void on_train_begin(const Logs &logs) override;
  void on_epoch_end(int64_t epoch, Logs &logs) override;

private:
  friend struct detail::CallbackFacts;
  struct State;
  ReduceLROnPlateauArgs args_;
  std::shared_ptr<State> state_;
};
struct LambdaCallbackArgs {
  std::function<void(int64_t, const Logs &)> on_epoch_begin{};
  std::function<void(int64_t, Logs &)> on_epoch_end{};
  std::function<void(const Logs &)> on_train_begin{};
  std::function<void(const Logs &)> on_train_end{};
  std::function<void(int64_t, const Logs &)> on_train_batch_begin{};
  std::function<void(int64_t, const Logs &)> on_train_batch_end{};
  std::function<void(const Logs &)> on_test_begin{};
  std::function<void(const Logs &)> on_test_end{};
  std::function<void(int64_t, const Logs &)> on_test_batch_begin{};
  std::function<void(int64_t, const Logs &)> on_test_batch_end{};
  std::function<void(const Logs &)> on_predict_begin{};
  std::function<void(const Logs &)> on_predict_end{};
  std::function<void(int64_t, const Logs &)> on_predict_batch_begin{};
  std::function<void(int64_t, const Logs &)> on_predict_batch_end{};
};
class HALFTONE_API LambdaCallback : public Callback {
public:
  explicit LambdaCallback(LambdaCallbackArgs args);
  void on_train_begin(const Logs &logs) override;
  void on_train_end(const Logs &logs) override;
  void on_epoch_begin(int64_t epoch, const Logs &logs) override;
  void on_epoch_end(int64_t epoch, Logs &logs) override;
  void on_train_batch_begin(int64_t batch, const Logs &logs) override;
  void on_train_batch_end(int64_t batch, const Logs &logs) override;
  void on_test_begin(const Logs &logs) override;
  void on_test_end(const Logs &logs) override;
  void on_test_batch_begin(int64_t batch, const Logs &logs) override;
  void on_test_batch_end(int64_t batch, const Logs &logs) override;
  void on_predict_begin(const Logs &logs) override;
  void on_predict_end(const Logs &logs) override;
  void on_predict_batch_begin(int64_t batch, const Logs &logs) override;
  void on_predict_batch_end(int64_t batch, const Logs &logs) override;

private:
  LambdaCallbackArgs args_;
};
} // namespace callbacks
} // namespace halftone
