// Measures the error and speed of layers under quantization modes, and suggests which of them to quantize.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/training/Calibration.h"
#include "frontend/base/ProgressBar.h"
#include "frontend/layers/CallProbe.h"
#include "frontend/layers/InitialZeros.h"
#include "frontend/layers/LayerImpl.h"
#include "frontend/layers/QuantizedModes.h"
#include "frontend/training/Trainer.h"
#include "halftone/Layers.h"
#include "runtime/TensorTypes.h"
#include "runtime/base/ConfigAccess.h"
#include "runtime/base/Extents.h"
#include "runtime/base/FloatMode.h"
#include "runtime/devices/StepTimes.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

namespace halftone {
using namespace detail;

std::vector<WatchedLayer> detail::watchedCalls(const Model &model, const std::vector<Layer> &layers, const Tensors &x) {
  std::vector<WatchedLayer> watched;
  for (const Layer &layer : layers)
    watched.push_back({layer});
  std::vector<const LayerImpl *> order; // of the fetches
  CompiledFunction function({.name = model.name() + "/calibration"}, {},
                            [&](Trace &, const std::vector<Value> &feeds, const FeedLayout &) {
                              const TrainingScope training(false);
                              const CallProbe probe(layers);
                              (void)model.impl()->callTraced(feeds);
                              std::vector<CompiledFunction::Named> fetches;
                              order.clear();
                              for (const auto &[layer, input] : probe.inputs()) {
                                fetches.push_back({fmt::format("input{}", fetches.size()), input});
                                order.push_back(layer);
                              }
                              return fetches;
                            });
  const std::vector<Tensor> inputs = function.run(orderedInputs(model, x));
  std::map<const LayerImpl *, size_t> indices;
  for (size_t i = 0; i < layers.size(); ++i)
    indices[layers[i].impl().get()] = i;
  for (size_t i = 0; i < inputs.size(); ++i)
    watched[indices.at(order[i])].inputs.push_back(inputs[i]);
  return watched;
}

Layer detail::copiedAlone(const WatchedLayer &watched, const std::string &policy) {
  nlohmann::ordered_json object = ConfigAccess::json(layers::serialize(watched.layer));
  object["config"]["dtype"] = policy;
  const Layer copy = [&] {
    const InitialZeros zeros;
    Layer made = layers::deserialize(ConfigAccess::make(std::move(object)));
    std::vector<int64_t> dims = watched.inputs.at(0).shape().dims();
    dims.at(0) = -1;
    made.impl()->build({Shape(dims)});
    return made;
  }();
  copy.set_weights(watched.layer.get_weights());
  return copy;
}

namespace {

using Row = CalibrationReport::Row;

constexpr std::array<std::string_view, 3> measurable = {"int8", "int4", "float8"};

std::vector<double> elementsOf(const Tensor &tensor) { return tensor.astype(DType::float64).to_vector<double>(); }

double largestOf(const std::vector<Tensor> &tensors) {
  double largest = 0.0;
  for (const Tensor &tensor : tensors)
    for (const double element : elementsOf(tensor))
      largest = std::max(largest, std::abs(element));
  return largest;
}

/// Sums of squares per channel, of outputs and of their errors.
class Noise {
public:
  void add(const Tensor &expected, const Tensor &found) {
    const std::vector<double> right = elementsOf(expected), wrong = elementsOf(found);
    const size_t channels = expected.shape().rank() > 0 ? static_cast<size_t>(expected.shape()[-1]) : 1;
    signals_.resize(channels);
    errors_.resize(channels);
    for (size_t i = 0; i < right.size(); ++i) {
      signals_[i % channels] += right[i] * right[i];
      errors_[i % channels] += (wrong[i] - right[i]) * (wrong[i] - right[i]);
    }
  }
  void writeTo(Row &row) const {
    const auto sum = [](const std::vector<double> &terms) { return std::accumulate(terms.begin(), terms.end(), 0.0); };
    row.signal_to_noise = row.worst_signal_to_noise = decibels(sum(signals_), sum(errors_));
    for (size_t c = 0; c < signals_.size(); ++c)
      if (const double own = decibels(signals_[c], errors_[c]);
          c == 0 || own < row.worst_signal_to_noise || (std::isnan(own) && !std::isnan(row.worst_signal_to_noise))) {
        row.worst_channel = static_cast<int64_t>(c);
        row.worst_signal_to_noise = own;
      }
  }

private:
  static double decibels(double signal, double error) {
    return error == 0.0 ? std::numeric_limits<double>::infinity() : 10.0 * std::log10(signal / error);
  }
  std::vector<double> signals_, errors_;
};

int64_t bytesOf(const Layer &layer) {
  int64_t bytes = 0;
  for (const Variable &variable : layer.weights())
    bytes = extentSum(bytes, extentProduct(variable.shape().elements(), itemsize(variable.dtype())));
  return bytes;
}

/// The duration in seconds of a call on these inputs, in a separate program; none if the device cannot be measured.
std::optional<double> secondsOf(const Layer &layer, const std::vector<Tensor> &inputs) {
  double seconds = 0.0;
  CompiledFunction function(
      {.name = layer.name()}, {}, [&](Trace &, const std::vector<Value> &feeds, const FeedLayout &) {
        return std::vector<CompiledFunction::Named>{{"output", layer.impl()->callTraced(feeds).at(0)}};
      });
  for (const Tensor &input : inputs) {
    const StatusOr<StepTimes> times = measureSteps(*function.player(typesOf(std::array{input})));
    if (!times.isOk())
      return std::nullopt;
    seconds += times->total;
  }
  return seconds;
}

/// Sets the scales of a float8 layer to those that steps with these inputs would produce.
void setFloat8Scales(const Layer &layer, const std::vector<Tensor> &inputs) {
  constexpr double most = 448.0; // of float8_e4m3fn
  const auto put = [&](const char *name, double largest) {
    for (const Variable &variable : layer.weights())
      if (variable.name() == name && largest > 0 && std::isfinite(largest))
        variable.assign(Tensor::full({}, largest / most));
  };
  put("inputs_scale", largestOf(inputs));
  for (const Variable &variable : layer.weights())
    if (variable.name() == "kernel")
      put("kernel_scale", largestOf({variable.value()}));
}

class LayerTrial {
public:
  LayerTrial(const WatchedLayer &watched, bool isTimed)
      : watched_(watched), policy_(watched.layer.impl()->resolvedPolicy().name()), isTimed_(isTimed),
        floats_(copiedAlone(watched, "float32")) {
    for (const Tensor &input : watched_.inputs)
      expected_.push_back(floats_(input));
    if (isTimed_)
      floatSeconds_ = secondsOf(copiedAlone(watched_, policy_), watched_.inputs);
  }
  Row row(const std::string &mode) const {
    const Layer layer = copiedAlone(watched_, policy_);
    (void)layer.quantize(mode);
    if (mode == "float8")
      setFloat8Scales(layer, watched_.inputs);
    Row row{.path = watched_.layer.path(), .class_name = watched_.layer.class_name(), .mode = mode};
    Noise noise;
    for (size_t i = 0; i < expected_.size(); ++i)
      noise.add(expected_[i], layer(watched_.inputs[i]));
    noise.writeTo(row);
    row.bytes = bytesOf(layer);
    row.float_bytes = bytesOf(watched_.layer);
    row.float_seconds = floatSeconds_;
    if (floatSeconds_)
      row.seconds = secondsOf(layer, watched_.inputs);
    return row;
  }

private:
  const WatchedLayer &watched_;
  std::string policy_;
  bool isTimed_;
  Layer floats_;
  std::vector<Tensor> expected_;
  std::optional<double> floatSeconds_;
};

int64_t samplesOf(const Model &model, const Tensors &x) {
  const int64_t samples = x.empty() || x[0].shape().rank() == 0 ? 0 : x[0].shape()[0];
  if (!model.built())
    throw Error(
        ErrorKind::value_error,
        fmt::format("quantization_report() needs a built model: call '{}' on data, or give it an Input", model.name()),
        model.name());
  if (samples == 0)
    throw Error(ErrorKind::value_error, "quantization_report() needs data: x has 0 samples", model.name());
  return samples;
}

/// The layers covered by a report; `skipped` gets the others and the reason.
std::vector<Layer> chosenLayers(const Model &model, const CalibrationArgs &args,
                                std::vector<QuantizationReport::Skipped> &skipped) {
  std::vector<Layer> chosen;
  for (const Layer &layer : computingLayers(model)) {
    const bool isMeasured =
        std::ranges::any_of(args.modes, [&](const std::string &mode) { return layer.impl()->body->quantizes(mode); });
    const char *reason = !args.filters(layer)        ? "filtered out"
                         : layer.quantization_mode() ? "already quantized"
                         : !isMeasured               ? "no quantize support"
                                                     : "";
    if (*reason)
      skipped.push_back({layer.path().empty() ? layer.name() : layer.path(), reason});
    else
      chosen.push_back(layer);
  }
  return chosen;
}

/// The reason why a quantizable layer has no row for this mode; "" if it has.
std::string reasonWithoutMode(const Layer &layer, const std::string &mode) {
  if (!layer.impl()->body->quantizes(mode))
    return "no quantize support";
  const bool isNarrow = layer.compute_dtype() == DType::float16;
  return mode == "int8" && isNarrow ? narrowWithInt8 : "";
}

} // namespace

CalibrationReport Model::quantization_report(const Tensors &x, const CalibrationArgs &args) const {
  const FloatMode floatMode;
  const Model model = *this;
  for (const std::string &mode : args.modes)
    if (std::ranges::find(measurable, mode) == measurable.end())
      throw Error(
          ErrorKind::value_error,
          fmt::format("Invalid quantization mode. Expected one of ('int8', 'int4', 'float8'). Received: mode={}", mode),
          model.name());
  CalibrationReport report{.model = model.name(), .samples = samplesOf(model, x)};
  const std::vector<Layer> layers = chosenLayers(model, args, report.skipped);
  for (const WatchedLayer &watched : watchedCalls(model, layers, x)) {
    if (watched.inputs.empty()) {
      report.skipped.push_back({watched.layer.path(), "not called"});
      continue;
    }
    std::optional<LayerTrial> trial;
    try {
      trial.emplace(watched, args.time_layers);
    } catch (const Error &error) { // not representable in a config, such as one with a function as its activation
      report.skipped.push_back({watched.layer.path(), error.message()});
      continue;
    }
    for (const std::string &mode : args.modes)
      if (const std::string reason = reasonWithoutMode(watched.layer, mode); reason.empty())
        report.rows.push_back(trial->row(mode));
      else
        report.skipped.push_back({watched.layer.path(), fmt::format("{}: {}", mode, reason)});
  }
  return report;
}

namespace {

/// Evaluates losses of copies of a model, each under another map.
class MapTrials {
public:
  MapTrials(const Model &model, const Tensors &x, const Tensors &y, int64_t batchSize)
      : model_(model), compiled_(compiledOf(model, "calling `suggest_policy_map()`")), x_(x), y_(y),
        batchSize_(batchSize) {}
  /// `map`: none for the unchanged model.
  double loss(const std::optional<DTypePolicyMap> &map) const {
    const Model copy = clone_model(model_);
    copy.set_weights(model_.get_weights());
    if (map)
      (void)copy.apply_policy(*map);
    copy.compile({.optimizer = "sgd",
                  .loss = compiled_->args.loss,
                  .loss_weights = compiled_->args.loss_weights,
                  .auto_scale_loss = false,
                  .device = compiled_->args.device,
                  .numerics = compiled_->args.numerics});
    return copy.evaluate(x_, y_, {.batch_size = batchSize_, .verbose = 0})["loss"];
  }

private:
  Model model_;
  std::shared_ptr<CompiledModel> compiled_;
  Tensors x_, y_;
  int64_t batchSize_;
};

/// The model's current policies, one of them as the default, and those of `quantized` under the mode.
DTypePolicyMap mapOf(const Model &model, const std::set<std::string> &quantized, const std::string &mode) {
  const std::vector<Layer> layers = computingLayers(model);
  std::map<std::string, int64_t> counts;
  for (const Layer &layer : layers)
    ++counts[layer.impl()->resolvedPolicy().name()];
  const auto most = std::ranges::max_element(counts, {}, [](const auto &each) { return each.second; });
  const std::string common = most == counts.end() ? model.impl()->resolvedPolicy().name() : most->first;
  DTypePolicyMap map(common);
  for (const Layer &layer : layers) {
    const std::string policy = layer.impl()->resolvedPolicy().name();
    const bool isQuantized = quantized.contains(layer.path());
    if ((isQuantized || policy != common) && !map.contains(layer.path()))
      map.insert(layer.path(),
                 isQuantized ? fmt::format("{}_from_{}", mode == "int4" ? "int4/128" : mode, policy) : policy);
  }
  return map;
}

/// Reports the layers that the mode could quantize under another policy. value_error if there are no others.
void requireMeasured(const Model &model, const CalibrationReport &report, const std::string &mode) {
  const std::string reason = fmt::format("{}: {}", mode, narrowWithInt8);
  std::vector<std::string> paths;
  for (const QuantizationReport::Skipped &each : report.skipped)
    if (each.reason == reason)
      paths.push_back(each.path);
  if (paths.empty())
    return;
  if (report.rows.empty())
    throw Error(ErrorKind::value_error,
                fmt::format("suggest_policy_map() cannot quantize any layer. {}", narrowWithInt8), model.name());
  writeOutput(fmt::format("warning: suggest_policy_map() leaves out {}. {}\n", fmt::join(paths, ", "), narrowWithInt8));
}

} // namespace

DTypePolicyMap Model::suggest_policy_map(const Tensors &x, const Tensors &y, const SuggestArgs &args) const {
  const FloatMode floatMode;
  const Model model = *this;
  if (args.mode != "int8" && args.mode != "int4")
    throw Error(ErrorKind::value_error,
                fmt::format("suggest_policy_map() measures losses without training, for 'int8' and 'int4'. Received: "
                            "mode={}",
                            args.mode),
                model.name());
  if (!(args.max_loss_increase >= 0.0))
    throw Error(
        ErrorKind::value_error,
        fmt::format("`max_loss_increase` must not be negative. Received: max_loss_increase={}", args.max_loss_increase),
        model.name());
  const MapTrials trials(model, x, y, args.batch_size);
  const CalibrationReport report =
      model.quantization_report(x, {.modes = {args.mode}, .filters = args.filters, .time_layers = false});
  requireMeasured(model, report, args.mode);
  std::vector<Row> rows = report.rows;
  std::ranges::sort(rows, {}, [](const Row &row) {
    const bool isBad = std::isnan(row.signal_to_noise);
    return std::tuple(isBad, isBad ? 0.0 : -row.signal_to_noise, row.path);
  });
  const double present = trials.loss({}), most = present + args.max_loss_increase * std::abs(present);
  std::vector<std::string> paths;
  for (const Row &row : rows)
    paths.push_back(row.path);
  DTypePolicyMap all = mapOf(model, {paths.begin(), paths.end()}, args.mode);
  if (trials.loss(all) <= most)
    return all;
  std::set<std::string> kept;
  for (const std::string &path : paths) {
    kept.insert(path);
    if (!(trials.loss(mapOf(model, kept, args.mode)) <= most))
      kept.erase(path);
  }
  return mapOf(model, kept, args.mode);
}

} // namespace halftone
