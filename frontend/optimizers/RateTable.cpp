// Fills and reads the table of learning rates.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/optimizers/RateTable.h"
#include "frontend/optimizers/OptimizerImpl.h"
#include "halftone/Ops.h"
#include "runtime/base/ForkGate.h"
#include <fmt/format.h>

namespace halftone::detail {

RateTable::RateTable(const std::string &optimizer, DType dtype)
    : values_(makeZeros({length}, dtype,
                        {.name = "next_learning_rates",
                         .path = fmt::format("{}/next_learning_rates", optimizer),
                         .role = VariableRole::learning_rate,
                         .update = UpdateKind::assign,
                         .trainable = false,
                         .autocast = false})),
      first_(optimizerScalar(optimizer, "first_learning_rate", 0, DType::int32, VariableRole::learning_rate)) {}

Value RateTable::at(const Value &step) const { return ops::take(readRaw(values_), step - readRaw(first_)); }

bool RateTable::reaches(uint64_t version, int64_t maxSteps) {
  const ForkSafeLock lock(mutex_);
  return version == version_ && maxSteps_ + maxSteps < length;
}

BeforePlay::Begin RateTable::prepare(const LearningRate &schedule, const Variable &steps, const Variable &rate,
                                     int64_t maxSteps) {
  const VariableHandle count = steps.impl()->memory;
  const uint64_t version = count->version(); // read first: the count belongs to this version or a later one
  if (reaches(version, maxSteps))
    return [this, count, maxSteps]() -> StatusOr<bool> {
      if (!reaches(count->version(), maxSteps))
        return false;
      const ForkSafeLock lock(mutex_);
      maxSteps_ += maxSteps;
      ++version_;
      return true;
    };
  const auto first = static_cast<int64_t>(hostScalar(steps));
  std::vector<double> values;
  for (int64_t step = first; step < first + length; ++step)
    values.push_back(schedule.at(step));
  return [=, this]() -> StatusOr<bool> {
    if (count->version() != version)
      return false;
    HALFTONE_RETURN_IF_ERROR(writeLocked(rate, {values.data(), 1}));
    HALFTONE_RETURN_IF_ERROR(writeLocked(values_, values));
    HALFTONE_RETURN_IF_ERROR(writeLocked(first_, std::vector{static_cast<double>(first)}));
    const ForkSafeLock lock(mutex_);
    maxSteps_ = maxSteps;
    version_ = version + 1;
    return true;
  };
}

} // namespace halftone::detail
