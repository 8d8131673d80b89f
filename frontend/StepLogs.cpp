// Makes the logs of a step.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/StepLogs.h"
#include "frontend/MetricImpl.h"
#include "frontend/OptimizerImpl.h"
#include "halftone/Error.h"
#include "runtime/TensorAccess.h"
#include "runtime/base/Convert.h"
#include <fmt/format.h>

namespace halftone {
namespace detail {

void fetchMetrics(const LoggedMetrics &metrics, std::vector<CompiledFunction::Named> &fetches) {
  for (const LoggedMetric &logged : metrics) {
    const std::vector<Variable> state = metricVariables(logged.metric);
    fetches.push_back({logged.name + "/total", readRaw(state.at(0))});
    fetches.push_back({logged.name + "/count", readRaw(state.at(1))});
  }
}

const StepValues::Items &StepValues::items() {
  std::call_once(computed_, [&] {
    auto numberIn = [&](size_t fetch) {
      const Tensor host = TensorAccess::onHost(fetches_.at(fetch));
      return elementAsDouble(host.dtype(), TensorAccess::data(host), 0);
    };
    Items items;
    for (const LoggedMetric &logged : *metrics_) {
      const size_t fetch = first_ + 2 * items.size();
      items.emplace_back(logged.name, metricResult(logged.metric, numberIn(fetch), numberIn(fetch + 1)));
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
  throw Error(ErrorKind::key_error, fmt::format("no '{}' in the logs; there are [{}]", name, names));
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

} // namespace halftone
