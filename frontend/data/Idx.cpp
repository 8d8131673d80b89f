// Reads IDX files, gzipped or not, and the MNIST and Fashion-MNIST data sets, which consist of IDX files.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/RefuseFile.h"
#include "halftone/Data.h"
#include "runtime/TensorAccess.h"
#include "runtime/base/OpenFile.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <zlib.h>

using namespace halftone;
using detail::refuseFile;

namespace {
/// The bytes of a file, inflated if it is gzipped.
class Source {
public:
  explicit Source(const std::string &path) : path(path) {
    OpenFile opened = openFile(path).valueOrThrow();
    std::error_code error;
    fileBytes = static_cast<int64_t>(std::filesystem::file_size(path, error));
    file = gzdopen(opened.number(), "rb");
    if (!file)
      refuseFile(path, "an IDX file", "no memory to read it");
    (void)opened.release(); // now owned by the gzFile: gzclose() closes it
    gzbuffer(file, 1u << 17);
  }
  Source(const Source &) = delete;
  ~Source() { gzclose(file); }

  /// An upper bound on the inflated size: deflate compresses at most 1032 bytes into one.
  int64_t maxBytes() const { return gzdirect(file) ? fileBytes : fileBytes * 1032; }

  void read(void *to, int64_t bytes, const std::string &what) {
    for (int64_t done = 0; done < bytes;) {
      const int64_t chunk = std::min<int64_t>(bytes - done, 1 << 30);
      const int got = gzread(file, static_cast<char *>(to) + done, static_cast<unsigned>(chunk));
      check();
      if (got <= 0)
        refuseFile(path, fmt::format("{} ({} bytes)", what, bytes),
                   fmt::format("the end of the data after {} bytes", done));
      done += got;
    }
  }

  /// Checks that the data ends here, which also makes zlib verify the checksum.
  void expectEnd() {
    char more;
    const int got = gzread(file, &more, 1);
    check();
    if (got > 0)
      refuseFile(path, "the end of the data", "more bytes than the header declares");
  }

private:
  void check() {
    int code = Z_OK;
    const char *message = gzerror(file, &code);
    if (code == Z_OK || code == Z_STREAM_END)
      return;
    refuseFile(path, "complete gzip data",
               code == Z_ERRNO       ? std::string(std::strerror(errno))
               : code == Z_BUF_ERROR ? "truncated data"
                                     : std::string(message));
  }

  const std::string &path;
  gzFile file = nullptr;
  int64_t fileBytes = 0;
};
} // namespace

static std::optional<DType> dtypeOf(uint8_t code) {
  switch (code) {
  case 0x08:
    return DType::uint8;
  case 0x09:
    return DType::int8;
  case 0x0b:
    return DType::int16;
  case 0x0c:
    return DType::int32;
  case 0x0d:
    return DType::float32;
  case 0x0e:
    return DType::float64;
  default:
    return std::nullopt;
  }
}

Tensor datasets::load_idx(const std::string &path) {
  Source source(path);
  uint8_t magic[4];
  source.read(magic, 4, "the IDX magic number");
  const std::optional<DType> dtype = dtypeOf(magic[2]);
  if (magic[0] != 0 || magic[1] != 0 || !dtype)
    refuseFile(path, "the IDX magic number 00 00 <08, 09, 0b, 0c, 0d or 0e> <rank>",
               fmt::format("{:02x} {:02x} {:02x} {:02x}", magic[0], magic[1], magic[2], magic[3]));
  std::vector<int64_t> dims(magic[3]);
  int64_t bytes = itemsize(*dtype);
  bool overflows = false;
  for (int64_t &d : dims) {
    uint8_t b[4];
    source.read(b, 4, fmt::format("the {} dimensions", dims.size()));
    d = int64_t(b[0]) << 24 | int64_t(b[1]) << 16 | int64_t(b[2]) << 8 | int64_t(b[3]);
    overflows |= __builtin_mul_overflow(bytes, d, &bytes);
  }
  const Shape shape(dims);
  const bool empty = std::find(dims.begin(), dims.end(), 0) != dims.end();
  if (empty)
    bytes = 0;
  if ((overflows && !empty) || bytes > source.maxBytes())
    refuseFile(path, fmt::format("{} elements of shape {}", name(*dtype), shape.str()), "a file that is too short");
  Tensor result = TensorAccess::allocate(*dtype, shape);
  std::byte *data = TensorAccess::mutableData(result);
  source.read(data, bytes, fmt::format("{} elements of shape {}", name(*dtype), shape.str()));
  source.expectEnd();
  const int64_t width = itemsize(*dtype);
  if (width > 1)
    for (int64_t i = 0; i < bytes; i += width)
      std::reverse(data + i, data + i + width);
  return result;
}

/// The directory of a data set's four files, and its name.
struct IdxSet {
  const std::string &directory;
  const char *name;
};

static std::string findFile(const IdxSet &set, const std::string &stem) {
  checkPath(set.directory).orThrow();
  const std::filesystem::path base = std::filesystem::path(set.directory) / stem;
  const std::string plain = base.string(), zipped = plain + ".gz";
  for (const std::string &path : {zipped, plain}) {
    std::error_code error;
    if (std::filesystem::exists(path, error))
      return path;
  }
  refuseFile(zipped, fmt::format("one of the four {} files, with or without .gz", set.name), "no such file");
}

static std::pair<Tensor, Tensor> loadPart(const IdxSet &set, const std::string &part) {
  const std::string imagePath = findFile(set, part + "-images-idx3-ubyte");
  const std::string labelPath = findFile(set, part + "-labels-idx1-ubyte");
  Tensor images = datasets::load_idx(imagePath), labels = datasets::load_idx(labelPath);
  const auto text = [](const Tensor &t) { return fmt::format("{} {}", name(t.dtype()), t.shape().str()); };
  if (images.dtype() != uint8 || images.shape() != Shape{images.shape().rank() ? images.shape()[0] : 0, 28, 28})
    refuseFile(imagePath, "images, uint8 (N, 28, 28)", text(images));
  if (labels.dtype() != uint8 || labels.shape() != Shape{images.shape()[0]})
    refuseFile(labelPath, fmt::format("a label for each image, uint8 ({},)", images.shape()[0]), text(labels));
  const std::span<const uint8_t> digits = labels.span<uint8_t>();
  const auto wrong = std::find_if(digits.begin(), digits.end(), [](uint8_t digit) { return digit > 9; });
  if (wrong != digits.end())
    refuseFile(labelPath, "digits from 0 to 9", fmt::format("{} at index {}", *wrong, wrong - digits.begin()));
  return {std::move(images), std::move(labels)};
}

static datasets::Arrays loadSet(const IdxSet &set) {
  auto [x_train, y_train] = loadPart(set, "train");
  auto [x_test, y_test] = loadPart(set, "t10k");
  return {std::move(x_train), std::move(y_train), std::move(x_test), std::move(y_test)};
}

datasets::Arrays datasets::mnist(const std::string &directory) { return loadSet({directory, "MNIST"}); }
datasets::Arrays datasets::fashion_mnist(const std::string &directory) { return loadSet({directory, "Fashion-MNIST"}); }
