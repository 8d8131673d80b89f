// Validates the tables of halftone-h5 and moves values between files and tensors.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/io/H5File.h"
#include "frontend/io/H5Process.h"
#include "halftone/Error.h"
#include "runtime/TensorAccess.h"
#include "runtime/base/Environment.h"
#include "runtime/base/FileLimits.h"
#include <algorithm>
#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string_view>

namespace halftone::detail {

namespace {

using Table = std::map<std::string, H5Array>;

/// What halftone-h5 is asked to do with a file.
enum class Task { read, layOut };

[[noreturn]] void refuse(const std::string &name, const std::string &found, Task task = Task::read) {
  throw Error(ErrorKind::io_error,
              task == Task::layOut
                  ? fmt::format("cannot write {} as HDF5: {}", name, found)
                  : fmt::format("{}: expected an HDF5 file of Keras's weights; found {}", name, found));
}

/// Splits off and returns the text of `line` up to the next space.
std::string_view word(std::string_view &line) {
  const size_t end = std::min(line.find(' '), line.size());
  const std::string_view found = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return found;
}

std::optional<int64_t> integer(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::optional<DType> dtypeNamed(std::string_view name) {
  for (auto dtype = DType::bool_; dtype <= DType::float8_e5m2; dtype = static_cast<DType>(static_cast<int>(dtype) + 1))
    if (halftone::name(dtype) == name)
      return dtype;
  return std::nullopt;
}

/// Parses "8192 48 float32 4,3 layers/dense/vars/0". nullopt if a field is missing, or if the byte size does not match
/// shape and dtype or overflows 64 bits.
std::optional<std::pair<std::string, H5Array>> parseRow(std::string_view line) {
  const std::optional<int64_t> offset = integer(word(line)), bytes = integer(word(line));
  const std::string_view dtype = word(line);
  std::string_view dims = word(line);
  if (!offset || !bytes || *offset < -1 || *bytes < 0 || line.empty())
    return std::nullopt;
  H5Array array{.shape = {}, .dtype = dtypeNamed(dtype), .offset = *offset, .bytes = *bytes};
  std::vector<int64_t> extents;
  int64_t expected = array.dtype ? itemsize(*array.dtype) : 1;
  while (dims != "-" && !dims.empty()) {
    const size_t comma = std::min(dims.find(','), dims.size());
    const std::optional<int64_t> extent = integer(dims.substr(0, comma));
    if (!extent || *extent < 0 || __builtin_mul_overflow(expected, *extent, &expected))
      return std::nullopt;
    extents.push_back(*extent);
    dims.remove_prefix(std::min(comma + 1, dims.size()));
  }
  if (array.dtype && expected != *bytes)
    return std::nullopt;
  array.shape = Shape(std::move(extents));
  return std::pair(std::string(line), std::move(array));
}

/// Parses the table printed by halftone-h5, without checking it against the file.
Table parseTable(const std::string &text, const std::string &name, Task task) {
  Table table;
  bool ended = false;
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.starts_with("error "))
      refuse(name, std::string(line.substr(6)), task);
    ended |= line == "end";
    if (ended)
      continue;
    auto row = parseRow(line);
    if (!row || !table.insert(std::move(*row)).second || table.size() > maxTableRows)
      refuse(name, fmt::format("the row '{}' in the table of its datasets", line.substr(0, 200)), task);
  }
  if (!ended) {
    if (!environmentValue("HALFTONE_H5").empty())
      environmentError(ErrorKind::io_error, "HALFTONE_H5", "the program halftone-h5: its answer is truncated")
          .orThrow();
    refuse(name, "a truncated table of datasets", task);
  }
  return table;
}

/// Checks that the byte ranges lie within the file and do not overlap.
void checkRanges(const Table &table, int64_t fileBytes, const std::string &name) {
  std::vector<std::pair<int64_t, const Table::value_type *>> begins;
  for (const auto &row : table)
    if (row.second.offset >= 0 && row.second.bytes > 0)
      begins.emplace_back(row.second.offset, &row);
  std::ranges::sort(begins);
  int64_t last = 0;
  for (const auto &[offset, row] : begins) {
    if (offset < last || row->second.bytes > fileBytes || offset > fileBytes - row->second.bytes)
      refuse(name, fmt::format("the dataset {} with {} bytes at {}, which {}", row->first, row->second.bytes, offset,
                               offset < last ? "another dataset uses" : "lie beyond the end of the file"));
    last = offset + row->second.bytes;
  }
}

Table tableOf(const Descriptor &file, const std::vector<std::string> &command, const std::string &input,
              const std::string &name, Task task) {
  std::string text;
  runH5(
      file, command, input,
      [&](std::string_view chunk) {
        if (text.size() + chunk.size() > maxTableBytes)
          refuse(name, fmt::format("a table of datasets of more than {} MiB", maxTableBytes >> 20), task);
        text += chunk;
      },
      name);
  return parseTable(text, name, task);
}

/// The arguments with which halftone-h5 runs `command` on a range of the file.
std::vector<std::string> commandOn(const FileRange &range, const char *command) {
  return {command, std::to_string(range.offset), std::to_string(range.bytes)};
}

FileRange wholeOf(Descriptor file, const std::string &name) {
  const int64_t bytes = file.size(name);
  return {std::move(file), 0, bytes};
}

std::span<std::byte> bytesOf(const Tensor &tensor) {
  return {TensorAccess::mutableData(tensor), static_cast<size_t>(TensorAccess::bytes(tensor))};
}

} // namespace

H5File::H5File(FileRange range, std::string name)
    : range_(std::move(range)), name_(std::move(name)), mapped_(range_.file.mapped(name_)),
      arrays_(tableOf(range_.file, commandOn(range_, "list"), "", name_, Task::read)) {
  if (std::ssize(mapped_->bytes()) < range_.offset + range_.bytes)
    refuse(name_, "a file that has shrunk");
  checkRanges(arrays_, range_.bytes, name_);
}

H5File::H5File(Descriptor file, std::string name) : H5File(wholeOf(std::move(file), name), name) {}

const H5Array *H5File::find(const std::string &path) const {
  const auto found = arrays_.find(path);
  return found == arrays_.end() ? nullptr : &found->second;
}

int64_t H5File::count(const std::string &group) const {
  int64_t count = 0;
  while (find(fmt::format("{}/{}", group, count)))
    ++count;
  return count;
}

Tensor H5File::read(const std::string &path) const {
  const H5Array &array = arrays_.at(path);
  if (array.offset >= 0 && array.bytes > 0) {
    std::byte *const at = mapped_->bytes().data() + range_.offset + array.offset;
    if (reinterpret_cast<uintptr_t>(at) % static_cast<size_t>(itemsize(*array.dtype)) == 0)
      return TensorAccess::wrap(mapped_, at, *array.dtype, array.shape);
  }
  Tensor tensor = TensorAccess::allocate(*array.dtype, array.shape);
  const std::span<std::byte> to = bytesOf(tensor);
  if (array.offset >= 0) {
    range_.file.readAt(range_.offset + array.offset, to, name_);
    return tensor;
  }
  std::vector<std::string> command = commandOn(range_, "read");
  command.push_back(path);
  size_t done = 0;
  const int status = runH5(
      range_.file, command, "",
      [&](std::string_view chunk) {
        if (chunk.size() > to.size() - done)
          refuse(name_, fmt::format("more values than {} has", path));
        std::memcpy(to.data() + done, chunk.data(), chunk.size());
        done += chunk.size();
      },
      name_);
  if (status != 0 || done != to.size())
    refuse(name_, fmt::format("the dataset {}, which cannot be read", path));
  return tensor;
}

/// The input of halftone-h5's layout command, a line for each entry.
static std::string layoutOf(const std::vector<H5Entry> &entries) {
  std::string wanted;
  for (const H5Entry &entry : entries) {
    if (!entry.numbers.defined()) {
      std::string label = entry.name;
      std::ranges::replace_if(label, [](unsigned char c) { return c < ' '; }, ' ');
      wanted += fmt::format("group {}\t{}\n", entry.path, label); // both may contain spaces
      continue;
    }
    const std::vector<int64_t> dims = entry.numbers.shape().dims();
    wanted += fmt::format("dataset {} {} {}\n", halftone::name(entry.numbers.dtype()),
                          dims.empty() ? "-" : fmt::format("{}", fmt::join(dims, ",")), entry.path);
  }
  return wanted;
}

H5Image::H5Image(const std::vector<H5Entry> &entries, const std::string &name) {
  std::map<std::string, std::string> names; // keyed by path
  for (const H5Entry &entry : entries)
    if (const auto [other, isNew] = names.emplace(entry.path, entry.name); !isNew)
      refuse(name, fmt::format("'{}' and '{}' would both be written to {}", other->second, entry.name, entry.path),
             Task::layOut);
  const Descriptor file = Descriptor::memory(name);
  const Table table = tableOf(file, {"layout"}, layoutOf(entries), name, Task::layOut);
  checkRanges(table, file.size(name), name);
  layout_ = file.mapped(name);
  std::map<size_t, std::string_view> numbers; // keyed by offset
  for (const H5Entry &entry : entries) {
    if (!entry.numbers.defined() || entry.numbers.size() == 0)
      continue;
    const auto row = table.find(entry.path);
    const Tensor &onHost = numbers_.emplace_back(TensorAccess::onHost(entry.numbers));
    if (row == table.end() || row->second.offset < 0 || row->second.bytes != TensorAccess::bytes(onHost))
      throw Error(ErrorKind::io_error, fmt::format("{}: halftone-h5 reserved no space for {}", name, entry.path));
    numbers.emplace(static_cast<size_t>(row->second.offset),
                    std::string_view(reinterpret_cast<const char *>(TensorAccess::data(onHost)),
                                     static_cast<size_t>(TensorAccess::bytes(onHost))));
  }
  const std::string_view layout(reinterpret_cast<const char *>(layout_->bytes().data()), layout_->bytes().size());
  size_t end = 0;
  for (const auto &[begin, chunk] : numbers) {
    chunks_.push_back(layout.substr(end, begin - end));
    chunks_.push_back(chunk);
    end = begin + chunk.size();
  }
  chunks_.push_back(layout.substr(end));
}

} // namespace halftone::detail
