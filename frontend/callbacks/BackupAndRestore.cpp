// BackupAndRestore: a run that was interrupted goes on after its last whole epoch.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/ProcessRun.h"
#include "frontend/callbacks/Monitor.h"
#include "frontend/io/SavedVariables.h"
#include "halftone/Distribution.h"
#include "halftone/Error.h"
#include "halftone/Saving.h"
#include "runtime/base/OpenFile.h"
#include <filesystem>
#include <fmt/format.h>

namespace halftone::callbacks {

BackupAndRestore::BackupAndRestore(std::string backup_dir) : backup_dir_(std::move(backup_dir)) {
  checkPath(backup_dir_).orThrow();
  if (backup_dir_.empty())
    throw Error(ErrorKind::value_error, "Empty `backup_dir` argument passed");
}

std::string BackupAndRestore::file() const {
  if (backup_dir_.empty())
    detail::refuseMoved();
  return (std::filesystem::path(backup_dir_) / "latest.ckpt").string();
}

/// Files of processes that died while they wrote (replaceFile()). A failure to remove them is no error.
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
  const std::string file = this->file();
  if (detail::isFirstProcess())
    removeLeftovers(backup_dir_);
  std::error_code error;
  if (std::filesystem::exists(file, error) || error) // restore() reports why a file cannot be read
    (void)Checkpoint(model()).restore(file);
}

void BackupAndRestore::on_epoch_end(int64_t, Logs &) {
  const auto write = [&] {
    std::error_code error;
    std::filesystem::create_directories(backup_dir_, error);
    if (error)
      throw Error(ErrorKind::io_error, fmt::format("cannot make the folder {}: {}", backup_dir_, error.message()));
    Checkpoint(model()).save(file());
  };
  if (detail::isStateSplit(model())) // then all processes have a part of the file
    write();
  else
    detail::writeInFirst(write);
}

void BackupAndRestore::on_train_end(const Logs &) {
  distribution::barrier(); // another process may still read the file at the end of its last epoch
  if (!detail::isFirstProcess())
    return;
  std::error_code ignored; // a file that stays would only make the next run begin late
  std::filesystem::remove(file(), ignored);
  std::filesystem::remove(backup_dir_, ignored); // only if it is empty
}

} // namespace halftone::callbacks
