// BackupAndRestore: an interrupted run resumes after its last saved epoch or batch.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/ProcessRun.h"
#include "frontend/callbacks/Monitor.h"
#include "frontend/io/SavedVariables.h"
#include "halftone/Distribution.h"
#include "halftone/Error.h"
#include "halftone/Saving.h"
#include "runtime/base/OpenFile.h"
#include "runtime/base/WriteFile.h"
#include <filesystem>
#include <fmt/format.h>

namespace halftone::callbacks {

static constexpr const char *latest = "latest.ckpt", *previous = "previous.ckpt";

BackupAndRestore::BackupAndRestore(std::string backup_dir, BackupAndRestoreArgs args)
    : backup_dir_(std::move(backup_dir)), args_(args) {
  checkPath(backup_dir_).orThrow();
  if (backup_dir_.empty())
    throw Error(ErrorKind::value_error, "Empty `backup_dir` argument passed");
  if (args_.save_freq && *args_.save_freq < 1)
    throw Error(ErrorKind::value_error, fmt::format("Invalid value for argument `save_freq`. Received: save_freq={}. "
                                                    "Expected a positive number of batches, or none for every epoch.",
                                                    *args_.save_freq));
}

std::string BackupAndRestore::file(const char *name) const {
  if (backup_dir_.empty())
    detail::refuseMoved();
  return (std::filesystem::path(backup_dir_) / name).string();
}

/// Removes temporary files of processes that died while writing (replaceFile()). Failure to remove them is not an
/// error.
static void removeLeftovers(const std::string &folder) {
  std::error_code ignored;
  std::vector<std::filesystem::path> leftovers;
  for (std::filesystem::directory_iterator entry(folder, ignored), end; entry != end && !ignored;
       entry.increment(ignored))
    if (entry->path().filename().string().starts_with(".latest.ckpt."))
      leftovers.push_back(entry->path());
  for (const std::filesystem::path &leftover : leftovers)
    std::filesystem::remove(leftover, ignored);
}

void BackupAndRestore::on_train_begin(const Logs &) {
  const std::string last = file(latest), before = file(previous);
  if (detail::isFirstProcess())
    removeLeftovers(backup_dir_);
  batches_since_save_ = 0;
  last_batch_ = -1;
  const auto exists = [](const std::string &path) {
    std::error_code error;
    return std::filesystem::exists(path, error) || error; // restore() reports why a file is unreadable
  };
  const auto restore = [&](const std::string &path) { last_batch_ = Checkpoint(model()).restore(path).batch - 1; };
  const bool hasBefore = args_.double_checkpoint && exists(before);
  if (!hasBefore && !exists(last))
    return;
  try {
    restore(last);
    return;
  } catch (const Error &error) {
    if (error.kind() != ErrorKind::io_error || !hasBefore)
      throw;
  }
  restore(before);
  distribution::barrier(); // all processes have read it
  std::error_code ignored; // otherwise the next save would keep the damaged file as the previous one
  if (detail::isFirstProcess())
    std::filesystem::rename(before, last, ignored);
}

void BackupAndRestore::save() const {
  const std::string last = file(latest);
  const auto write = [&] {
    makeFolder(backup_dir_).orThrow();
    std::error_code ignored; // there is no file before the first save
    if (args_.double_checkpoint && detail::isFirstProcess())
      std::filesystem::rename(last, file(previous), ignored);
    Checkpoint(model()).save(last);
  };
  if (detail::isStateSplit(model())) // all processes hold a part of the state then
    write();
  else
    detail::writeInFirst(write);
}

void BackupAndRestore::on_train_batch_end(int64_t batch, const Logs &) {
  if (!args_.save_freq)
    return;
  batches_since_save_ += batch <= last_batch_ ? batch + 1 : batch - last_batch_; // batch numbers restart in each epoch
  last_batch_ = batch;
  if (batches_since_save_ < *args_.save_freq)
    return;
  batches_since_save_ = 0;
  save();
}

void BackupAndRestore::on_epoch_end(int64_t, Logs &) {
  last_batch_ = -1;
  if (!args_.save_freq)
    save();
}

void BackupAndRestore::on_train_end(const Logs &) {
  distribution::barrier(); // another process may still be reading the file at the end of its last epoch
  if (!detail::isFirstProcess() || !args_.delete_checkpoint)
    return;
  std::error_code ignored; // a remaining file would only make the next run resume
  for (const char *name : {latest, previous})
    std::filesystem::remove(file(name), ignored);
  std::filesystem::remove(backup_dir_, ignored); // only if empty
}

} // namespace halftone::callbacks
