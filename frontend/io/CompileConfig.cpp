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
template <class F> auto within(const ConfigNode &entry, F make) {
  try {
    return make();
  } catch (const Error &error) {
    if (error.message().starts_with(entry.where))
      throw;
    rethrowAt(entry.where, error);
  }
}

/// Returns true if the object is a function given by name: {"class_name": "function", "config": "relu"}.
bool isFunction(const ConfigNode &entry) {
  return entry.json.is_object() && entry.at("class_name").json == "function" && entry.at("config").json.is_string();
}

Optimizer readOptimizerConfig(const ConfigNode &entry) {
  return within(entry, [&]() -> Optimizer {
    return entry.json.is_string() ? Optimizer(entry.text())
                                  : optimizers::deserialize(ConfigAccess::make(entry.object().json));
  });
}

Loss readLoss(const ConfigNode &entry) {
  return within(entry, [&]() -> Loss {
    if (entry.isNull())
      return Loss();
    if (entry.json.is_string())
      return Loss(entry.text());
    return losses::deserialize(ConfigAccess::make(entry.object().json));
  });
}

Metric readMetric(const ConfigNode &entry) {
  return within(entry, [&]() -> Metric {
    if (entry.json.is_string())
      return Metric(entry.text());
    return isFunction(entry) ? Metric(entry.at("config").text())
                             : metrics::deserialize(ConfigAccess::make(entry.object().json));
  });
}

/// Returns true if the object maps output names to values, and is not itself a loss or metric.
bool isByName(const ConfigNode &entry) { return entry.json.is_object() && !entry.json.contains("class_name"); }

/// The elements of a list, a single value that is not in a list, or nothing for null.
template <class T> std::vector<T> readOneOrMore(const ConfigNode &entry, T (*read)(const ConfigNode &)) {
  std::vector<T> all;
  if (entry.json.is_array())
    for (const ConfigNode &each : entry.elements())
      all.push_back(read(each));
  else if (!entry.isNull())
    all.push_back(read(entry));
  return all;
}

LossSpec readLosses(const ConfigNode &entry) {
  if (isByName(entry)) {
    std::vector<std::pair<std::string, Loss>> byName;
    for (const auto &[name, value] : entry.json.items())
      byName.emplace_back(name, readLoss(entry.at(name)));
    return LossSpec(byName);
  }
  return LossSpec(readOneOrMore(entry, readLoss));
}

std::vector<Metric> readMetricList(const ConfigNode &entry) { return readOneOrMore(entry, readMetric); }

/// Returns true if this is a positionName(), which denotes one of several outputs that a layer produces under one name.
bool isPositionName(const std::string &name) { return name.starts_with('['); }

/// Accepts a list of metrics for a single output, a list with an entry per output, or an object keyed by output name.
MetricSpec readMetrics(const ConfigNode &entry, const std::vector<std::string> &outputs) {
  std::vector<std::pair<std::string, std::vector<Metric>>> byName;
  if (entry.isNull())
    return {};
  if (isByName(entry)) {
    for (const auto &[name, value] : entry.json.items())
      byName.emplace_back(name, readMetricList(entry.at(name)));
    return MetricSpec(byName);
  }
  const bool nested = entry.json.is_array() && !entry.json.empty() && entry.json[0].is_array();
  if (outputs.size() < 2 && !nested)
    return MetricSpec(readMetricList(entry));
  const std::vector<ConfigNode> each = entry.elements();
  if (each.size() != outputs.size())
    entry.refuse(ErrorKind::value_error,
                 fmt::format("expected an entry for each of the {} outputs, found {}", outputs.size(), each.size()));
  const bool unique = std::set<std::string>(outputs.begin(), outputs.end()).size() == outputs.size();
  for (size_t i = 0; i < outputs.size(); ++i)
    byName.emplace_back(unique ? outputs[i] : positionName(i), readMetricList(each[i]));
  return MetricSpec(byName);
}

std::vector<double> readWeightsOfLosses(const ConfigNode &entry, const std::vector<std::string> &outputs) {
  std::vector<double> weights;
  const auto add = [&](const ConfigNode &weight) {
    if (!weight.json.is_number())
      weight.fail("a number");
    weights.push_back(weight.json.get<double>());
  };
  if (entry.json.is_object())
    for (const std::string &output : outputs)
      add(entry.at(output));
  else if (entry.json.is_number())
    add(entry);
  else if (!entry.isNull())
    for (const ConfigNode &each : entry.elements())
      add(each);
  return weights;
}

} // namespace

std::optional<CompileArgs> readCompileConfig(const ConfigNode &entry, const std::vector<std::string> &outputs) {
  if (entry.isNull() || entry.object().json.empty())
    return std::nullopt;
  CompileArgs args;
  if (const ConfigNode optimizer = entry.at("optimizer"); !optimizer.isNull())
    args.optimizer = readOptimizerConfig(optimizer);
  args.loss = readLosses(entry.at("loss"));
  args.loss_weights = readWeightsOfLosses(entry.at("loss_weights"), outputs);
  args.metrics = readMetrics(entry.at("metrics"), outputs);
  args.weighted_metrics = readMetrics(entry.at("weighted_metrics"), outputs);
  const ConfigNode eager = entry.at("run_eagerly"), steps = entry.at("steps_per_execution");
  args.run_eagerly = !eager.isNull() && eager.boolean();
  args.steps_per_execution = steps.isNull() ? 1 : steps.integer();
  return args;
}

namespace {

using Json = ConfigNode::Json;

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
