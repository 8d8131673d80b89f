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

void RateTable::prepare(const LearningRate &schedule, const Play &play) {
  const ForkSafeLock lock(mutex_);
  const uint64_t version = play.steps.impl()->memory->version();
  if (version == version_ && mostSteps_ + play.mostSteps < length) {
    mostSteps_ += play.mostSteps;
    ++version_;
    return;
  }
  const auto first = static_cast<int64_t>(hostScalar(play.steps));
  std::vector<double> values;
  for (int64_t step = first; step < first + length; ++step)
    values.push_back(schedule.at(step));
  setHostScalar(play.rate, values.front());
  values_.assign(Tensor(std::move(values), {length}).astype(values_.impl()->dtype));
  setHostScalar(first_, static_cast<double>(first));
  mostSteps_ = play.mostSteps;
  version_ = version + 1;
}

} // namespace halftone::detail
