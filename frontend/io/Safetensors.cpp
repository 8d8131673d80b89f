// Reads and writes safetensors files.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/io/Safetensors.h"
#include "frontend/base/RefuseFile.h"
#include "halftone/Saving.h"
#include "runtime/TensorAccess.h"
#include "runtime/base/JsonText.h"
#include "runtime/base/MappedFile.h"
#include "runtime/base/WriteFile.h"
#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <set>

namespace halftone {
using namespace detail;

static_assert(std::endian::native == std::endian::little);

namespace {

/// A file begins with the length of the header.
constexpr int64_t lengthBytes = 8;
/// The data is aligned to this, and so are tensors sorted by decreasing element size, to their elements.
constexpr size_t dataAlignment = 64;

/// The tensor of an entry, in the file's memory if it is aligned there.
Tensor tensorOf(const std::shared_ptr<MappedFile> &file, std::byte *data, const SafetensorsEntry &entry) {
  const Shape shape(entry.dims);
  std::byte *at = data + entry.begin;
  const auto size = static_cast<size_t>(entry.end - entry.begin);
  if (size > 0 && reinterpret_cast<uintptr_t>(at) % static_cast<size_t>(itemsize(entry.dtype)) == 0)
    return TensorAccess::wrap(file, at, entry.dtype, shape);
  Tensor tensor = TensorAccess::allocate(entry.dtype, shape);
  if (size > 0)
    std::memcpy(TensorAccess::mutableData(tensor), at, size);
  return tensor;
}

std::string jsonString(const std::string &text) {
  if (!isUtf8(text))
    throw Error(ErrorKind::value_error,
                fmt::format("safetensors: the name or metadata {} is not UTF-8", quotedName(text)));
  return jsonText(text);
}

/// Checks the tensors and returns them on the host.
std::vector<Tensor> tensorsOnHost(const Safetensors &contents) {
  std::set<std::string_view> names;
  std::vector<Tensor> tensors;
  for (const auto &[name, tensor] : contents.tensors) {
    if (!tensor.defined())
      throw Error(ErrorKind::value_error, fmt::format("safetensors: the tensor {} is undefined", quotedName(name)));
    if (name == "__metadata__" || !names.insert(name).second)
      throw Error(ErrorKind::value_error,
                  fmt::format("safetensors: a tensor needs a unique name other than __metadata__. Received: {}{}",
                              quotedName(name), name == "__metadata__" ? "" : " twice"));
    if (static_cast<size_t>(tensor.shape().rank()) > maxAxes)
      throw Error(ErrorKind::value_error, fmt::format("safetensors: a tensor has at most {} axes. Received: {} with {}",
                                                      maxAxes, quotedName(name), tensor.shape().rank()));
    tensors.push_back(TensorAccess::onHost(tensor));
  }
  return tensors;
}

/// The order of the data: large elements first, so that each tensor is aligned to its element size.
std::vector<size_t> dataOrder(const std::vector<Tensor> &tensors) {
  std::vector<size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const int64_t sizeOfA = itemsize(tensors[a].dtype()), sizeOfB = itemsize(tensors[b].dtype());
    return sizeOfA != sizeOfB ? sizeOfA > sizeOfB : a < b;
  });
  return order;
}

/// The header text without its length, padded with blanks.
std::string headerText(const Safetensors &contents, const std::vector<Tensor> &tensors,
                       const std::vector<size_t> &order) {
  std::vector<int64_t> begins(tensors.size());
  int64_t at = 0;
  for (size_t i : order) {
    begins[i] = at;
    at += TensorAccess::bytes(tensors[i]);
  }
  std::vector<std::string> entries;
  if (!contents.metadata.empty()) {
    std::vector<std::string> texts;
    for (const auto &[key, value] : contents.metadata)
      texts.push_back(jsonString(key) + ":" + jsonString(value));
    entries.push_back(fmt::format("\"__metadata__\":{{{}}}", fmt::join(texts, ",")));
  }
  for (size_t i = 0; i < tensors.size(); ++i)
    entries.push_back(fmt::format("{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}}",
                                  jsonString(contents.tensors[i].first), safetensorsName(tensors[i].dtype()),
                                  fmt::join(tensors[i].shape().dims(), ","), begins[i],
                                  begins[i] + TensorAccess::bytes(tensors[i])));
  std::string text = fmt::format("{{{}}}", fmt::join(entries, ","));
  const size_t past = (static_cast<size_t>(lengthBytes) + text.size()) % dataAlignment;
  text.append(past == 0 ? 0 : dataAlignment - past, ' ');
  return text;
}

} // namespace

Safetensors detail::readSafetensors(const std::string &path) {
  const std::shared_ptr<MappedFile> file = MappedFile::open(path).valueOrThrow();
  const auto size = static_cast<int64_t>(file->bytes().size());
  if (size < lengthBytes)
    refuseFile(path, "a safetensors file of at least 8 bytes", fmt::format("{} bytes", size));
  uint64_t length = 0;
  std::memcpy(&length, file->bytes().data(), sizeof length);
  if (length > static_cast<uint64_t>(std::min(maxHeaderBytes, size - lengthBytes)))
    refuseFile(
        path,
        fmt::format("a safetensors file: a header of at most {} bytes", std::min(maxHeaderBytes, size - lengthBytes)),
        fmt::format("a header of {}", length));
  const auto headerBytes = static_cast<int64_t>(length);
  const std::string_view text(reinterpret_cast<const char *>(file->bytes().data()) + lengthBytes, length);
  SafetensorsHeader header = parseSafetensorsHeader(path, text, size - lengthBytes - headerBytes);
  Safetensors contents{.metadata = std::move(header.metadata)};
  for (const SafetensorsEntry &entry : header.tensors)
    contents.tensors.emplace_back(entry.name, tensorOf(file, file->bytes().data() + lengthBytes + headerBytes, entry));
  return contents;
}

void detail::writeSafetensors(const std::string &path, const Safetensors &contents) {
  if (contents.tensors.size() > maxTensors || contents.metadata.size() > maxTexts)
    throw Error(
        ErrorKind::value_error,
        fmt::format("cannot write {}: a safetensors file has at most {} tensors and {} texts. Received: {} and {}",
                    path, maxTensors, maxTexts, contents.tensors.size(), contents.metadata.size()));
  const std::vector<Tensor> tensors = tensorsOnHost(contents);
  const std::vector<size_t> order = dataOrder(tensors);
  const std::string text = headerText(contents, tensors, order);
  if (text.size() > static_cast<size_t>(maxHeaderBytes))
    throw Error(ErrorKind::value_error, fmt::format("cannot write {}: its header would have {} bytes, more than {}",
                                                    path, text.size(), maxHeaderBytes));
  const uint64_t length = text.size();
  std::string_view lengthText(reinterpret_cast<const char *>(&length), sizeof length);
  std::vector<std::string_view> parts{lengthText, text};
  for (size_t i : order)
    parts.emplace_back(reinterpret_cast<const char *>(TensorAccess::data(tensors[i])),
                       static_cast<size_t>(TensorAccess::bytes(tensors[i])));
  replaceFile(path, parts).orThrow();
}

std::vector<std::pair<std::string, Tensor>> load_safetensors(const std::string &path) {
  return readSafetensors(path).tensors;
}
void save_safetensors(const std::string &path, const std::vector<std::pair<std::string, Tensor>> &tensors) {
  writeSafetensors(path, {.tensors = tensors});
}

} // namespace halftone
