// TensorBoard: logs of training, validation and evaluation as scalars.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/ProcessRun.h"
#include "frontend/callbacks/Monitor.h"
#include "frontend/callbacks/TensorBoardFile.h"
#include "halftone/Error.h"
#include "halftone/Model.h"
#include "runtime/base/OpenFile.h"
#include <chrono>
#include <filesystem>
#include <fmt/format.h>

namespace halftone::callbacks {

struct TensorBoard::State {
  using Clock = std::chrono::steady_clock;
  std::string folder;
  detail::TensorBoardFile train, validation;
  int64_t batch = 0, updatesBefore = 0; // batches in this fit(), and updates before this epoch
  Clock::time_point batchBegan, epochBegan;

  detail::TensorBoardFile &file(bool isTraining) {
    detail::TensorBoardFile &file = isTraining ? train : validation;
    if (!file.isOpen())
      file = detail::TensorBoardFile((std::filesystem::path(folder) / (isTraining ? "train" : "validation")).string());
    return file;
  }
  void close() {
    train = detail::TensorBoardFile();
    validation = detail::TensorBoardFile();
  }
  static double secondsSince(Clock::time_point begin) {
    return std::max(std::chrono::duration<double>(Clock::now() - begin).count(), 1e-9);
  }
};

TensorBoard::TensorBoard(std::string log_dir, TensorBoardArgs args)
    : log_dir_(std::move(log_dir)), args_(args), state_(std::make_shared<State>()) {
  checkPath(log_dir_).orThrow();
  if (log_dir_.empty())
    throw Error(ErrorKind::value_error, "Empty `log_dir` argument passed");
  if (args_.update_freq && *args_.update_freq < 1)
    throw Error(ErrorKind::value_error,
                fmt::format("update_freq must be a positive number of batches, or none, got {}", *args_.update_freq));
  state_->folder = log_dir_;
}

void TensorBoard::on_train_begin(const Logs &) {
  State &state = detail::held(state_);
  state.close(); // each fit() writes new files
  state.batch = 0;
}

void TensorBoard::on_train_end(const Logs &) { detail::held(state_).close(); }

void TensorBoard::on_epoch_begin(int64_t, const Logs &) {
  State &state = detail::held(state_);
  state.updatesBefore = model().optimizer().iterations();
  state.epochBegan = State::Clock::now();
}

void TensorBoard::on_train_batch_begin(int64_t, const Logs &) {
  State &state = detail::held(state_);
  ++state.batch;
  state.batchBegan = State::Clock::now();
}

void TensorBoard::on_train_batch_end(int64_t, const Logs &logs) {
  State &state = detail::held(state_);
  if (!args_.update_freq || state.batch % *args_.update_freq != 0 || !detail::isFirstProcess())
    return;
  detail::TensorBoardFile &file = state.file(true);
  if (args_.write_steps_per_second)
    file.addScalar("batch_steps_per_second", state.batch, 1.0 / State::secondsSince(state.batchBegan));
  for (const auto &[name, value] : logs)
    file.addScalar("batch_" + name, state.batch, value);
  file.write();
}

void TensorBoard::on_epoch_end(int64_t epoch, Logs &logs) {
  State &state = detail::held(state_);
  const Optimizer optimizer = model().optimizer();
  const int64_t updates = optimizer.iterations() - state.updatesBefore;
  if (!detail::isFirstProcess())
    return;
  bool hasValidation = false;
  for (const auto &[name, value] : logs) {
    const bool isOfValidation = name.starts_with("val_");
    hasValidation |= isOfValidation;
    if (name != "learning_rate")
      state.file(!isOfValidation).addScalar("epoch_" + (isOfValidation ? name.substr(4) : name), epoch, value);
  }
  detail::TensorBoardFile &train = state.file(true);
  train.addScalar("epoch_learning_rate", epoch, optimizer.learning_rate());
  if (args_.write_steps_per_second)
    train.addScalar("epoch_steps_per_second", epoch,
                    static_cast<double>(updates) / State::secondsSince(state.epochBegan));
  train.write();
  if (hasValidation)
    state.file(false).write();
}

void TensorBoard::on_test_end(const Logs &logs) {
  State &state = detail::held(state_);
  const int64_t updates = model().optimizer().iterations();
  if (!detail::isFirstProcess())
    return;
  detail::TensorBoardFile &file = state.file(false);
  for (const auto &[name, value] : logs)
    file.addScalar(fmt::format("evaluation_{}_vs_iterations", name), updates, value);
  file.write();
}

} // namespace halftone::callbacks
