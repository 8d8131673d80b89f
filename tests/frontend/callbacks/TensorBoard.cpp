// TensorBoard: the records, tags, steps and values of the event files, and errors.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/callbacks/TensorBoardFile.h"
#include "tests/TemporaryFolder.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cstring>
#include <map>

using namespace halftone;
using namespace halftone::test;
using callbacks::TensorBoard;
using Catch::Matchers::Contains;

namespace {

struct LoggedScalar {
  int64_t step;
  float value;
  bool operator==(const LoggedScalar &) const = default;
};
using LoggedScalars = std::map<std::string, std::vector<LoggedScalar>>;

/// An independent reader of protobuf messages.
struct Message {
  std::string_view bytes;
  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<uint8_t>(bytes.at(0));
      bytes.remove_prefix(1);
      value |= uint64_t(byte & 0x7f) << shift;
      if (byte < 0x80)
        return value;
    }
  }
  template <class T> T fixed() {
    T value;
    std::memcpy(&value, bytes.substr(0, sizeof(T)).data(), sizeof(T));
    bytes.remove_prefix(sizeof(T));
    return value;
  }
  std::string_view text() {
    const uint64_t size = varint();
    const std::string_view part = bytes.substr(0, size);
    bytes.remove_prefix(size);
    return part;
  }
};
void readEvent(std::string_view bytes, LoggedScalars &scalars, int &versions) {
  Message event{bytes};
  int64_t step = 0;
  std::string_view summary;
  while (!event.bytes.empty())
    switch (event.varint()) {
    case 1 << 3 | 1:
      CHECK(event.fixed<double>() > 1.6e9);
      break;
    case 2 << 3:
      step = static_cast<int64_t>(event.varint());
      break;
    case 3 << 3 | 2:
      CHECK(event.text() == "brain.Event:2");
      ++versions;
      break;
    case 5 << 3 | 2:
      summary = event.text();
      break;
    default:
      FAIL("another field");
    }
  if (summary.empty())
    return;
  Message value{summary};
  REQUIRE(value.varint() == (1 << 3 | 2));
  Message scalar{value.text()};
  REQUIRE(scalar.varint() == (1 << 3 | 2));
  const std::string tag(scalar.text());
  REQUIRE(scalar.varint() == (2 << 3 | 5));
  scalars[tag].push_back({step, scalar.fixed<float>()});
}
uint32_t maskedSum(std::string_view bytes) {
  const uint32_t sum = detail::crc32c(bytes);
  return (sum >> 15 | sum << 17) + 0xa282ead8u;
}
/// The scalars of all files in a folder. Checks the names of the files.
LoggedScalars scalarsIn(const std::string &folder, int64_t files = 1) {
  LoggedScalars scalars;
  int64_t count = 0;
  int versions = 0;
  for (const auto &entry : std::filesystem::directory_iterator(folder)) {
    ++count;
    CHECK_THAT(entry.path().filename().string(),
               Catch::Matchers::StartsWith("events.out.tfevents.") && Catch::Matchers::EndsWith(".v2"));
    std::ifstream stream(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    for (Message file{bytes}; !file.bytes.empty();) {
      const std::string_view head = file.bytes.substr(0, 8);
      const auto length = file.fixed<uint64_t>();
      CHECK(file.fixed<uint32_t>() == maskedSum(head));
      const std::string_view event = file.bytes.substr(0, length);
      file.bytes.remove_prefix(length);
      CHECK(file.fixed<uint32_t>() == maskedSum(event));
      readEvent(event, scalars, versions);
    }
  }
  CHECK(count == files);
  CHECK(versions == files);
  return scalars;
}

Sequential net() {
  Sequential model({layers::Input({2}), layers::Dense(1)});
  model.compile({.optimizer = "sgd", .loss = "mse", .metrics = {"mae"}});
  return model;
}
const Tensor x = Tensor::ones({6, 2}), y = Tensor::zeros({6, 1});

} // namespace

TEST_CASE("CRC-32C gives the check values of RFC 3720", "[callbacks]") {
  CHECK(detail::crc32c("") == 0);
  CHECK(detail::crc32c("123456789") == 0xe3069283u);
  CHECK(detail::crc32c(std::string(32, '\0')) == 0x8a9136aau);
  CHECK(detail::crc32c(std::string(32, '\xff')) == 0x62a8ab43u);
}

TEST_CASE("TensorBoard writes the logs of epochs, batches and evaluations with Keras's tags and steps", "[callbacks]") {
  const TemporaryFolder folder;
  const Sequential model = net();
  TensorBoard board(folder / "logs", {.update_freq = 2, .write_steps_per_second = true});
  std::vector<double> losses;
  const callbacks::LambdaCallback keep(
      {.on_train_batch_end = [&](int64_t, const Logs &logs) { losses.push_back(logs["loss"]); }});
  const History history = model.fit(
      x, y, {.batch_size = 2, .epochs = 2, .verbose = 0, .callbacks = {&board, keep}, .validation_data = {x, y}});
  const LoggedScalars train = scalarsIn(folder / "logs/train"), validation = scalarsIn(folder / "logs/validation");
  std::vector<std::string> tags;
  for (const auto &[tag, scalars] : train)
    tags.push_back(tag);
  CHECK(tags == std::vector<std::string>{"batch_loss", "batch_mae", "batch_steps_per_second", "epoch_learning_rate",
                                         "epoch_loss", "epoch_mae", "epoch_steps_per_second"});
  const auto float32Of = [](double value) { return static_cast<float>(value); };
  CHECK(train.at("epoch_loss") ==
        std::vector<LoggedScalar>{{0, float32Of(history["loss"][0])}, {1, float32Of(history["loss"][1])}});
  CHECK(train.at("epoch_learning_rate") == std::vector<LoggedScalar>{{0, 0.01f}, {1, 0.01f}});
  CHECK(train.at("batch_loss") ==
        std::vector<LoggedScalar>{{2, float32Of(losses[1])}, {4, float32Of(losses[3])}, {6, float32Of(losses[5])}});
  CHECK(train.at("batch_steps_per_second")[0].value > 0);
  CHECK(validation.at("epoch_mae") ==
        std::vector<LoggedScalar>{{0, float32Of(history["val_mae"][0])}, {1, float32Of(history["val_mae"][1])}});
  CHECK(validation.at("evaluation_loss_vs_iterations") ==
        std::vector<LoggedScalar>{{3, float32Of(history["val_loss"][0])}, {6, float32Of(history["val_loss"][1])}});
  CHECK(validation.size() == 4);
}

TEST_CASE("TensorBoard has new files for each fit(), and one for evaluate()", "[callbacks]") {
  const TemporaryFolder folder;
  const Sequential model = net();
  TensorBoard board(folder / "logs");
  (void)model.fit(x, y, {.verbose = 0, .callbacks = {&board}});
  (void)model.fit(x, y, {.verbose = 0, .callbacks = {&board}});
  const LoggedScalars train = scalarsIn(folder / "logs/train", 2);
  CHECK(train.at("epoch_loss").size() == 2);
  CHECK_FALSE(train.contains("batch_loss"));
  CHECK_FALSE(std::filesystem::exists(folder / "logs/validation"));
  (void)model.evaluate(x, y, {.verbose = 0, .callbacks = {&board}});
  CHECK(scalarsIn(folder / "logs/validation").at("evaluation_mae_vs_iterations")[0].step == 2);
}

TEST_CASE("TensorBoard refuses an empty name and a frequency below 1, and reports a folder that cannot be made",
          "[callbacks]") {
  const TemporaryFolder folder;
  CHECK_THAT(errorOf([] { TensorBoard board(""); }), Contains("ValueError: Empty `log_dir`"));
  CHECK_THAT(errorOf([] { TensorBoard board("logs", {.update_freq = 0}); }),
             Contains("ValueError: update_freq must be a positive number"));
  const std::string file = folder.write("file", "");
  CHECK_THAT(errorOf([&] { (void)net().fit(x, y, {.verbose = 0, .callbacks = {TensorBoard(file)}}); }),
             Contains("IOError: cannot create the folder " + file + "/train: Not a directory"));
}
