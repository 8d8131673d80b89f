// Computes the logs of a step.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/training/StepLogs.h"
#include "frontend/metrics/MetricImpl.h"
#include "frontend/optimizers/OptimizerImpl.h"
#include "halftone/Error.h"
#include "runtime/TensorAccess.h"
#include <fmt/format.h>
#include <ostream>

namespace halftone {
namespace detail {

void fetchMetrics(const LoggedMetrics &metrics, std::vector<CompiledFunction::Named> &fetches) {
  for (const LoggedMetric &logged : metrics)
    for (const Variable &state : logged.metric.variables())
      fetches.push_back({logged.name + "/" + state.name(), readRaw(state)});
}

const StepValues::Items &StepValues::items() {
  std::call_once(computed_, [&] {
    Items items;
    size_t fetch = first_;
    for (const LoggedMetric &logged : *metrics_) {
      std::vector<Tensor> state;
      for (size_t i = 0; i < logged.metric.variables().size(); ++i)
        state.push_back(TensorAccess::onHost(fetches_.at(fetch++)));
      const std::vector<double> results = metricResults(logged.metric, state);
      for (size_t i = 0; i < results.size(); ++i)
        items.emplace_back(results.size() == 1 ? logged.name : fmt::format("{}[{}]", logged.name, i), results[i]);
    }
    items_ = std::move(items);
    fetches_.clear();
  });
  return items_;
}

Logs StepValues::logs(std::shared_ptr<StepValues> values) {
  Logs logs;
  logs.step_ = std::move(values);
  return logs;
}

} // namespace detail

const std::vector<std::pair<std::string, double>> &Logs::items() const { return step_ ? step_->items() : items_; }

double Logs::operator[](std::string_view name) const {
  std::string names;
  for (const auto &[key, value] : items()) {
    if (key == name)
      return value;
    names += (names.empty() ? "" : ", ") + key;
  }
  throw Error(ErrorKind::key_error, fmt::format("the logs have no '{}'; their keys are [{}]", name, names));
}
bool Logs::contains(std::string_view name) const {
  for (const auto &[key, value] : items())
    if (key == name)
      return true;
  return false;
}
void Logs::set(std::string_view name, double value) {
  if (step_)
    items_ = step_->items();
  step_.reset();
  for (auto &[key, present] : items_)
    if (key == name) {
      present = value;
      return;
    }
  items_.emplace_back(name, value);
}
std::string Logs::str() const {
  std::string text;
  for (const auto &[name, value] : items())
    text += fmt::format("{}{}: {:.4f}", text.empty() ? "" : " - ", name, value);
  return text;
}
std::ostream &operator<<(std::ostream &os, const Logs &logs) { return os << logs.str(); }

} // namespace halftone
