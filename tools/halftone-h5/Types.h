// Types of HDF5 datasets by the names of Keras's dtypes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hdf5.h>
#include <string>

namespace halftone::h5 {

/// Closes an HDF5 object at the end of its life. Negative: there is none.
class Handle {
public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Handle() {
    if (id_ >= 0)
      close_(id_);
  }
  Handle(const Handle &) = delete;
  operator hid_t() const { return id_; }

private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

/// "float32", "bfloat16", "bool", ... for little-endian types as Keras and h5py store them; else "?".
std::string dtypeName(hid_t dataset);
/// The type in which Keras stores `dtype`; negative for an unknown name. The caller closes it.
hid_t storageType(const std::string &dtype);
/// Whether Keras marks a dataset of `dtype`, whose type is opaque, by the attribute "dtype".
bool isMarked(const std::string &dtype);

/// Adds an attribute with a text, as h5py does.
bool setText(hid_t object, const char *attribute, const std::string &text);

} // namespace halftone::h5
