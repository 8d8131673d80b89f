// The datasets of an HDF5 file: a checked table, and their numbers.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/io/Descriptor.h"
#include "halftone/Tensor.h"
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::detail {

struct H5Array {
  Shape shape;
  std::optional<DType> dtype; // nullopt: a type that Keras does not store
  int64_t offset = -1;        // of the numbers in the file; -1: compressed or in pieces
  int64_t bytes = 0;
};

/// A file that another process has listed (halftone-h5): libhdf5 reads no bytes in this process. Each row of its table is
/// checked: ranges lie inside of the file and do not overlap, and sizes are those of shape and dtype.
class H5File {
public:
  /// io_error, beginning with `name`, for a file that is not HDF5 or whose table is wrong.
  H5File(Descriptor file, std::string name);
  const H5Array *find(const std::string &path) const; // null if there is none
  /// How many datasets "0", "1", ... `group` holds without a gap.
  int64_t count(const std::string &group) const;
  /// The numbers of a dataset with a known dtype, in that dtype. It takes as much memory as the table says, so the caller
  /// has compared the shape. The tensor of a file in memory shares that memory; nobody may write it.
  Tensor read(const std::string &path) const;
  const std::string &name() const { return name_; }

private:
  Descriptor file_;
  std::string name_;
  std::shared_ptr<MappedFile> memory_; // null for a file on a disk, which another program may shorten
  std::map<std::string, H5Array> arrays_;
};

/// A dataset to write, or a group with an attribute "name".
struct H5Entry {
  std::string path;
  std::string name{}; // of a group
  Tensor numbers{};   // undefined for a group
};
/// The bytes of a file with these entries, their groups and nothing else. The numbers are not copied: they stay in their
/// tensors, between the bytes that halftone-h5 has laid out.
class H5Image {
public:
  /// `name` begins errors.
  H5Image(const std::vector<H5Entry> &entries, const std::string &name);
  const std::vector<std::string_view> &pieces() const { return pieces_; } // in order; they live as long as the image

private:
  std::shared_ptr<MappedFile> layout_;
  std::vector<Tensor> numbers_;
  std::vector<std::string_view> pieces_;
};

} // namespace halftone::detail
