// Reads and writes compile_config.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/io/CompileConfig.h"
#include "frontend/base/NameList.h"
#include "frontend/base/PlacedError.h"
#include "frontend/metrics/MetricImpl.h"
#include <set>

namespace halftone::detail {

namespace {

/// Calls `make` and prefixes its errors with the location.
template <class F> auto within(const ConfigPlace &place, F make) {
  try {
    return make();
  } catch (const Error &error) {
    if (error.message().starts_with(place.where))
      throw;
    rethrowAt(place.where, error);
  }
}

/// Returns true if the object is a function given by name: {"class_name": "function", "config": "relu"}.
bool isFunction(const ConfigPlace &place) {
  return place.json.is_object() && place.at("class_name").json == "function" && place.at("config").json.is_string();
}

Optimizer readOptimizerConfig(const ConfigPlace &place) {
  return within(place, [&]() -> Optimizer {
    return place.json.is_string() ? Optimizer(place.text())
                                  : optimizers::deserialize(ConfigAccess::make(place.object().json));
  });
}

Loss readLoss(const ConfigPlace &place) {
  return within(place, [&]() -> Loss {
    if (place.isNull())
      return Loss();
    if (place.json.is_string())
      return Loss(place.text());
    return losses::deserialize(ConfigAccess::make(place.object().json));
  });
}

Metric readMetric(const ConfigPlace &place) {
  return within(place, [&]() -> Metric {
    if (place.json.is_string())
      return Metric(place.text());
    return isFunction(place) ? Metric(place.at("config").text())
                             : metrics::deserialize(ConfigAccess::make(place.object().json));
  });
}

/// Returns true if the object maps output names to values, and is not itself a loss or metric.
bool isByName(const ConfigPlace &place) { return place.json.is_object() && !place.json.contains("class_name"); }

/// The elements of a list, a single value that is not in a list, or nothing for null.
template <class T> std::vector<T> readOneOrMore(const ConfigPlace &place, T (*read)(const ConfigPlace &)) {
  std::vector<T> all;
  if (place.json.is_array())
    for (const ConfigPlace &each : place.elements())
      all.push_back(read(each));
  else if (!place.isNull())
    all.push_back(read(place));
  return all;
}

LossSpec readLosses(const ConfigPlace &place) {
  if (isByName(place)) {
    std::vector<std::pair<std::string, Loss>> byName;
    for (const auto &[name, value] : place.json.items())
      byName.emplace_back(name, readLoss(place.at(name)));
    return LossSpec(byName);
  }
  return LossSpec(readOneOrMore(place, readLoss));
}

std::vector<Metric> readMetricList(const ConfigPlace &place) { return readOneOrMore(place, readMetric); }

/// Returns true if this is a positionName(), which denotes one of several outputs that a layer produces under one name.
bool isPositionName(const std::string &name) { return name.starts_with('['); }

/// Accepts a list of metrics for a single output, a list with an entry per output, or an object keyed by output name.
MetricSpec readMetrics(const ConfigPlace &place, const std::vector<std::string> &outputs) {
  std::vector<std::pair<std::string, std::vector<Metric>>> byName;
  if (place.isNull())
    return {};
  if (isByName(place)) {
    for (const auto &[name, value] : place.json.items())
      byName.emplace_back(name, readMetricList(place.at(name)));
    return MetricSpec(byName);
  }
  const bool nested = place.json.is_array() && !place.json.empty() && place.json[0].is_array();
  if (outputs.size() < 2 && !nested)
    return MetricSpec(readMetricList(place));
  const std::vector<ConfigPlace> each = place.elements();
  if (each.size() != outputs.size())
    place.refuse(ErrorKind::value_error,
                 fmt::format("expected an entry for each of the {} outputs, found {}", outputs.size(), each.size()));
  const bool unique = std::set<std::string>(outputs.begin(), outputs.end()).size() == outputs.size();
  for (size_t i = 0; i < outputs.size(); ++i)
    byName.emplace_back(unique ? outputs[i] : positionName(i), readMetricList(each[i]));
  return MetricSpec(byName);
}

std::vector<double> readWeightsOfLosses(const ConfigPlace &place, const std::vector<std::string> &outputs) {
  std::vector<double> weights;
  const auto add = [&](const ConfigPlace &weight) {
    if (!weight.json.is_number())
      weight.fail("a number");
    weights.push_back(weight.json.get<double>());
  };
  if (place.json.is_object())
    for (const std::string &output : outputs)
      add(place.at(output));
  else if (place.json.is_number())
    add(place);
  else if (!place.isNull())
    for (const ConfigPlace &each : place.elements())
      add(each);
  return weights;
}

} // namespace

std::optional<CompileArgs> readCompileConfig(const ConfigPlace &place, const std::vector<std::string> &outputs) {
  if (place.isNull() || place.object().json.empty())
    return std::nullopt;
  CompileArgs args;
  if (const ConfigPlace optimizer = place.at("optimizer"); !optimizer.isNull())
    args.optimizer = readOptimizerConfig(optimizer);
  args.loss = readLosses(place.at("loss"));
  args.loss_weights = readWeightsOfLosses(place.at("loss_weights"), outputs);
  args.metrics = readMetrics(place.at("metrics"), outputs);
  args.weighted_metrics = readMetrics(place.at("weighted_metrics"), outputs);
  const ConfigPlace eager = place.at("run_eagerly"), steps = place.at("steps_per_execution");
  args.run_eagerly = !eager.isNull() && eager.boolean();
  args.steps_per_execution = steps.isNull() ? 1 : steps.integer();
  return args;
}

namespace {

using Json = ConfigPlace::Json;

Json lossJson(const Loss &loss) { return loss.defined() ? ConfigAccess::json(losses::serialize(loss)) : Json(); }
Json metricJson(const Metric &metric) {
  const std::string &identifier = metric.impl()->identifier;
  return identifier.empty() ? ConfigAccess::json(metrics::serialize(metric)) : Json(identifier);
}

/// A single loss as it is, several as a list, or an object keyed by output name.
Json lossesJson(const LossSpec &spec) {
  if (!spec.names().empty()) {
    Json byName;
    for (size_t i = 0; i < spec.names().size(); ++i)
      byName[spec.names()[i]] = lossJson(spec.losses()[i]);
    return byName;
  }
  Json list = Json::array();
  for (const Loss &loss : spec.losses())
    list.push_back(lossJson(loss));
  return list.empty() ? Json() : list.size() == 1 ? list[0] : list;
}

/// A list for a single output, or a list with an entry per output. A metric given for every output is repeated per
/// output.
Json metricsJson(const MetricSpec &spec, size_t outputs) {
  Json list = Json::array(), byName, each = Json::array();
  if (!spec.names().empty() && isPositionName(spec.names()[0])) {
    for (size_t i = 0; i < outputs; ++i)
      each.push_back(Json::array());
    for (size_t i = 0; i < spec.metrics().size(); ++i)
      for (size_t output = 0; output < outputs; ++output)
        if (spec.names()[i] == positionName(output))
          each[output].push_back(metricJson(spec.metrics()[i]));
    return each;
  }
  for (size_t i = 0; i < spec.metrics().size(); ++i)
    if (spec.names().empty())
      list.push_back(metricJson(spec.metrics()[i]));
    else
      byName[spec.names()[i]].push_back(metricJson(spec.metrics()[i]));
  if (!spec.names().empty() || list.empty())
    return byName;
  if (list.size() > 1 || outputs < 2)
    return list;
  for (size_t i = 0; i < outputs; ++i)
    each.push_back(list);
  return each;
}

} // namespace

Config writeCompileConfig(const CompileArgs &args, size_t outputs) {
  Json config;
  config["optimizer"] = ConfigAccess::json(optimizers::serialize(args.optimizer));
  config["loss"] = lossesJson(args.loss);
  config["loss_weights"] = args.loss_weights.empty() ? Json() : Json(args.loss_weights);
  config["metrics"] = metricsJson(args.metrics, outputs);
  config["weighted_metrics"] = metricsJson(args.weighted_metrics, outputs);
  config["run_eagerly"] = args.run_eagerly;
  config["steps_per_execution"] = args.steps_per_execution;
  config["jit_compile"] = !args.run_eagerly;
  return ConfigAccess::make(std::move(config));
}

} // namespace halftone::detail
