// Prints and creates tables of datasets, and prints values.
// SPDX-License-Identifier: Apache-2.0
#include "tools/halftone-h5/Layout.h"
#include "runtime/base/FileLimits.h"
#include "tools/halftone-h5/Types.h"
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <sstream>
#include <vector>

namespace halftone::h5 {

namespace {

struct Walk {
  size_t rows = 0;
  std::string error;
};

/// "4,3"; "-" for a scalar; "" for any other dataspace.
std::string extents(hid_t space) {
  const H5S_class_t kind = H5Sget_simple_extent_type(space);
  if (kind == H5S_SCALAR)
    return "-";
  const int rank = H5Sget_simple_extent_ndims(space);
  if (kind != H5S_SIMPLE || rank < 1 || rank > H5S_MAX_RANK)
    return "";
  hsize_t dims[H5S_MAX_RANK];
  H5Sget_simple_extent_dims(space, dims, nullptr);
  return fmt::format("{}", fmt::join(dims, dims + rank, ","));
}

/// The offset of the values, or -1.
int64_t offsetOf(hid_t dataset, hssize_t elements) {
  const Handle properties(H5Dget_create_plist(dataset), H5Pclose);
  if (properties < 0 || H5Pget_layout(properties) != H5D_CONTIGUOUS)
    return -1;
  if (elements == 0)
    return 0;
  const haddr_t offset = H5Dget_offset(dataset);
  return offset == HADDR_UNDEF || offset > haddr_t{INT64_MAX} ? -1 : static_cast<int64_t>(offset);
}

bool isPlain(const std::string &path) {
  return path.size() <= 4096 && std::all_of(path.begin(), path.end(), [](unsigned char c) { return c >= ' '; });
}

/// The reason why the values of a dataset are not in the file; null if they are. libhdf5 would read other files or
/// return fill values instead.
const char *elsewhere(hid_t dataset) {
  const Handle properties(H5Dget_create_plist(dataset), H5Pclose);
  if (properties < 0)
    return "unknown properties";
  if (H5Pget_layout(properties) == H5D_VIRTUAL)
    return "numbers in other datasets (a virtual dataset)";
  return H5Pget_external_count(properties) != 0 ? "numbers in another file (external storage)" : nullptr;
}

/// Rejects each link that is not part of the tree of groups and datasets: its target may be in another file, or
/// missing.
herr_t visitLink(hid_t, const char *name, const H5L_info_t *info, void *data) {
  if (info->type == H5L_TYPE_HARD)
    return 0;
  static_cast<Walk *>(data)->error =
      fmt::format("{} as {} link; expected the group or dataset itself", isPlain(name) ? name : "an object",
                  info->type == H5L_TYPE_SOFT       ? "a soft"
                  : info->type == H5L_TYPE_EXTERNAL ? "an external"
                                                    : "a user-defined");
  return 1;
}

herr_t visit(hid_t root, const char *name, const H5O_info_t *info, void *data) {
  auto &walk = *static_cast<Walk *>(data);
  if (info->type != H5O_TYPE_DATASET)
    return 0;
  const std::string path = name;
  if (++walk.rows > detail::maxTableRows || !isPlain(path)) {
    walk.error = walk.rows > detail::maxTableRows ? fmt::format("more than {} datasets", detail::maxTableRows)
                                                  : "a dataset whose name is not plain text";
    return 1;
  }
  const Handle dataset(H5Dopen2(root, name, H5P_DEFAULT), H5Dclose);
  const Handle space(dataset >= 0 ? H5Dget_space(dataset) : -1, H5Sclose);
  const Handle type(dataset >= 0 ? H5Dget_type(dataset) : -1, H5Tclose);
  const std::string dims = space >= 0 ? extents(space) : "";
  if (dims.empty() || type < 0) {
    walk.error = fmt::format("the dataset {} that cannot be opened", path);
    return 1;
  }
  if (const char *const location = elsewhere(dataset)) {
    walk.error = fmt::format("the dataset {} with {}", path, location);
    return 1;
  }
  const hssize_t elements = H5Sget_simple_extent_npoints(space);
  const auto bytes = static_cast<uint64_t>(elements) * H5Tget_size(type);
  fmt::print("{} {} {} {} {}\n", offsetOf(dataset, elements), bytes, dtypeName(dataset), dims, path);
  return 0;
}

std::vector<hsize_t> dimsOf(const std::string &text) {
  std::vector<hsize_t> dims;
  std::istringstream stream(text == "-" ? "" : text);
  for (std::string part; std::getline(stream, part, ',');)
    dims.push_back(std::stoull(part));
  return dims;
}

/// Space is allocated immediately and not filled.
bool makeDataset(hid_t file, hid_t links, std::istringstream &line) {
  std::string dtype, dims, path;
  line >> dtype >> dims;
  std::getline(line.ignore(), path);
  const std::vector<hsize_t> extents = dimsOf(dims);
  const Handle type(storageType(dtype), H5Tclose);
  const Handle space(extents.empty() ? H5Screate(H5S_SCALAR)
                                     : H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr),
                     H5Sclose);
  const Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  if (type < 0 || space < 0 || H5Pset_alloc_time(properties, H5D_ALLOC_TIME_EARLY) < 0 ||
      H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER) < 0)
    return false;
  const Handle made(H5Dcreate2(file, path.c_str(), type, space, links, properties, H5P_DEFAULT), H5Dclose);
  return made >= 0 && (!isMarked(dtype) || setText(made, "dtype", dtype));
}

bool makeGroup(hid_t file, hid_t links, std::istringstream &line) {
  std::string path, name;
  std::getline(line.ignore(), path, '\t');
  std::getline(line, name);
  const Handle made(H5Gcreate2(file, path.c_str(), links, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
  return made >= 0 && setText(made, "name", name);
}

constexpr hsize_t slabBytes = 8 << 20, maxRowBytes = hsize_t{256} << 20;

/// Prints `count` rows of axis 0 starting at `first`, or all elements of a scalar.
bool printSlab(hid_t dataset, hid_t space, hid_t type, std::vector<hsize_t> dims, hsize_t first, hsize_t count,
               std::vector<char> &buffer) {
  std::vector<hsize_t> start(dims.size(), 0);
  hsize_t bytes = H5Tget_size(type);
  if (!dims.empty()) {
    start[0] = first;
    dims[0] = count;
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, dims.data(), nullptr);
  }
  for (const hsize_t dim : dims)
    bytes *= dim;
  buffer.resize(bytes);
  const Handle memory(dims.empty() ? H5Screate(H5S_SCALAR)
                                   : H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr),
                      H5Sclose);
  return H5Dread(dataset, type, memory, space, H5P_DEFAULT, buffer.data()) >= 0 &&
         std::fwrite(buffer.data(), 1, bytes, stdout) == bytes;
}

} // namespace

std::string list(hid_t file) {
  Walk walk;
  if (H5Lvisit(file, H5_INDEX_NAME, H5_ITER_NATIVE, visitLink, &walk) < 0)
    walk.error = "groups that cannot be read";
  if (walk.error.empty() && H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_NATIVE, visit, &walk, H5O_INFO_BASIC) < 0 &&
      walk.error.empty())
    walk.error = "groups that cannot be read";
  return walk.error;
}

std::string layOut(hid_t file, std::istream &wanted) {
  const Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(links, 1);
  for (std::string text; std::getline(wanted, text);) {
    std::istringstream line(text);
    std::string kind;
    line >> kind;
    if (!(kind == "group" ? makeGroup(file, links, line) : makeDataset(file, links, line)))
      return fmt::format("cannot create: {}", text);
  }
  return "";
}

std::string printNumbers(hid_t file, const std::string &path) {
  const Handle dataset(H5Dopen2(file, path.c_str(), H5P_DEFAULT), H5Dclose);
  const Handle space(dataset >= 0 ? H5Dget_space(dataset) : -1, H5Sclose);
  const Handle type(dataset >= 0 ? H5Dget_type(dataset) : -1, H5Tclose);
  const int rank = space >= 0 ? H5Sget_simple_extent_ndims(space) : -1;
  if (type < 0 || rank < 0 || rank > H5S_MAX_RANK)
    return "no such dataset";
  std::vector<hsize_t> dims(static_cast<size_t>(rank));
  if (rank > 0)
    H5Sget_simple_extent_dims(space, dims.data(), nullptr);
  hsize_t rowBytes = H5Tget_size(type);
  for (size_t axis = 1; axis < dims.size(); ++axis) {
    rowBytes *= dims[axis];
    if (rowBytes > maxRowBytes)
      return "a compressed dataset whose rows have more than 256 MiB";
  }
  const hsize_t rows = dims.empty() ? 1 : dims[0];
  const hsize_t step = std::max<hsize_t>(slabBytes / std::max<hsize_t>(rowBytes, 1), 1);
  std::vector<char> buffer;
  for (hsize_t first = 0; rowBytes > 0 && first < rows; first += step)
    if (!printSlab(dataset, space, type, dims, first, std::min(step, rows - first), buffer))
      return "numbers that cannot be read";
  return "";
}

} // namespace halftone::h5
