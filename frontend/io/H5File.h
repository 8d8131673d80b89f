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
  int64_t offset = -1;        // of the numbers in the range; -1: compressed or in pieces
  int64_t bytes = 0;
};

/// A file that another process has listed (halftone-h5): libhdf5 reads no bytes in this process. Each row of its table is
/// checked: ranges lie inside of the file and do not overlap, and sizes are those of shape and dtype.
class H5File {
public:
  /// io_error, beginning with `name`, for a range that holds no HDF5 file or one whose table is wrong. Nobody may shorten
  /// the file in place while the object lives.
  H5File(FileRange range, std::string name);
  /// The whole file.
  H5File(Descriptor file, std::string name);
  const H5Array *find(const std::string &path) const; // null if there is none
  /// How many datasets "0", "1", ... `group` holds without a gap.
  int64_t count(const std::string &group) const;
  /// The numbers of a dataset with a known dtype, in that dtype. They may stay in the mapped file, so nobody may write the
  /// tensor. Else it takes as much memory as the table says: the caller has compared the shape.
  Tensor read(const std::string &path) const;
  const std::string &name() const { return name_; }

private:
  FileRange range_;
  std::string name_;
  std::shared_ptr<MappedFile> mapped_;
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
