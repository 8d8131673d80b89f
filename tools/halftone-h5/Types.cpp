// Reads and creates types of datasets.
// SPDX-License-Identifier: Apache-2.0
#include "tools/halftone-h5/Types.h"
#include <cstring>
#include <utility>
#include <vector>

namespace halftone::h5 {

namespace {

struct Integer {
  const char *name;
  hid_t type;
};
std::vector<Integer> integers() {
  return {{"int8", H5T_STD_I8LE},      {"int16", H5T_STD_I16LE},   {"int32", H5T_STD_I32LE},  {"int64", H5T_STD_I64LE},
          {"uint8", H5T_STD_U8LE},     {"uint16", H5T_STD_U16LE},  {"uint32", H5T_STD_U32LE}, {"uint64", H5T_STD_U64LE},
          {"float32", H5T_IEEE_F32LE}, {"float64", H5T_IEEE_F64LE}};
}

/// IEEE binary16, for which libhdf5 1.10 has no predefined type.
hid_t halfType() {
  const hid_t type = H5Tcopy(H5T_IEEE_F32LE);
  H5Tset_fields(type, 15, 10, 5, 0, 10);
  H5Tset_size(type, 2);
  H5Tset_ebias(type, 15);
  return type;
}
/// h5py's enum of FALSE and TRUE.
hid_t boolType() {
  const hid_t type = H5Tenum_create(H5T_STD_I8LE);
  const int8_t no = 0, yes = 1;
  H5Tenum_insert(type, "FALSE", &no);
  H5Tenum_insert(type, "TRUE", &yes);
  return type;
}

bool equals(hid_t type, hid_t (*make)()) {
  const Handle other(make(), H5Tclose);
  return H5Tequal(type, other) > 0;
}

/// The value of the attribute "dtype"; "" if there is none.
std::string mark(hid_t dataset) {
  if (H5Aexists(dataset, "dtype") <= 0)
    return "";
  const Handle attribute(H5Aopen(dataset, "dtype", H5P_DEFAULT), H5Aclose);
  const Handle type(attribute >= 0 ? H5Aget_type(attribute) : -1, H5Tclose);
  const Handle space(attribute >= 0 ? H5Aget_space(attribute) : -1, H5Sclose);
  if (type < 0 || space < 0 || H5Tget_class(type) != H5T_STRING || H5Sget_simple_extent_npoints(space) != 1)
    return "";
  if (H5Tis_variable_str(type) > 0) {
    char *text = nullptr;
    if (H5Aread(attribute, type, &text) < 0 || !text)
      return "";
    std::string found(text, strnlen(text, 64));
    H5free_memory(text);
    return found;
  }
  const size_t size = H5Tget_size(type);
  std::string found(size <= 64 ? size : 0, '\0');
  if (found.empty() || H5Aread(attribute, type, found.data()) < 0)
    return "";
  return found.substr(0, found.find('\0'));
}

size_t markedSize(const std::string &dtype) {
  return dtype == "bfloat16" ? 2 : dtype == "float8_e4m3fn" || dtype == "float8_e5m2" ? 1 : 0;
}

} // namespace

std::string dtypeName(hid_t dataset) {
  const Handle type(H5Dget_type(dataset), H5Tclose);
  if (type < 0)
    return "?";
  for (const Integer &each : integers())
    if (H5Tequal(type, each.type) > 0)
      return each.name;
  if (equals(type, halfType))
    return "float16";
  if (equals(type, boolType))
    return "bool";
  if (H5Tget_class(type) == H5T_OPAQUE)
    if (const std::string name = mark(dataset); markedSize(name) > 0 && markedSize(name) == H5Tget_size(type))
      return name;
  return "?";
}

hid_t storageType(const std::string &dtype) {
  for (const Integer &each : integers())
    if (dtype == each.name)
      return H5Tcopy(each.type);
  if (dtype == "float16")
    return halfType();
  if (dtype == "bool")
    return boolType();
  return isMarked(dtype) ? H5Tcreate(H5T_OPAQUE, markedSize(dtype)) : -1;
}

bool isMarked(const std::string &dtype) { return markedSize(dtype) > 0; }

bool setText(hid_t object, const char *attribute, const std::string &text) {
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  if (H5Tset_size(type, H5T_VARIABLE) < 0 || H5Tset_cset(type, H5T_CSET_UTF8) < 0)
    return false;
  const Handle made(H5Acreate2(object, attribute, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  const char *characters = text.c_str();
  return made >= 0 && H5Awrite(made, type, &characters) >= 0;
}

} // namespace halftone::h5
