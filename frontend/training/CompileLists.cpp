// Matches the lists of compile() to a model's outputs.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/training/CompileLists.h"
#include "halftone/Error.h"
#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <set>

namespace halftone {

namespace detail {

std::vector<Loss> lossesOf(NameList outputs, const LossSpec &spec) {
  const size_t count = outputs.names.size();
  std::vector<Loss> losses(count);
  if (spec.names().empty() && spec.losses().size() == 1)
    std::fill(losses.begin(), losses.end(), spec.losses()[0]);
  if (spec.names().empty() && spec.losses().size() < 2)
    return losses;
  outputs.needed.assign(count, spec.names().empty()); // by name, some outputs may have no entry
  const std::vector<std::optional<size_t>> entries = entriesOf(outputs, "loss", spec.names(), spec.losses().size());
  for (size_t i = 0; i < count; ++i)
    if (entries[i])
      losses[i] = spec.losses()[*entries[i]];
  return losses;
}

std::vector<std::vector<size_t>> metricPositions(NameList outputs, const MetricSpec &spec, const char *argument) {
  const size_t count = outputs.names.size();
  std::vector<std::vector<size_t>> positions;
  for (const std::string &name : spec.names())
    positions.push_back(positionsOf(outputs, argument, name));
  if (!spec.names().empty() || spec.metrics().empty())
    return positions;
  std::vector<size_t> all(count);
  std::iota(all.begin(), all.end(), size_t{0});
  if (count == 1 || spec.metrics().size() == 1)
    return std::vector<std::vector<size_t>>(spec.metrics().size(), all);
  outputs.needed.clear();
  (void)entriesOf(outputs, argument, {}, spec.metrics().size()); // the count is checked
  for (const size_t output : all)
    positions.push_back({output});
  return positions;
}

std::vector<double> lossWeightsOf(NameList outputs, const CompileArgs &args) {
  const bool isOne = args.loss.names().empty() && args.loss.losses().size() == 1 && args.loss_weights.size() == 1;
  if (isOne)
    return std::vector<double>(outputs.names.size(), args.loss_weights[0]);
  outputs.needed.clear();
  if (!args.loss_weights.empty())
    (void)entriesOf(outputs, "loss_weights", {}, args.loss_weights.size()); // the count is checked
  return args.loss_weights;
}

} // namespace detail

LossSpec::LossSpec(std::initializer_list<std::pair<std::string, Loss>> byName) : LossSpec(std::vector(byName)) {}
LossSpec::LossSpec(const std::vector<std::pair<std::string, Loss>> &byName) {
  for (const auto &[name, loss] : byName) {
    names_.push_back(name);
    losses_.push_back(loss);
  }
}
MetricSpec::MetricSpec(std::initializer_list<std::pair<std::string, std::vector<Metric>>> byName)
    : MetricSpec(std::vector(byName)) {}
MetricSpec::MetricSpec(const std::vector<std::pair<std::string, std::vector<Metric>>> &byName) {
  std::set<std::string> outputs;
  for (const auto &[name, metrics] : byName) {
    if (!outputs.insert(name).second)
      throw Error(ErrorKind::value_error, fmt::format("metrics have two entries for the output '{}'", name));
    for (const Metric &metric : metrics) {
      names_.push_back(name);
      metrics_.push_back(metric);
    }
  }
}

} // namespace halftone
