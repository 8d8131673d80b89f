// Event files of TensorBoard: records of scalars.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/base/WriteFile.h"
#include <cstdint>
#include <string>
#include <string_view>

namespace halftone::detail {

/// A file "events.out.tfevents.<seconds>.<host>.<process>.<number>.v2" that grows by records in TFRecord framing, each a
/// message `Event` of tensorflow/core/util/event.proto. io_error as GrowingFile.
class TensorBoardFile {
public:
  TensorBoardFile() = default;
  /// Makes the folder, and a new file in it that begins with the version of the format.
  explicit TensorBoardFile(const std::string &folder);
  void addScalar(std::string_view tag, int64_t step, double value);
  /// Appends the scalars that were added to the file.
  void write();
  bool isOpen() const { return isOpen_; }

private:
  void addEvent(std::string_view fields);
  GrowingFile file_;
  std::string records_; // that are not in the file
  bool isOpen_ = false;
};

/// The CRC-32C of bytes: the polynomial of Castagnoli.
uint32_t crc32c(std::string_view bytes);

} // namespace halftone::detail
