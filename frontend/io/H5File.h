// The datasets of an HDF5 file: a validated table, and their values.
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
  int64_t offset = -1;        // of the values in the range; -1: compressed or chunked
  int64_t bytes = 0;
};

/// An HDF5 file whose datasets another process (halftone-h5) has listed: libhdf5 parses no bytes in this process. Each
/// row of the table is checked: byte ranges lie within the file and do not overlap, and sizes match shape and dtype.
class H5File {
public:
  /// io_error, beginning with `name`, if the range is not an HDF5 file or its table is invalid. The file must not be
  /// truncated in place during the object's lifetime.
  H5File(FileRange range, std::string name);
  /// The whole file.
  H5File(Descriptor file, std::string name);
  const H5Array *find(const std::string &path) const;                      // null if there is none
  const std::map<std::string, H5Array> &arrays() const { return arrays_; } // by path
  /// The number of consecutive datasets "0", "1", ... in `group`.
  int64_t count(const std::string &group) const;
  /// The values of a dataset with a known dtype, in that dtype. They may stay in the mapped file, so the tensor must
  /// not be written to. Otherwise the tensor allocates the size given in the table; the caller must have checked the
  /// shape.
  Tensor read(const std::string &path) const;
  const std::string &name() const { return name_; }

private:
  FileRange range_;
  std::string name_;
  std::shared_ptr<MappedFile> mapped_;
  std::map<std::string, H5Array> arrays_;
};

/// A dataset to write, or a group with a "name" attribute.
struct H5Entry {
  std::string path;
  std::string name{}; // of a group
  Tensor numbers{};   // undefined for a group
};
/// The bytes of an HDF5 file with exactly these entries and their groups. Values are not copied: they stay in their
/// tensors, between the bytes laid out by halftone-h5.
class H5Image {
public:
  /// Errors begin with `name`.
  H5Image(const std::vector<H5Entry> &entries, const std::string &name);
  const std::vector<std::string_view> &chunks() const { return chunks_; } // in file order; valid as long as the image

private:
  std::shared_ptr<MappedFile> layout_;
  std::vector<Tensor> numbers_;
  std::vector<std::string_view> chunks_;
};

} // namespace halftone::detail
