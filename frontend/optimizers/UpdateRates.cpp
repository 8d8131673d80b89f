// The learning rates of an UpdateRule: constants, user functions, and schedules by table.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/optimizers/UpdateRule.h"
#include "halftone/Error.h"
#include "runtime/communication/HostWrites.h"
#include <limits>
#include <span>

namespace halftone::detail {

double UpdateRule::learningRate() const {
  return schedule_.is_schedule() ? schedule_.at(static_cast<int64_t>(hostScalar(iterations_))) : hostScalar(rate_);
}
void UpdateRule::setLearningRate(double value) {
  if (schedule_.is_schedule())
    throw Error(ErrorKind::type_error,
                "This optimizer was created with a `LearningRateSchedule` object as its `learning_rate` constructor "
                "argument, hence its learning rate is not settable. If you need the learning rate to be settable, you "
                "should instantiate the optimizer with a float `learning_rate` argument.");
  rate_.assign(Tensor::full({}, requireRate(value), rate_.impl()->dtype));
}

/// The host work for a user function, which may depend on more than the step: computes the rate of the next update.
BeforePlay::Begin UpdateRule::computeRate() const {
  const VariableHandle count = iterations_.impl()->memory;
  const uint64_t version = count->version(); // read first: the count belongs to this version or a later one
  return [count, version, rate = rate_, value = learningRate()]() -> StatusOr<bool> {
    if (count->version() != version)
      return false;
    HALFTONE_RETURN_IF_ERROR(writeLocked(rate, std::vector{value}));
    if (rate.impl()->memory->isWatched())
      HostWrites::add(rate.path(), std::as_bytes(std::span(&value, 1)));
    return true;
  };
}

/// The host work before each play with up to `updates` updates.
BeforePlay UpdateRule::rateBefore(std::shared_ptr<const int64_t> updates) {
  BeforePlay work{{iterations_.impl()->memory, rate_.impl()->memory}, {}};
  auto self = std::static_pointer_cast<UpdateRule>(shared_from_this());
  if (!rates_) {
    work.prepare = [self] { return self->computeRate(); };
    return work;
  }
  for (const Variable &variable : rates_->variables())
    work.variables.push_back(variable.impl()->memory);
  work.prepare = [self, updates] {
    return self->rates_->prepare(self->schedule_, self->iterations_, self->rate_, *updates);
  };
  return work;
}

int64_t UpdateRule::prepareRate(int64_t updates) {
  if (!schedule_.is_schedule())
    return std::numeric_limits<int64_t>::max();
  const BeforePlay work = rateBefore(std::make_shared<const int64_t>(updates));
  const std::vector<std::mutex *> locks = locksOf(work.variables);
  for (;;) {
    const BeforePlay::Begin begin = work.prepare();
    const LocksHeld stores(locks);
    if (begin().valueOrThrow())
      return rates_ ? RateTable::length : updates;
  }
}

/// Provides the rate that an update reads. For the first update of a run, the host computes it before the run, or the
/// previous run did. A later update looks up the rate for the count after the updates before it. There is no table for
/// a user function, so all updates of a run use the same rate.
void UpdateRule::feedSchedule(Trace &trace) {
  std::shared_ptr<int64_t> &updates = trace.scheduledUpdates[this];
  if (updates) {
    ++*updates;
    if (rates_)
      rate_.assign(rates_->at(readRaw(iterations_)));
    return;
  }
  updates = std::make_shared<int64_t>(1);
  trace.beforeRun.push_back(rateBefore(updates));
  if (rates_)
    trace.atEnd.push_back([self = std::static_pointer_cast<UpdateRule>(shared_from_this())] {
      self->rate_.assign(self->rates_->at(readRaw(self->iterations_)));
    });
}

} // namespace halftone::detail
