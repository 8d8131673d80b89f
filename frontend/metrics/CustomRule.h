// The rule of a metric defined by a user struct.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/TraceCompile.h"
#include "frontend/metrics/MetricImpl.h"
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace halftone::detail {

/// Calls the methods of a user's struct. Each state has its own rule, whose struct owns the variables.
class CustomRule final : public MetricRule {
public:
  explicit CustomRule(std::unique_ptr<MetricBody> given) : given_(std::move(given)), body_(given_->clone()) {}
  void build(MetricContext &context, const Shape &, const Shape &) const override { body_->build(context); }
  std::shared_ptr<const MetricRule> another() const override { return std::make_shared<CustomRule>(given_->clone()); }
  bool isUsers() const override { return true; }
  bool takesWeight() const override { return body_->takes_weight(); }
  void update(const std::vector<Variable> &, const Value &yTrue, const Value &yPred,
              const Value &weight) const override {
    body_->update_state(yTrue, yPred, weight);
  }
  std::vector<double> resultsOf(const MetricImpl &metric, const std::vector<Tensor> &state) const override;
  /// Traces result(). value_error unless it is a scalar of the metric's own variables.
  void requireResult(const MetricImpl &metric) const;
  const MetricBody &body() const { return *body_; }

private:
  struct Result; // result(), traced
  std::shared_ptr<Result> tracedResult(const MetricImpl &metric) const;

  std::unique_ptr<MetricBody> given_; // without variables
  std::unique_ptr<MetricBody> body_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<Result>
      result_; // traced again if null or from an earlier configuration epoch; guarded by the mutex
};

} // namespace halftone::detail
