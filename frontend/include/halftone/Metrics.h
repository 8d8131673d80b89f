// Metrics: a name, an object, or any function of (y_true, y_pred).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Losses.h"

namespace halftone {
struct MetricArgs {
  std::string name{};
  PolicyArg dtype{};
};
class HALFTONE_API Metric {
public:
  Metric(const Metric &);
  Metric(Metric &&) noexcept;
  Metric &operator=(const Metric &) &;
  Metric &operator=(Metric &&) &noexcept;
  ~Metric();
  Metric(const char *name); // "accuracy" picks its kind from the output's shape at compile
  Metric(const std::string &name);
  template <std::invocable<const Value &, const Value &> F>
  Metric(F f, const MetricArgs &args = {})
      : Metric(std::function<Value(const Value &, const Value &)>(std::move(f)), args) {}
  Metric(std::function<Value(const Value &, const Value &)> f, const MetricArgs &args);
  std::string name() const;
  void update_state(const Tensor &y_true, const Tensor &y_pred, const Tensor &sample_weight = {}) const;
  double result() const;
  void reset_state() const;

protected:
  struct Rep;
  std::shared_ptr<Rep> rep_;
};
namespace metrics {
struct TopKArgs {
  int64_t k = 5;
  std::string name{};
  PolicyArg dtype{};
};
class HALFTONE_API Mean : public Metric {
public:
  explicit Mean(const MetricArgs &args = {});
};
class HALFTONE_API SparseCategoricalAccuracy : public Metric {
public:
  explicit SparseCategoricalAccuracy(const MetricArgs &args = {});
};
class HALFTONE_API BinaryAccuracy : public Metric {
public:
  explicit BinaryAccuracy(const MetricArgs &args = {}, double threshold = 0.5);
};
class HALFTONE_API SparseTopKCategoricalAccuracy : public Metric {
public:
  explicit SparseTopKCategoricalAccuracy(const TopKArgs &args = {});
};
} // namespace metrics
} // namespace halftone
