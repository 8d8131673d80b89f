// Quantization of layers and models, with a report.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/ProgressBar.h"
#include "frontend/graph/Variables.h"
#include "frontend/layers/LayerImpl.h"
#include "frontend/layers/QuantizedModes.h"
#include "frontend/training/ModelState.h"
#include "runtime/base/FloatMode.h"
#include "runtime/policy/PathPattern.h"
#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <ostream>

namespace halftone {
using namespace detail;

namespace quantizers {

Int8QuantizationConfig::Int8QuantizationConfig(bool quantizes_activations)
    : QuantizationConfig{.mode = "int8", .quantizes_activations = quantizes_activations} {}
Int4QuantizationConfig::Int4QuantizationConfig(std::optional<int64_t> block_size, bool quantizes_activations)
    : QuantizationConfig{
          .mode = "int4", .quantizes_activations = quantizes_activations, .block_size = block_size.value_or(-1)} {
  if (QuantizationConfig::block_size != -1 && QuantizationConfig::block_size <= 0)
    throw Error(ErrorKind::value_error,
                fmt::format("block_size must be None, -1, or a positive integer. Received: block_size={}",
                            QuantizationConfig::block_size));
  if (quantizes_activations && QuantizationConfig::block_size > 0)
    throw Error(ErrorKind::value_error,
                fmt::format("Int4 sub-channel quantization (block_size > 0) does not quantize activations: block_size "
                            "must be None or -1 then. Received: block_size={}",
                            QuantizationConfig::block_size));
}
Float8QuantizationConfig::Float8QuantizationConfig() : QuantizationConfig{.mode = "float8"} {}

} // namespace quantizers

QuantizeFilter::QuantizeFilter(std::function<bool(const Layer &)> picks) : picks_(std::move(picks)) {
  if (!picks_)
    throw Error(ErrorKind::value_error, "a QuantizeFilter needs a function; received an empty one");
}
QuantizeFilter::QuantizeFilter(std::initializer_list<std::string> patterns)
    : picks_([compiled = std::vector<PathPattern>(patterns.begin(), patterns.end())](const Layer &layer) {
        return std::ranges::any_of(compiled, [&](const PathPattern &each) { return each.occursIn(layer.name()); });
      }) {}

namespace {

constexpr const char *modeNames = "('int8', 'float8', 'int4', 'gptq', 'awq')";

[[noreturn]] void fail(ErrorKind kind, const LayerImpl &layer, const std::string &message) {
  throw Error(kind, message, layer.path.empty() ? layer.name : layer.path, layer.where);
}

/// The config that Keras derives from both arguments of quantize().
QuantizationConfig configOf(const std::string &mode, const QuantizationConfig &given, const LayerImpl &layer) {
  const std::string &wanted = mode.empty() ? given.mode : mode;
  if (wanted.empty())
    fail(ErrorKind::value_error, layer, "You must provide either `mode` or `config` to `quantize`.");
  if (given.defined() && given.mode != wanted)
    fail(ErrorKind::value_error, layer,
         fmt::format("Contradictory arguments: mode='{}' but config.mode='{}'", wanted, given.mode));
  if (wanted == "gptq" || wanted == "awq")
    fail(ErrorKind::value_error, layer,
         fmt::format("For {0}, you must pass {1} `{0}Config` object in the `config` argument: it needs calibration "
                     "data, which is not supported here",
                     wanted == "gptq" ? "GPTQ" : "AWQ", wanted == "gptq" ? "a" : "an"));
  if (wanted == "int8")
    return given.defined() ? given : quantizers::Int8QuantizationConfig();
  if (wanted == "int4")
    return given.defined() ? given : quantizers::Int4QuantizationConfig();
  if (wanted == "float8")
    return quantizers::Float8QuantizationConfig();
  fail(ErrorKind::value_error, layer,
       fmt::format("Invalid quantization mode. Expected one of {}. Received: mode={}", modeNames, wanted));
}

/// Keras's validation of a layer or a model before it selects a way to quantize it.
void requireQuantizable(const LayerImpl &layer, const std::string &mode) {
  if (!layer.built)
    fail(ErrorKind::value_error, layer,
         fmt::format("Cannot quantize a layer that isn't yet built. Layer '{}' (of type '{}') is not built yet.",
                     layer.name, layer.className));
  const DTypePolicy policy = layer.resolvedPolicy();
  if (policy.quantization_mode())
    fail(ErrorKind::value_error, layer,
         fmt::format("Layer '{}' is already quantized with dtype_policy='{}'. Received: mode={}", layer.name,
                     policy.name(), mode));
  if (mode == "int8" && policy.compute_dtype() == DType::float16)
    fail(
        ErrorKind::value_error, layer,
        fmt::format("{} Consider loading model/layer with another dtype policy such as 'mixed_bfloat16' before calling "
                    "`quantize()`.",
                    narrowWithInt8));
}

DTypePolicy quantizedPolicy(const LayerImpl &layer, const QuantizationConfig &config) {
  const std::string mode = config.mode == "int4" ? fmt::format("int4/{}", config.block_size) : config.mode;
  return dtype_policies::get(fmt::format("{}_from_{}", mode, layer.resolvedPolicy().name()));
}

void quantizeOne(const Layer &layer, const QuantizationConfig &config, QuantizationReport &report) {
  const DTypePolicy policy = quantizedPolicy(*layer.impl(), config);
  layer.impl()->quantize(config);
  layer.set_dtype_policy(policy);
  report.quantized.push_back({layer.path(), config.mode, policy.name()});
}

/// The reason why a model's quantize() skips a layer; "" if it does not. Throws for a layer that aborts the model's
/// quantize().
std::string reasonToSkip(const Layer &layer, const QuantizationConfig &config, const QuantizeFilter &filter) {
  if (!filter(layer))
    return "filtered out";
  if (layer.quantization_mode())
    return "already quantized";
  requireQuantizable(*layer.impl(), config.mode);
  if (layer.impl()->body->quantizes(config.mode))
    return "";
  const LayerMode mode = modeOf(*layer.impl());
  return mode.hasLora ? refusalOfMode(mode, config.mode).message : "no quantize support";
}

QuantizationReport quantizeModel(const Layer &model, const QuantizationConfig &config, const QuantizeArgs &args) {
  QuantizationReport report{.mode = config.mode};
  std::vector<Layer> chosen;
  for (const Layer &layer : computingLayers(model)) {
    std::string reason = reasonToSkip(layer, config, args.filters);
    if (reason.empty())
      chosen.push_back(layer);
    else
      report.skipped.push_back({layer.path().empty() ? layer.name() : layer.path(), std::move(reason)});
  }
  for (const Layer &layer : chosen)
    quantizeOne(layer, config, report);
  if (args.verbose)
    writeOutput(report.text());
  return report;
}

} // namespace

QuantizationReport Layer::quantize(std::string_view mode, const QuantizeArgs &args) const {
  const FloatMode floatMode;
  const QuantizationConfig config = configOf(std::string(mode), args.config, *impl_);
  requireQuantizable(*impl_, config.mode);
  if (impl_->model)
    return quantizeModel(*this, config, args);
  if (!impl_->body->quantizes(config.mode))
    refuseMode(*impl_, config.mode);
  QuantizationReport report{.mode = config.mode};
  quantizeOne(*this, config, report);
  return report;
}

std::string QuantizationReport::text() const {
  std::string text = fmt::format("Quantization report (mode='{}')\n{:=<65}\n", mode, "");
  text += fmt::format("Quantized {} layer(s):\n", quantized.size());
  for (const Done &done : quantized)
    text += fmt::format("  - {} ({}): {}\n", done.path, done.mode, done.policy);
  if (skipped.empty())
    return text;
  text += fmt::format("Skipped {} layer(s):\n", skipped.size());
  for (const Skipped &each : skipped)
    text += fmt::format("  - {}: {}\n", each.path, each.reason);
  return text;
}

std::string QuantizationReport::json() const {
  using Json = nlohmann::ordered_json;
  Json done = Json::array(), left = Json::array();
  for (const Done &each : quantized)
    done.push_back({{"path", each.path}, {"mode", each.mode}, {"policy", each.policy}});
  for (const Skipped &each : skipped)
    left.push_back({{"path", each.path}, {"reason", each.reason}});
  return Json{{"mode", mode}, {"quantized", std::move(done)}, {"skipped", std::move(left)}}.dump();
}

std::ostream &operator<<(std::ostream &os, const QuantizationReport &report) { return os << report.text(); }

} // namespace halftone
