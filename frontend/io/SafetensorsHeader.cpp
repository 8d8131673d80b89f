// Reads and checks the headers of safetensors files. Memory and time depend only on the size of the header.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/RefuseFile.h"
#include "frontend/io/Safetensors.h"
#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

namespace halftone::detail {

namespace {

struct Kind {
  DType dtype;
  std::string_view name;
};
constexpr Kind kinds[] = {{DType::bool_, "BOOL"},          {DType::uint8, "U8"},    {DType::int8, "I8"},
                          {DType::float8_e5m2, "F8_E5M2"}, {DType::uint16, "U16"},  {DType::float8_e4m3fn, "F8_E4M3"},
                          {DType::int16, "I16"},           {DType::float16, "F16"}, {DType::uint32, "U32"},
                          {DType::bfloat16, "BF16"},       {DType::int32, "I32"},   {DType::float32, "F32"},
                          {DType::uint64, "U64"},          {DType::int64, "I64"},   {DType::float64, "F64"},
                          {DType::complex64, "C64"}};

std::string dtypeNames() {
  std::string names;
  for (const Kind &kind : kinds)
    names += (names.empty() ? "" : ", ") + std::string(kind.name);
  return names;
}

/// A SAX handler for the header. The text is an object of objects, so nothing deeper is ever stored.
class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
public:
  explicit HeaderReader(const std::string &path) : path_(path) {}
  SafetensorsHeader header;

  bool null() override {
    if (state_ == State::entryStart && key_ == "__metadata__") {
      beginMetadata();
      state_ = State::top;
      return true;
    }
    return skipped("null");
  }
  bool boolean(bool) override { return skipped("a bool"); }
  bool number_float(number_float_t, const string_t &) override { return skipped("a number with a fraction"); }
  bool binary(binary_t &) override { refuse(expected(), "binary data"); }
  bool number_integer(number_integer_t value) override {
    return skipped(fmt::format("the number {}", value)); // negative
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (state_ == State::unknown)
      return skipped("");
    if (!arrayOpen_ || value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      refuse(expected(), fmt::format("the number {}", value));
    if (state_ == State::shape && entry().dims.size() == maxAxes)
      refuse(fmt::format("at most {} dimensions for {}", maxAxes, quotedName(entry().name)), "more");
    if (state_ == State::offsets && offsets_ == 2)
      refuse(expected(), "more than two numbers");
    if (state_ == State::shape)
      entry().dims.push_back(static_cast<int64_t>(value));
    else
      (offsets_++ == 0 ? entry().begin : entry().end) = static_cast<int64_t>(value);
    return true;
  }
  bool string(string_t &value) override {
    if (state_ == State::unknown)
      return skipped("");
    if (state_ == State::metadataValue) {
      if (header.metadata.size() == maxTexts)
        refuse(fmt::format("at most {} texts in __metadata__", maxTexts), "more");
      if (!header.metadata.emplace(key_, value).second)
        refuse("metadata with unique names", fmt::format("{} twice", quotedName(key_)));
      state_ = State::metadata;
      return true;
    }
    if (state_ != State::dtype)
      refuse(expected(), fmt::format("the text {}", quotedName(value)));
    const auto *kind = std::find_if(std::begin(kinds), std::end(kinds), [&](const Kind &k) { return k.name == value; });
    if (kind == std::end(kinds))
      refuse(fmt::format("a dtype of {} for {}", dtypeNames(), quotedName(entry().name)), quotedName(value));
    entry().dtype = kind->dtype;
    state_ = State::entry;
    return true;
  }
  bool start_object(size_t) override {
    if (state_ == State::unknown)
      ++depth_;
    else if (state_ == State::start)
      state_ = State::top;
    else if (state_ == State::entryStart && key_ == "__metadata__") {
      beginMetadata();
    } else if (state_ == State::entryStart) {
      if (header.tensors.size() == maxTensors)
        refuse(fmt::format("at most {} tensors", maxTensors), "more");
      header.tensors.push_back({.name = key_, .dims = {}});
      seen_ = {};
      offsets_ = 0;
      state_ = State::entry;
    } else
      refuse(expected(), "an object");
    return true;
  }
  bool key(string_t &value) override {
    if (state_ == State::unknown)
      return true;
    if (state_ == State::entry)
      beginField(value);
    else
      state_ = state_ == State::metadata ? State::metadataValue : State::entryStart;
    key_ = value;
    return true;
  }
  bool end_object() override {
    if (state_ == State::unknown)
      return leaveUnknown();
    if (state_ == State::entry && !(seen_[0] && seen_[1] && seen_[2]))
      refuse(fmt::format("dtype, shape and data_offsets for {}", quotedName(entry().name)), "fewer fields");
    state_ = state_ == State::top ? State::end : State::top;
    return true;
  }
  bool start_array(size_t) override {
    if (state_ == State::unknown) {
      ++depth_;
      return true;
    }
    if ((state_ != State::shape && state_ != State::offsets) || arrayOpen_)
      refuse(expected(), "a list");
    arrayOpen_ = true;
    return true;
  }
  bool end_array() override {
    if (state_ == State::unknown)
      return leaveUnknown();
    if (state_ == State::offsets && offsets_ != 2)
      refuse(expected(), fmt::format("{} numbers", offsets_));
    arrayOpen_ = false;
    state_ = State::entry;
    return true;
  }
  bool parse_error(size_t position, const std::string &, const nlohmann::detail::exception &) override {
    refuse("a header in JSON", fmt::format("unexpected text at byte {} of the header", position));
  }

private:
  enum class State { start, top, metadata, metadataValue, entryStart, entry, dtype, shape, offsets, unknown, end };

  SafetensorsEntry &entry() { return header.tensors.back(); }
  [[noreturn]] void refuse(const std::string &expected, const std::string &found) const {
    refuseFile(path_, expected, found);
  }
  void beginMetadata() {
    if (std::exchange(hasMetadata_, true))
      refuse("one __metadata__", "another one");
    state_ = State::metadata;
  }
  /// Accepts a number or a text in a field that is ignored; anywhere else rejects `found`.
  bool skipped(const std::string &found) {
    if (state_ != State::unknown)
      refuse(expected(), found);
    if (depth_ == 0)
      state_ = State::entry;
    return true;
  }
  bool leaveUnknown() {
    if (--depth_ == 0)
      state_ = State::entry;
    return true;
  }
  void beginField(const std::string &name) {
    constexpr std::array<std::string_view, 3> names = {"dtype", "shape", "data_offsets"};
    constexpr State states[] = {State::dtype, State::shape, State::offsets};
    const auto found = static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
    if (found == names.size()) { // ignores unknown fields, as the reference library does
      state_ = State::unknown;
      return;
    }
    if (seen_[found])
      refuse(fmt::format("dtype, shape and data_offsets, each once, for {}", quotedName(entry().name)),
             quotedName(name));
    seen_[found] = true;
    state_ = states[found];
  }
  std::string expected() const {
    const std::string of = header.tensors.empty() ? "" : fmt::format(" for {}", quotedName(header.tensors.back().name));
    switch (state_) {
    case State::start:
      return "a header that is an object";
    case State::metadata:
    case State::metadataValue:
      return "texts in __metadata__";
    case State::dtype:
      return "the text of a dtype" + of;
    case State::shape:
      return "a list of extents from 0 to 2^63 - 1 as shape" + of;
    case State::offsets:
      return "a list of two numbers from 0 to 2^63 - 1 as data_offsets" + of;
    default:
      return fmt::format("an object for {}", quotedName(key_));
    }
  }

  const std::string &path_;
  State state_ = State::start;
  std::string key_;
  std::array<bool, 3> seen_{};
  int offsets_ = 0;
  int64_t depth_ = 0; // nesting depth of lists and objects within an unknown field
  bool arrayOpen_ = false, hasMetadata_ = false;
};

/// The byte size of dtype and dims. nullopt if the elements or their bits exceed 2^64 - 1, even before a dim of 0, as
/// in the reference library.
std::optional<int64_t> bytesOf(const SafetensorsEntry &entry) {
  uint64_t elements = 1, bits = 0;
  for (const int64_t dim : entry.dims)
    if (__builtin_mul_overflow(elements, static_cast<uint64_t>(dim), &elements))
      return std::nullopt;
  if (__builtin_mul_overflow(elements, static_cast<uint64_t>(itemsize(entry.dtype)) * 8, &bits))
    return std::nullopt;
  return static_cast<int64_t>(bits / 8);
}

void checkNames(const std::string &path, const std::vector<SafetensorsEntry> &tensors) {
  std::vector<std::string_view> names;
  for (const SafetensorsEntry &entry : tensors)
    names.push_back(entry.name);
  std::sort(names.begin(), names.end());
  if (const auto twice = std::adjacent_find(names.begin(), names.end()); twice != names.end())
    refuseFile(path, "tensors with unique names", fmt::format("{} twice", quotedName(std::string(*twice))));
}

void checkRanges(const std::string &path, const std::vector<SafetensorsEntry> &tensors, int64_t dataBytes) {
  std::vector<const SafetensorsEntry *> byOffset;
  for (const SafetensorsEntry &entry : tensors) {
    const std::optional<int64_t> bytes = bytesOf(entry);
    const std::string range = fmt::format("the range {} to {}", entry.begin, entry.end);
    if (entry.begin > entry.end || entry.end > dataBytes)
      refuseFile(path, fmt::format("a range within {} bytes of data for {}", dataBytes, quotedName(entry.name)), range);
    if (bytes != entry.end - entry.begin)
      refuseFile(path,
                 fmt::format("{} bytes for {} of shape {} in {}", bytes ? std::to_string(*bytes) : "more than 2^61",
                             quotedName(entry.name), Shape(entry.dims).str(), name(entry.dtype)),
                 range);
    byOffset.push_back(&entry);
  }
  const auto key = [](const SafetensorsEntry *entry) { return std::pair(entry->begin, entry->end); };
  std::sort(byOffset.begin(), byOffset.end(), [&](const auto *a, const auto *b) { return key(a) < key(b); });
  int64_t at = 0;
  for (const SafetensorsEntry *entry : byOffset) {
    if (entry->begin != at)
      refuseFile(path, fmt::format("contiguous tensors: one that begins at byte {} of the data", at),
                 fmt::format("{}, which begins at {}", quotedName(entry->name), entry->begin));
    at = entry->end;
  }
  if (at != dataBytes)
    refuseFile(path, fmt::format("{} bytes of data, as the header declares", at), fmt::format("{} bytes", dataBytes));
}

} // namespace

std::string_view safetensorsName(DType dtype) {
  const auto *kind = std::find_if(std::begin(kinds), std::end(kinds), [&](const Kind &k) { return k.dtype == dtype; });
  return kind == std::end(kinds) ? std::string_view() : kind->name;
}

std::string quotedName(const std::string &name) {
  constexpr size_t longest = 80;
  const std::string text = nlohmann::json(name).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  return text.size() <= longest ? text : fmt::format("{}...\" ({} bytes)", text.substr(0, longest), name.size());
}

SafetensorsHeader parseSafetensorsHeader(const std::string &path, std::string_view text, int64_t dataBytes) {
  if (text.starts_with("\xef\xbb\xbf"))
    refuseFile(path, "a header in JSON", "a byte order mark");
  if (const size_t zero = text.find('\0'); zero != text.npos) // where the JSON library would stop
    refuseFile(path, "a header in JSON", fmt::format("a zero byte at byte {} of the header", zero));
  HeaderReader reader(path);
  nlohmann::json::sax_parse(text.begin(), text.end(), &reader);
  checkNames(path, reader.header.tensors);
  checkRanges(path, reader.header.tensors, dataBytes);
  return std::move(reader.header);
}

} // namespace halftone::detail
