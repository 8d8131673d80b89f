// TensorBoard event files of scalars.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/base/WriteFile.h"
#include <cstdint>
#include <string>
#include <string_view>

namespace halftone::detail {

/// A file "events.out.tfevents.<seconds>.<host>.<process>.<number>.v2" to which records with TFRecord framing are
/// appended. Each record is a message `Event` of tensorflow/core/util/event.proto. io_error as for GrowingFile.
class TensorBoardFile {
public:
  TensorBoardFile() = default;
  /// Creates the folder, and in it a new file that begins with the version of the format.
  explicit TensorBoardFile(const std::string &folder);
  void addScalar(std::string_view tag, int64_t step, double value);
  /// Appends the scalars added since the last call to the file.
  void write();
  bool isOpen() const { return isOpen_; }

private:
  void addEvent(std::string_view fields);
  GrowingFile file_;
  std::string records_; // not yet in the file
  bool isOpen_ = false;
};

/// The CRC-32C (Castagnoli) of bytes.
uint32_t crc32c(std::string_view bytes);

} // namespace halftone::detail
