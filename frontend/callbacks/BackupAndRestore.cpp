// BackupAndRestore: a run that was interrupted goes on after its last whole epoch.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Error.h"
#include "halftone/Saving.h"
#include <filesystem>
#include <fmt/format.h>

namespace halftone::callbacks {

BackupAndRestore::BackupAndRestore(std::string backup_dir) : backup_dir_(std::move(backup_dir)) {
  if (backup_dir_.empty())
    throw Error(ErrorKind::value_error, "Empty `backup_dir` argument passed");
}

std::string BackupAndRestore::file() const { return (std::filesystem::path(backup_dir_) / "latest.ckpt").string(); }

void BackupAndRestore::on_train_begin(const Logs &) {
  if (std::filesystem::exists(file()))
    (void)Checkpoint(model()).restore(file());
}

void BackupAndRestore::on_epoch_end(int64_t, Logs &) {
  std::error_code error;
  std::filesystem::create_directories(backup_dir_, error);
  if (error)
    throw Error(ErrorKind::io_error, fmt::format("cannot make the folder {}: {}", backup_dir_, error.message()));
  Checkpoint(model()).save(file());
}

void BackupAndRestore::on_train_end(const Logs &) {
  std::error_code ignored; // a file that stays would only make the next run begin late
  std::filesystem::remove(file(), ignored);
  std::filesystem::remove(backup_dir_, ignored); // only if it is empty
}

} // namespace halftone::callbacks
