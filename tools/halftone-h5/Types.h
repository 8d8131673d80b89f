// Maps types of HDF5 datasets to the names of Keras's dtypes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hdf5.h>
#include <string>

namespace halftone::h5 {

/// An owned HDF5 id, closed by the destructor. A negative id means no object.
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

/// "float32", "bfloat16", "bool", ... for little-endian types as Keras and h5py store them; otherwise "?".
std::string dtypeName(hid_t dataset);
/// The type in which Keras stores `dtype`; negative for an unknown name. The caller must close it.
hid_t storageType(const std::string &dtype);
/// Returns true if Keras marks datasets of `dtype`, which have an opaque type, with the attribute "dtype".
bool isMarked(const std::string &dtype);

/// Adds a string attribute as h5py does.
bool setText(hid_t object, const char *attribute, const std::string &text);

} // namespace halftone::h5
