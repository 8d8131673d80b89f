// Reads and writes the files of checkpoints.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/io/CheckpointFile.h"
#include "frontend/base/RefuseFile.h"
#include "runtime/TensorAccess.h"
#include "runtime/base/Crc32.h"
#include <charconv>
#include <locale>
#include <sstream>

namespace halftone::detail {

namespace {

// Keys of the metadata.
constexpr const char *formatKey = "format", *versionKey = "version", *epochKey = "epoch", *stepKey = "step",
                     *seedsKey = "seed_sequence", *sumKey = "crc32";
constexpr const char *formatName = "halftone checkpoint", *formatVersion = "1";
std::string sumKeyOf(const std::string &name) { return "crc32:" + name; }

uint32_t checksum(uint32_t before, const void *data, size_t size) {
  return crc32Of({static_cast<const std::byte *>(data), size}, before);
}
std::string checksumOf(const Tensor &tensor) {
  const Tensor host = TensorAccess::onHost(tensor);
  return fmt::format("{:08x}", checksum(0, TensorAccess::data(host), static_cast<size_t>(TensorAccess::bytes(host))));
}
/// Of the metadata but the checksum itself, and of the tensors' names, dtypes and shapes.
std::string checksumOfHeader(const Safetensors &contents) {
  uint32_t sum = 0;
  const auto add = [&](std::string_view text) {
    const uint64_t size = text.size(); // so that no text can pass for two
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

/// Reads the metadata of a file; a missing or wrong one is an io_error.
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
  std::mt19937_64 seeds() const {
    std::istringstream state(text(seedsKey));
    state.imbue(std::locale::classic());
    std::mt19937_64 seeds; // NOLINT(bugprone-random-generator-seed): the text has its state
    if (!(state >> seeds))
      refuseFile(path_, "the state of a sequence of seeds", "another text");
    return seeds;
  }

private:
  const std::string &path_;
  const std::map<std::string, std::string> &texts_;
};

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
  const std::mt19937_64 seeds = metadata.seeds();
  return {std::move(contents), epoch, step, seeds};
}

void writeCheckpointFile(const std::string &path, CheckpointFile file) {
  std::map<std::string, std::string> &metadata = file.contents.metadata;
  metadata[formatKey] = formatName;
  metadata[versionKey] = formatVersion;
  metadata[epochKey] = std::to_string(file.epoch);
  metadata[stepKey] = std::to_string(file.step);
  metadata[seedsKey] = textOf(file.seeds);
  for (const auto &[name, tensor] : file.contents.tensors)
    metadata[sumKeyOf(name)] = checksumOf(tensor);
  metadata[sumKey] = checksumOfHeader(file.contents);
  writeSafetensors(path, file.contents);
}

} // namespace halftone::detail
