// IDX files and MNIST: the real data, every element type, and many kinds of malformed files.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Data.h"
#include "halftone/Error.h"
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <unistd.h>
#include <zlib.h>

using namespace halftone;
namespace fs = std::filesystem;

namespace {
struct Folder {
  fs::path path = fs::temp_directory_path() / ("halftone-idx-" + std::to_string(getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  std::string write(const std::string &name, const std::string &bytes) const {
    const std::string file = (path / name).string();
    std::ofstream(file, std::ios::binary) << bytes;
    return file;
  }
};
} // namespace

static std::string bigEndian(uint32_t value) {
  return {char(value >> 24), char(value >> 16), char(value >> 8), char(value)};
}

static std::string idx(int type, const std::vector<uint32_t> &dims, const std::string &data) {
  std::string bytes = {0, 0, char(type), char(dims.size())};
  for (uint32_t d : dims)
    bytes += bigEndian(d);
  return bytes + data;
}

static std::string zipped(const std::string &bytes) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(bytes.size() + 200, '\0');
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(bytes.data()));
  stream.avail_in = unsigned(bytes.size());
  stream.next_out = reinterpret_cast<Bytef *>(out.data());
  stream.avail_out = unsigned(out.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

template <class Function> static std::string errorOf(Function function) {
  try {
    function();
  } catch (const Error &error) {
    return error.what();
  }
  return "no error";
}
static std::string loadError(const std::string &path) {
  return errorOf([&] { (void)datasets::load_idx(path); });
}
static std::vector<double> values(const Tensor &t) { return t.astype(float64).to_vector<double>(); }

using Catch::Contains;
using Catch::StartsWith;

TEST_CASE("the IDX files of MNIST are read as they are") {
  const datasets::Arrays mnist = datasets::mnist(HALFTONE_SOURCE_DIR "/examples/data/mnist");
  CHECK(mnist.x_train.shape() == Shape{60000, 28, 28});
  CHECK(mnist.y_train.shape() == Shape{60000});
  CHECK(mnist.x_test.shape() == Shape{10000, 28, 28});
  CHECK(mnist.y_test.shape() == Shape{10000});
  for (const Tensor &t : {mnist.x_train, mnist.y_train, mnist.x_test, mnist.y_test})
    CHECK(t.dtype() == uint8);
  const auto labels = mnist.y_train.span<uint8_t>();
  CHECK(std::vector<int>(labels.begin(), labels.begin() + 10) == std::vector<int>{5, 0, 4, 1, 9, 2, 1, 3, 1, 4});
  const auto pixels = mnist.x_train.span<uint8_t>();
  const double mean = std::accumulate(pixels.begin(), pixels.end(), 0.0) / double(pixels.size()) / 255;
  CHECK(mean == Approx(0.1306604762738429)); // MNIST tutorials state 0.1307
}

TEST_CASE("an IDX file of every element type is read, zipped or not") {
  const Folder folder;
  const struct {
    int type;
    std::string data;
    DType dtype;
    std::vector<double> values;
  } rows[] = {
      {0x08, "\x01\xff", DType::uint8, {1, 255}},
      {0x09, "\x01\xff", DType::int8, {1, -1}},
      {0x0b, std::string("\x01\x02\xff\xfe", 4), DType::int16, {258, -2}},
      {0x0c, bigEndian(70000) + bigEndian(uint32_t(-3)), DType::int32, {70000, -3}},
      {0x0d, bigEndian(0x3f800000) + bigEndian(0xc0200000), DType::float32, {1, -2.5}},
      {0x0e, bigEndian(0x3ff00000) + bigEndian(0) + bigEndian(0xc0040000) + bigEndian(0), DType::float64, {1, -2.5}}};
  for (const auto &row : rows) {
    const std::string bytes = idx(row.type, {2, 1}, row.data);
    for (const std::string &path : {folder.write("plain", bytes), folder.write("zipped.gz", zipped(bytes))}) {
      INFO(name(row.dtype) << " " << path);
      const Tensor t = datasets::load_idx(path);
      CHECK(t.dtype() == row.dtype);
      CHECK(t.shape() == Shape{2, 1});
      CHECK(values(t) == row.values);
    }
  }
  CHECK(datasets::load_idx(folder.write("scalar", idx(8, {}, "\x07"))).shape() == Shape{});
  CHECK(datasets::load_idx(folder.write("empty", idx(8, {0, 28}, ""))).shape() == Shape{0, 28});
}

TEST_CASE("A file cut off anywhere is an IOError that names it") {
  const Folder folder;
  const std::string plain = idx(0x0c, {3}, std::string(12, 'x')), zip = zipped(plain);
  REQUIRE(loadError(folder.write("x", plain)) == "no error");
  REQUIRE(loadError(folder.write("x", zip)) == "no error");
  for (const std::string &whole : {plain, zip})
    for (size_t length = 0; length < whole.size(); ++length) {
      const std::string path = folder.write("x", whole.substr(0, length));
      const std::string text = loadError(path);
      if (text.rfind("IOError: Cannot read '" + path + "': expected ", 0) != 0 || text.find(", found ") == text.npos)
        FAIL("cut to " << length << " of " << whole.size() << " bytes: " << text);
    }
}

TEST_CASE("A gzip file with any byte damaged is never read as something else") {
  const Folder folder;
  std::string data(64, 'a');
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = char(i * 37);
  const std::string zip = zipped(idx(8, {64}, data));
  const std::vector<double> expected = values(datasets::load_idx(folder.write("x", zip)));
  for (size_t i = 0; i < zip.size(); ++i) {
    std::string damaged = zip;
    damaged[i] = char(damaged[i] ^ 0x55);
    const std::string path = folder.write("x", damaged);
    try {
      const Tensor t = datasets::load_idx(path); // header bytes that have no meaning here: time, system
      if (values(t) != expected)
        FAIL("byte " << i << " changed the data");
    } catch (const Error &error) {
      if (error.kind() != ErrorKind::io_error || error.message().find("'" + path + "'") == std::string::npos)
        FAIL("byte " << i << ": " << error.what());
    }
  }
  SUCCEED();
}

TEST_CASE("Malformed files say what was expected and found") {
  const Folder folder;
  const std::string magic = "expected the IDX magic number 00 00 <08, 09, 0b, 0c, 0d or 0e> <rank>, found ";
  CHECK_THAT(loadError(folder.write("x", "PNG and more")), Contains(magic + "50 4e 47 20"));
  CHECK_THAT(loadError(folder.write("x", idx(0x0a, {1}, "x"))), Contains(magic + "00 00 0a 01"));
  CHECK_THAT(loadError(folder.write("x", zipped("zipped text"))), Contains(magic));
  CHECK_THAT(loadError(folder.write("x", idx(8, {2}, "abc"))),
             Contains("expected the end of the data, found more bytes"));
  CHECK_THAT(loadError(folder.write("x", zipped(idx(8, {2}, "abc")))), Contains("expected the end of the data"));
  CHECK_THAT(loadError(folder.write("x", idx(8, {1000, 1000}, "abc"))),
             Contains("expected uint8 elements of shape (1000, 1000), found a file that is too short"));
  CHECK_THAT(loadError(folder.write("x", idx(8, {~0u, ~0u, ~0u, ~0u}, "abc"))),
             Contains("found a file that is too short"));
  CHECK_THAT(loadError(folder.write("x", zipped(idx(0x0e, {~0u, ~0u}, "abc")))),
             Contains("found a file that is too short"));
  CHECK_THAT(loadError(folder.write("x", "")), Contains("expected the IDX magic number (4 bytes), found the end"));
  CHECK_THAT(loadError((folder.path / "absent").string()),
             StartsWith("IOError: cannot read ") && Contains("No such file"));
  CHECK_THAT(loadError(folder.path.string()), StartsWith("IOError: cannot read ") && Contains("Is a directory"));
}

TEST_CASE("a folder without the files of MNIST is refused") {
  const Folder folder;
  const std::string directory = folder.path.string();
  const auto error = [&] { return errorOf([&] { (void)datasets::mnist(directory); }); };
  const std::string images = idx(8, {2, 28, 28}, std::string(2 * 28 * 28, '\1')), labels = idx(8, {2}, "\x01\x09");
  CHECK_THAT(error(), StartsWith("IOError: Cannot read '" + directory + "/train-images-idx3-ubyte.gz'") &&
                          Contains("no such file"));
  folder.write("train-images-idx3-ubyte", images);
  folder.write("train-labels-idx1-ubyte.gz", zipped(labels));
  folder.write("t10k-images-idx3-ubyte.gz", zipped(images));
  CHECK_THAT(error(), Contains("t10k-labels-idx1-ubyte.gz"));
  folder.write("t10k-labels-idx1-ubyte", labels);
  CHECK(error() == "no error");
  CHECK(datasets::mnist(directory).y_test.to_vector<uint8_t>() == std::vector<uint8_t>{1, 9});
  folder.write("t10k-labels-idx1-ubyte", idx(8, {2}, "\x01\x0a"));
  CHECK_THAT(error(),
             Contains("t10k-labels-idx1-ubyte'") && Contains("expected digits from 0 to 9, found 10 at index 1"));
  folder.write("t10k-labels-idx1-ubyte", idx(8, {3}, "\x01\x02\x03"));
  CHECK_THAT(error(), Contains("expected a label for each image, uint8 (2,), found uint8 (3,)"));
  folder.write("t10k-labels-idx1-ubyte", images);
  CHECK_THAT(error(), Contains("found uint8 (2, 28, 28)"));
  folder.write("train-images-idx3-ubyte", idx(8, {2, 28}, std::string(56, '\1')));
  CHECK_THAT(error(), Contains("train-images-idx3-ubyte'") &&
                          Contains("expected images, uint8 (N, 28, 28), found uint8 (2, 28)"));
  folder.write("train-images-idx3-ubyte", idx(8, {}, "\1"));
  CHECK_THAT(error(), Contains("found uint8 ()"));
}

TEST_CASE("Fashion-MNIST is read from files of the same names, and named in errors") {
  const Folder folder;
  const std::string directory = folder.path.string();
  const auto error = [&] { return errorOf([&] { (void)datasets::fashion_mnist(directory); }); };
  CHECK_THAT(error(),
             Contains("expected one of the four Fashion-MNIST files, with or without .gz, found no such file"));
  for (const char *part : {"train", "t10k"}) {
    folder.write(part + std::string("-images-idx3-ubyte"), idx(8, {2, 28, 28}, std::string(2 * 28 * 28, '\2')));
    folder.write(part + std::string("-labels-idx1-ubyte.gz"), zipped(idx(8, {2}, "\x07\x09")));
  }
  const datasets::Arrays arrays = datasets::fashion_mnist(directory);
  CHECK(arrays.x_train.shape() == Shape{2, 28, 28});
  CHECK(arrays.y_test.to_vector<uint8_t>() == std::vector<uint8_t>{7, 9});
}
