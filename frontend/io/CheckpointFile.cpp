// Reads and writes checkpoint files.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/io/CheckpointFile.h"
#include "frontend/base/RefuseFile.h"
#include "runtime/TensorAccess.h"
#include "runtime/base/Crc32.h"
#include <bit>
#include <charconv>
#include <locale>
#include <sstream>

namespace halftone::detail {

namespace {

// Metadata keys.
constexpr const char *formatKey = "format", *versionKey = "version", *epochKey = "epoch", *stepKey = "step",
                     *seedsKey = "seed_sequence", *sumKey = "crc32";
// Metadata keys of the position within a run.
constexpr const char *positionKeyName = "place", *passSeedsKey = "pass_seed_sequence", *passCountsKey = "pass_shuffles",
                     *countsKey = "shuffles", *logKey = "log:";
std::string sumsName(size_t number) { return fmt::format("fit/metric_sums/{}", number); }
constexpr const char *formatName = "halftone checkpoint", *formatVersion = "1";
std::string sumKeyOf(const std::string &name) { return "crc32:" + name; }

uint32_t checksum(uint32_t before, const void *data, size_t size) {
  return crc32Of({static_cast<const std::byte *>(data), size}, before);
}
std::string checksumOf(const Tensor &tensor) {
  const Tensor host = TensorAccess::onHost(tensor);
  return fmt::format("{:08x}", checksum(0, TensorAccess::data(host), static_cast<size_t>(TensorAccess::bytes(host))));
}
/// Checksum of the metadata except the checksum itself, and of the tensors' names, dtypes and shapes.
std::string checksumOfHeader(const Safetensors &contents) {
  uint32_t sum = 0;
  const auto add = [&](std::string_view text) {
    const uint64_t size = text.size(); // length prefix, so that different sequences of texts differ
    sum = checksum(checksum(sum, &size, sizeof size), text.data(), text.size());
  };
  for (const auto &[key, value] : contents.metadata)
    if (key != sumKey) {
      add(key);
      add(value);
    }
  for (const auto &[name, tensor] : contents.tensors) {
    add(name);
    add(safetensorsName(tensor.dtype()));
    add(tensor.shape().str());
  }
  return fmt::format("{:08x}", sum);
}

std::string textOf(const std::mt19937_64 &seeds) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text << seeds;
  return text.str();
}

/// Reads the metadata of a file; a missing or invalid entry is an io_error.
class Metadata {
public:
  Metadata(const std::string &path, const Safetensors &contents) : path_(path), texts_(contents.metadata) {}

  std::string text(const std::string &key) const {
    const auto found = texts_.find(key);
    if (found == texts_.end())
      refuseFile(path_, fmt::format("a checkpoint, with the metadata {}", quotedName(key)), "none");
    return found->second;
  }
  int64_t count(const char *key) const {
    const std::string digits = text(key);
    int64_t value = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() || value < 0)
      refuseFile(path_, fmt::format("a count as {}", quotedName(key)), quotedName(digits));
    return value;
  }
  std::mt19937_64 seeds(const char *key) const {
    std::istringstream state(text(key));
    state.imbue(std::locale::classic());
    std::mt19937_64 seeds; // NOLINT(bugprone-random-generator-seed): its state is read from the text
    if (!(state >> seeds))
      refuseFile(path_, "the state of a sequence of seeds", "another text");
    return seeds;
  }

  bool has(const char *key) const { return texts_.contains(key); }
  /// Non-negative integers, separated by blanks.
  std::vector<int64_t> numbers(const char *key) const {
    const std::string digits = text(key);
    std::vector<int64_t> result;
    for (const char *at = digits.data(), *end = at + digits.size(); at != end;) {
      int64_t value = -1;
      const auto [rest, error] = std::from_chars(at, end, value);
      if (error != std::errc() || value < 0 || (rest != end && (*rest != ' ' || rest + 1 == end)))
        refuseFile(path_, fmt::format("counts as {}", quotedName(key)), quotedName(digits));
      result.push_back(value);
      at = rest == end ? end : rest + 1;
    }
    return result;
  }
  /// The values of the keys "log:<number>:<name>", ordered by number.
  std::vector<std::pair<std::string, double>> logs() const {
    std::map<int64_t, std::pair<std::string, double>> logs;
    for (const auto &[key, value] : texts_) {
      const size_t colon = key.find(':', std::string_view(logKey).size());
      if (!key.starts_with(logKey) || colon == key.npos)
        continue;
      int64_t number = -1;
      uint64_t bits = 0;
      const char *first = key.data() + std::string_view(logKey).size(), *last = key.data() + colon;
      const auto named = std::from_chars(first, last, number);
      const auto valued = std::from_chars(value.data(), value.data() + value.size(), bits, 16);
      if (named.ptr != last || valued.ptr != value.data() + value.size() || value.empty() || first == last)
        refuseFile(path_, fmt::format("the bits of a number as {}", quotedName(key)), quotedName(value));
      logs[number] = {key.substr(colon + 1), std::bit_cast<double>(bits)};
    }
    std::vector<std::pair<std::string, double>> result;
    for (auto &[number, log] : logs)
      result.push_back(std::move(log));
    return result;
  }

private:
  const std::string &path_;
  const std::map<std::string, std::string> &texts_;
};

/// Removes the position within a run, and the sums of its metrics, from the contents of the file at `path`.
std::optional<DataPosition> takePosition(const std::string &path, Safetensors &contents, int64_t epoch) {
  const Metadata metadata(path, contents);
  if (!metadata.has(positionKeyName))
    return std::nullopt;
  const std::vector<int64_t> numbers = metadata.numbers(positionKeyName);
  if (numbers.size() != 6)
    refuseFile(path, fmt::format("six counts as {}", quotedName(positionKeyName)), fmt::format("{}", numbers.size()));
  DataPosition position{.epoch = epoch,
                        .batch = numbers[0],
                        .pass = {.isOpen = numbers[1] != 0,
                                 .drawn = numbers[2],
                                 .rows = numbers[3],
                                 .batchSize = numbers[4],
                                 .seeds = metadata.seeds(passSeedsKey),
                                 .counts = metadata.numbers(passCountsKey)},
                        .counts = metadata.numbers(countsKey),
                        .logs = metadata.logs()};
  std::vector<std::pair<std::string, Tensor>> others;
  for (auto &[name, tensor] : contents.tensors)
    if (std::ssize(position.metrics) < numbers[5] && name == sumsName(position.metrics.size()))
      position.metrics.push_back(TensorAccess::copy(tensor)); // must outlive the mapped file
    else
      others.emplace_back(name, std::move(tensor));
  if (std::ssize(position.metrics) != numbers[5])
    refuseFile(path, fmt::format("the sums of {} metrics", numbers[5]), fmt::format("{}", position.metrics.size()));
  contents.tensors = std::move(others);
  return position;
}

void addPosition(const DataPosition &position, Safetensors &contents) {
  std::map<std::string, std::string> &metadata = contents.metadata;
  const PassPosition &pass = position.pass;
  metadata[positionKeyName] = fmt::format("{} {} {} {} {} {}", position.batch, int(pass.isOpen), pass.drawn, pass.rows,
                                          pass.batchSize, position.metrics.size());
  metadata[passSeedsKey] = textOf(pass.seeds);
  metadata[passCountsKey] = fmt::format("{}", fmt::join(pass.counts, " "));
  metadata[countsKey] = fmt::format("{}", fmt::join(position.counts, " "));
  for (size_t i = 0; i < position.logs.size(); ++i)
    metadata[fmt::format("{}{}:{}", logKey, i, position.logs[i].first)] =
        fmt::format("{:x}", std::bit_cast<uint64_t>(position.logs[i].second));
  for (size_t i = 0; i < position.metrics.size(); ++i)
    contents.tensors.emplace_back(sumsName(i), position.metrics[i]);
}

} // namespace

CheckpointFile readCheckpointFile(const std::string &path) {
  Safetensors contents = readSafetensors(path);
  const Metadata metadata(path, contents);
  if (metadata.text(formatKey) != formatName)
    refuseFile(path, "a checkpoint", "another safetensors file (load_weights() and load_safetensors() read those)");
  if (metadata.text(versionKey) != formatVersion)
    refuseFile(path, fmt::format("version {} of the format", formatVersion), quotedName(metadata.text(versionKey)));
  if (metadata.text(sumKey) != checksumOfHeader(contents))
    refuseFile(path, "a header with its checksum", "a damaged one");
  for (const auto &[name, tensor] : contents.tensors)
    if (metadata.text(sumKeyOf(name)) != checksumOf(tensor))
      refuseFile(path, fmt::format("the checksum of {}", quotedName(name)), "damaged data");
  const int64_t epoch = metadata.count(epochKey), step = metadata.count(stepKey);
  const std::mt19937_64 seeds = metadata.seeds(seedsKey);
  std::optional<DataPosition> position = takePosition(path, contents, epoch);
  return {std::move(contents), epoch, step, seeds, std::move(position)};
}

void writeCheckpointFile(const std::string &path, CheckpointFile file) {
  std::map<std::string, std::string> &metadata = file.contents.metadata;
  metadata[formatKey] = formatName;
  metadata[versionKey] = formatVersion;
  metadata[epochKey] = std::to_string(file.epoch);
  metadata[stepKey] = std::to_string(file.step);
  metadata[seedsKey] = textOf(file.seeds);
  if (file.position)
    addPosition(*file.position, file.contents);
  for (const auto &[name, tensor] : file.contents.tensors)
    metadata[sumKeyOf(name)] = checksumOf(tensor);
  metadata[sumKey] = checksumOfHeader(file.contents);
  writeSafetensors(path, file.contents);
}

} // namespace halftone::detail
