// Quantized dtype policies: a mode over a plain policy.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Policy.h"
#include "runtime/policy/PolicyRep.h"
#include "runtime/policy/PythonText.h"
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <vector>

using namespace halftone;

namespace {

constexpr std::array<std::string_view, 5> quantizationModes{"int8", "float8", "int4", "gptq", "awq"};

struct QuantizedRep final : PolicyAccess::Rep {
  using Rep::Rep;
  std::optional<std::string> quantizationMode() const override { return mode; }
  std::string identity() const override {
    return fmt::format("{} {} {}", className, name, amaxHistoryLength.value_or(0));
  }
  Config config() const override {
    Config config;
    config.set("mode", configMode);
    config.set("source_name", sourceName);
    if (amaxHistoryLength)
      config.set("amax_history_length", *amaxHistoryLength);
    return config;
  }
  bool equals(const Rep &other) const override {
    const auto &that = static_cast<const QuantizedRep &>(other);
    return name == that.name && mode == that.mode && sourceName == that.sourceName &&
           amaxHistoryLength == that.amaxHistoryLength && weightBits == that.weightBits && size == that.size;
  }

  std::string mode, configMode, sourceName; // for example "int4", "int4/128", "float32"
  std::optional<int64_t> amaxHistoryLength;
  int64_t weightBits = 0, size = 0; // size: the size of a block or group of weights
};

/// The parameters after the base mode in "int4/128", "gptq/4/128" and "awq/4/128".
struct ParsedMode {
  std::string base;
  int64_t weightBits = 0, size = 0;
};

[[noreturn]] void failValue(const std::string &message) { throw Error(ErrorKind::value_error, message); }

std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  for (size_t at; (at = text.find(separator)) != text.npos; text.remove_prefix(at + separator.size()))
    parts.push_back(text.substr(0, at));
  parts.push_back(text);
  return parts;
}

ParsedMode parseInt4(const std::string &mode) {
  const auto parts = split(mode, "/");
  if (parts.size() != 2 || parts[0] != "int4")
    failValue(
        fmt::format("Invalid mode for Int4DTypePolicy. Expected format 'int4/<block_size>', but got '{}'.", mode));
  const std::optional<int64_t> block = pythonInteger(parts[1]);
  if (!block)
    failValue(fmt::format("Invalid mode for Int4DTypePolicy. <block_size> must be an integer. Expected format "
                          "'int4/<block_size>', but got '{}'.",
                          mode));
  if (*block == 0 || *block < -1)
    failValue(fmt::format("Invalid block_size in mode. Supported values are -1 (per-channel) or a positive integer "
                          "(sub-channel), but got {} from '{}'.",
                          *block, mode));
  return {"int4", 0, *block};
}

ParsedMode parseBitsAndGroup(const std::string &className, const std::string &base, const std::string &mode) {
  const bool awq = base == "awq";
  const std::string form = base + "/<weight_bits>/<group_size>";
  const auto parts = split(mode, "/");
  if (parts.size() != 3 || parts[0] != base)
    failValue(fmt::format("Invalid mode for {}. Expected format '{}', but got '{}'.", className, form, mode));
  const std::optional<int64_t> bits = pythonInteger(parts[1]), group = pythonInteger(parts[2]);
  if (!bits || !group)
    failValue(fmt::format("Invalid mode for {}. <weight_bits> and <group_size> must be integers. Expected format '{}', "
                          "but got '{}'.",
                          className, form, mode));
  if (awq && *bits != 4)
    failValue(fmt::format("Invalid weight_bits in mode. AWQ only supports 4-bit quantization, but got {} from '{}'.",
                          *bits, mode));
  if (*bits != 2 && *bits != 3 && *bits != 4 && *bits != 8)
    failValue(fmt::format("Invalid weight_bits in mode. Supported values are 2, 3, 4, and 8, but got {} from '{}'.",
                          *bits, mode));
  if (*group == 0 || *group < -1)
    failValue(fmt::format("Invalid group_size in mode. Supported values are -1 ({}) or a positive integer, but got {} "
                          "from '{}'.",
                          awq ? "per-channel" : "whole-tensor", *group, mode));
  return {base, *bits, *group};
}

int64_t checkedHistoryLength(const std::optional<int64_t> &given) {
  const int64_t length = given.value_or(QuantizedFloat8DTypePolicy::default_amax_history_length);
  if (length < 1)
    failValue(fmt::format("`amax_history_length` must be at least 1: it counts the largest magnitudes that are kept. "
                          "Received: amax_history_length={}",
                          length));
  return length;
}

/// Checks in Keras's order: the form of the mode, the source, the mode.
std::shared_ptr<PolicyAccess::Rep> quantizedRep(const std::string &className, const QuantizedPolicyArgs &args) {
  ParsedMode parsed{args.mode};
  if (className == "Int4DTypePolicy")
    parsed = parseInt4(args.mode);
  else if (className == "GPTQDTypePolicy")
    parsed = parseBitsAndGroup(className, "gptq", args.mode);
  else if (className == "AWQDTypePolicy")
    parsed = parseBitsAndGroup(className, "awq", args.mode);

  const std::string source = args.sourceName ? *args.sourceName : dtype_policy().name();
  const auto plain = PolicyAccess::plain("DTypePolicy", source);
  if (std::find(quantizationModes.begin(), quantizationModes.end(), parsed.base) == quantizationModes.end())
    failValue(fmt::format("Invalid quantization mode. Expected one of ('int8', 'float8', 'int4', 'gptq', 'awq'). "
                          "Received: mode={}",
                          parsed.base));
  if (parsed.base == "int8" && plain->compute == DType::float16)
    failValue("Quantization mode='int8' doesn't work well with compute_dtype='float16'.");

  // If the mode contains integers, the policy's name keeps mode and source as the user gave them, `None` for no source.
  std::string name = fmt::format("{}_from_{}", args.mode, source), configMode = args.mode;
  if (parsed.size) {
    configMode = parsed.weightBits ? fmt::format("{}/{}/{}", parsed.base, parsed.weightBits, parsed.size)
                                   : fmt::format("{}/{}", parsed.base, parsed.size);
    name = fmt::format("{}_from_{}", args.mode, args.sourceName.value_or("None"));
  }
  auto rep = std::make_shared<QuantizedRep>(className, name, plain->compute, plain->variable);
  rep->mode = parsed.base;
  rep->configMode = configMode;
  rep->sourceName = source;
  rep->weightBits = parsed.weightBits;
  rep->size = parsed.size;
  if (className == "QuantizedFloat8DTypePolicy")
    rep->amaxHistoryLength = checkedHistoryLength(args.amaxHistoryLength);
  return rep;
}

/// A reference to the base class may have assigned a policy of another class.
const QuantizedRep &fields(const DTypePolicy &policy) {
  if (const auto *rep = dynamic_cast<const QuantizedRep *>(&PolicyAccess::rep(policy)))
    return *rep;
  throw Error(ErrorKind::attribute_error, fmt::format("{} is not a quantized policy", policy.repr()));
}

} // namespace

std::shared_ptr<PolicyAccess::Rep> PolicyAccess::quantized(const std::string &className,
                                                           const QuantizedPolicyArgs &args, Where where) {
  try {
    return quantizedRep(className, args);
  } catch (const Error &error) {
    throw Error(error.kind(), error.message(), error.layer_path(), where);
  }
}

std::optional<DTypePolicy> halftone::quantizedByString(std::string_view text) {
  const auto starts = [&](std::string_view mode) { return text.substr(0, mode.size()) == mode; };
  if (std::none_of(quantizationModes.begin(), quantizationModes.end(), starts))
    return std::nullopt;
  const auto parts = split(text, "_from_");
  if (parts.size() != 2)
    failValue(fmt::format("Cannot convert `policy` into a valid pair (`mode`, `source_name`) to instantiate "
                          "`QuantizedDTypePolicy`. Received: policy={}",
                          text));
  const std::string mode(parts[0]), source(parts[1]);
  const char *className = "QuantizedDTypePolicy";
  if (starts("int4") && mode.find('/') != mode.npos)
    className = "Int4DTypePolicy";
  else if (starts("float8"))
    className = "QuantizedFloat8DTypePolicy";
  else if (starts("gptq"))
    className = "GPTQDTypePolicy";
  else if (starts("awq"))
    className = "AWQDTypePolicy";
  return PolicyAccess::make(PolicyAccess::quantized(className, {.mode = mode, .sourceName = source}));
}

QuantizedDTypePolicy::QuantizedDTypePolicy(std::string_view mode, std::optional<std::string> source_name, Where where)
    : DTypePolicy(PolicyAccess::quantized("QuantizedDTypePolicy",
                                          {.mode = std::string(mode), .sourceName = std::move(source_name)}, where)) {}

QuantizedFloat8DTypePolicy::QuantizedFloat8DTypePolicy(std::string_view mode, std::optional<std::string> source_name,
                                                       Where where)
    : QuantizedFloat8DTypePolicy(default_amax_history_length, mode, std::move(source_name), where) {}
QuantizedFloat8DTypePolicy::QuantizedFloat8DTypePolicy(int64_t length, std::string_view mode,
                                                       std::optional<std::string> source_name, Where where)
    : QuantizedDTypePolicy(PolicyAccess::quantized(
          "QuantizedFloat8DTypePolicy",
          {.mode = std::string(mode), .sourceName = std::move(source_name), .amaxHistoryLength = length}, where)) {}
int64_t QuantizedFloat8DTypePolicy::amax_history_length() const {
  return fields(*this).amaxHistoryLength.value_or(default_amax_history_length);
}

Int4DTypePolicy::Int4DTypePolicy(std::string_view mode, std::optional<std::string> source_name, Where where)
    : QuantizedDTypePolicy(PolicyAccess::quantized(
          "Int4DTypePolicy", {.mode = std::string(mode), .sourceName = std::move(source_name)}, where)) {}
int64_t Int4DTypePolicy::block_size() const { return fields(*this).size; }

GPTQDTypePolicy::GPTQDTypePolicy(std::string_view mode, std::optional<std::string> source_name, Where where)
    : QuantizedDTypePolicy(PolicyAccess::quantized(
          "GPTQDTypePolicy", {.mode = std::string(mode), .sourceName = std::move(source_name)}, where)) {}
int64_t GPTQDTypePolicy::weight_bits() const { return fields(*this).weightBits; }
int64_t GPTQDTypePolicy::group_size() const { return fields(*this).size; }

AWQDTypePolicy::AWQDTypePolicy(std::string_view mode, std::optional<std::string> source_name, Where where)
    : QuantizedDTypePolicy(PolicyAccess::quantized(
          "AWQDTypePolicy", {.mode = std::string(mode), .sourceName = std::move(source_name)}, where)) {}
int64_t AWQDTypePolicy::weight_bits() const { return fields(*this).weightBits; }
int64_t AWQDTypePolicy::group_size() const { return fields(*this).size; }
