// Reads and writes NumPy's .npy files.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/Npy.h"
#include "runtime/TensorAccess.h"
#include "runtime/base/MappedFile.h"
#include "runtime/base/WriteFile.h"
#include <algorithm>
#include <bit>
#include <cctype>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <utility>

using namespace halftone;

static_assert(std::endian::native == std::endian::little);

static constexpr std::string_view magic = "\x93NUMPY";
static constexpr size_t longestQuoted = 200; // header bytes that an error quotes
// ml_dtypes writes float8_e5m2 as f1, which NumPy cannot read back. The writer here uses V1 with this comment.
static constexpr std::string_view e5m2Comment = "# float8_e5m2";

namespace {
struct Kind {
  DType dtype;
  std::string_view descr; // without the byte order
};
struct Header {
  std::string descr;
  bool fortranOrder = false, saysE5m2 = false;
  std::vector<int64_t> shape;
};
} // namespace

static constexpr Kind kinds[] = {{DType::bool_, "b1"},    {DType::uint8, "u1"},         {DType::uint16, "u2"},
                                 {DType::uint32, "u4"},   {DType::uint64, "u8"},        {DType::int8, "i1"},
                                 {DType::int16, "i2"},    {DType::int32, "i4"},         {DType::int64, "i8"},
                                 {DType::float16, "f2"},  {DType::float32, "f4"},       {DType::float64, "f8"},
                                 {DType::bfloat16, "V2"}, {DType::float8_e4m3fn, "V1"}, {DType::float8_e5m2, "f1"}};

namespace {
/// Reads one file; every failure is an io_error that names it.
class NpyReader {
public:
  NpyReader(const std::string &path, std::span<const std::byte> bytes) : path(path), file(bytes) {}

  Tensor read() {
    const std::string start = take(8, "the 8 bytes of the .npy magic and version");
    if (start.substr(0, 6) != magic)
      fail("the .npy magic \\x93NUMPY", "other bytes");
    const int version = static_cast<unsigned char>(start[6]);
    if (version < 1 || version > 3)
      fail("format version 1, 2 or 3", fmt::format("{}.{}", version, int(start[7])));
    const std::string lengthBytes = take(version == 1 ? 2 : 4, "the header's length");
    uint32_t length = 0;
    std::memcpy(&length, lengthBytes.data(), lengthBytes.size());
    if (length > left())
      fail(fmt::format("a header of {} bytes", length), fmt::format("{} bytes", left()));
    text = take(length, "the header");
    const Header header = parseHeader();
    const DType dtype = dtypeOf(header);
    const Shape shape(header.shape);
    int64_t bytes = 0;
    try {
      if (__builtin_mul_overflow(shape.elements(), itemsize(dtype), &bytes))
        bytes = std::numeric_limits<int64_t>::max();
    } catch (const Error &) {
      bytes = std::numeric_limits<int64_t>::max();
    }
    if (left() != bytes)
      fail(fmt::format("{} bytes of data for shape {} of {}", bytes, shape.str(), name(dtype)),
           fmt::format("{} bytes", left()));
    Tensor result = TensorAccess::allocate(dtype, shape);
    std::byte *data = TensorAccess::mutableData(result);
    std::ranges::copy(file.subspan(taken), data);
    if (header.descr[0] == '>')
      for (int64_t i = 0; i < bytes; i += itemsize(dtype))
        std::reverse(data + i, data + i + itemsize(dtype));
    return header.fortranOrder ? toRowMajor(result) : result;
  }

private:
  [[noreturn]] void fail(const std::string &expected, const std::string &found) const {
    throw Error(ErrorKind::io_error,
                fmt::format("Cannot read '{}' as .npy: expected {}, found {}", path, expected, found));
  }

  std::string take(size_t count, const char *what) {
    if (static_cast<int64_t>(count) > left())
      fail(what, fmt::format("the end of the file after {} bytes", left()));
    const char *const begin = reinterpret_cast<const char *>(file.data()) + std::exchange(taken, taken + count);
    return {begin, count};
  }
  /// The number of unread bytes.
  int64_t left() const { return std::ssize(file) - static_cast<int64_t>(taken); }

  // The header is a Python dict literal: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
  [[noreturn]] void failHeader(const char *expected) const {
    fail(fmt::format("{} at byte {} of the header", expected, at),
         text.size() <= longestQuoted
             ? fmt::format("the header {}", text)
             : fmt::format("the header {}... ({} bytes)", text.substr(0, longestQuoted), text.size()));
  }
  void skipSpace() {
    while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])))
      ++at;
  }
  bool accept(char c) {
    skipSpace();
    if (at >= text.size() || text[at] != c)
      return false;
    ++at;
    return true;
  }
  std::string parseString() {
    skipSpace();
    const char quote = at < text.size() ? text[at] : '\0';
    const size_t end = quote == '\'' || quote == '"' ? text.find(quote, at + 1) : text.npos;
    if (end == text.npos)
      failHeader("a string");
    std::string value = text.substr(at + 1, end - at - 1);
    at = end + 1;
    return value;
  }
  bool parseBool() {
    skipSpace();
    for (bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (text.compare(at, word.size(), word) == 0) {
        at += word.size();
        return value;
      }
    }
    failHeader("True or False");
  }
  std::vector<int64_t> parseShape() {
    if (!accept('('))
      failHeader("a tuple");
    std::vector<int64_t> shape;
    bool hasComma = false;
    while (!accept(')')) {
      skipSpace();
      int64_t value = 0;
      const size_t first = at;
      for (; at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])); ++at)
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, text[at] - '0', &value))
          failHeader("a dimension below 2^63");
      if (at == first)
        failHeader("a dimension");
      accept('L'); // written by Python 2
      shape.push_back(value);
      const bool comma = accept(',');
      hasComma |= comma;
      if (!comma && (at >= text.size() || text[at] != ')'))
        failHeader("',' or ')'");
    }
    if (shape.size() == 1 && !hasComma)
      failHeader("a tuple, as (3,)");
    return shape;
  }
  Header parseHeader() {
    Header header;
    bool hasDescr = false, hasOrder = false, hasShape = false;
    if (!accept('{'))
      failHeader("'{'");
    while (!accept('}')) {
      const std::string key = parseString();
      if (!accept(':'))
        failHeader("':'");
      if ((key == "descr" && hasDescr) || (key == "fortran_order" && hasOrder) || (key == "shape" && hasShape))
        fail("each key once", fmt::format("a second '{}' in the header {}", key, text));
      if (key == "descr") {
        skipSpace();
        if (at < text.size() && text[at] == '[')
          fail("a plain dtype", fmt::format("a structured one: the header {}", text));
        header.descr = parseString(), hasDescr = true;
      } else if (key == "fortran_order") {
        header.fortranOrder = parseBool(), hasOrder = true;
      } else if (key == "shape") {
        header.shape = parseShape(), hasShape = true;
      } else {
        failHeader("the key descr, fortran_order or shape");
      }
      if (!accept(',') && (at >= text.size() || text[at] != '}'))
        failHeader("',' or '}'");
    }
    if (!hasDescr || !hasOrder || !hasShape)
      fail("the keys descr, fortran_order and shape", fmt::format("the header {}", text));
    skipSpace();
    header.saysE5m2 = text.compare(at, e5m2Comment.size(), e5m2Comment) == 0;
    if (at < text.size() && text[at] == '#') // a comment in Python's grammar
      at = std::min(text.find('\n', at), text.size());
    skipSpace();
    if (at != text.size())
      failHeader("the end");
    return header;
  }

  DType dtypeOf(const Header &header) const {
    const bool hasOrder = !header.descr.empty() && std::strchr("<>|=", header.descr[0]);
    for (const Kind &kind : kinds)
      if (hasOrder && header.descr.substr(1) == kind.descr)
        return kind.descr == "V1" && header.saysE5m2 ? DType::float8_e5m2 : kind.dtype;
    fail("a bool, integer or float dtype, V2 for bfloat16 or V1 for float8", fmt::format("'{}'", header.descr));
  }

  static Tensor toRowMajor(const Tensor &column) {
    const std::vector<int64_t> dims = column.shape().dims();
    const size_t rank = dims.size(), width = static_cast<size_t>(itemsize(column.dtype()));
    Tensor result = TensorAccess::allocate(column.dtype(), column.shape());
    const std::byte *from = TensorAccess::data(column);
    std::byte *to = TensorAccess::mutableData(result);
    std::vector<int64_t> index(rank, 0);
    for (int64_t i = 0; i < result.size(); ++i) {
      int64_t offset = 0;
      for (size_t axis = rank; axis-- > 0;)
        offset = offset * dims[axis] + index[axis];
      std::memcpy(to + static_cast<size_t>(i) * width, from + static_cast<size_t>(offset) * width, width);
      for (size_t axis = rank; axis-- > 0; index[axis] = 0)
        if (++index[axis] != dims[axis])
          break;
    }
    return result;
  }

  const std::string &path;
  const std::span<const std::byte> file;
  size_t taken = 0;
  std::string text;
  size_t at = 0;
};
} // namespace

Tensor halftone::readNpy(const std::string &name, std::span<const std::byte> bytes) {
  return NpyReader(name, bytes).read();
}
Tensor Tensor::load_npy(const std::string &path) {
  return readNpy(path, MappedFile::open(path).valueOrThrow()->bytes());
}

void Tensor::save_npy(const std::string &path) const {
  const bool isE5m2 = dtype() == DType::float8_e5m2;
  std::string_view descr = "V1";
  for (const Kind &kind : kinds)
    if (kind.dtype == dtype() && !isE5m2)
      descr = kind.descr;
  std::string shape;
  const std::vector<int64_t> dims = this->shape().dims();
  for (int64_t d : dims)
    shape += fmt::format("{},{}", d, dims.size() == 1 ? "" : " ");
  if (dims.size() > 1)
    shape.resize(shape.size() - 2);
  std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}",
                                   itemsize(dtype()) == 1 ? '|' : '<', descr, shape);
  if (isE5m2)
    header += fmt::format(" {}", e5m2Comment);
  const auto padded = [&](size_t before) { return header.size() + 64 - (before + header.size()) % 64; };
  const bool isLong = padded(magic.size() + 4) > std::numeric_limits<uint16_t>::max();
  header.resize(padded(magic.size() + (isLong ? 6 : 4)) - 1, ' ');
  header += '\n';
  std::string start{isLong ? '\x02' : '\x01', '\x00'}; // format 2.0 has four bytes for the header's length, 1.0 two
  for (size_t length = header.size(), bytes = isLong ? 4 : 2; bytes > 0; --bytes, length >>= 8)
    start += static_cast<char>(length & 0xff);
  const Tensor host = TensorAccess::onHost(*this);
  const std::string_view data(reinterpret_cast<const char *>(TensorAccess::data(host)), TensorAccess::bytes(host));
  writeFile(path, {magic, start, header, data}).orThrow();
}
