// SwapEMAWeights: swaps in the averaged weights during evaluation.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/optimizers/OptimizerImpl.h"
#include "halftone/Callbacks.h"
#include "halftone/Error.h"
#include "halftone/Model.h"

namespace halftone::callbacks {

SwapEMAWeights::SwapEMAWeights(bool swap_on_epoch) : swap_on_epoch_(swap_on_epoch) {}

void SwapEMAWeights::set_averages(bool wanted) const {
  detail::OptimizerImpl &optimizer = *model().optimizer().impl();
  if (!optimizer.hasAverages())
    throw Error(ErrorKind::value_error,
                "SwapEMAWeights must be used when `use_ema=True` is set on the optimizer. Received: use_ema=False",
                model().name());
  if (optimizer.areExchanged() != wanted)
    optimizer.exchangeAverages(model().trainable_variables());
}

void SwapEMAWeights::on_train_begin(const Logs &) { set_averages(false); }
void SwapEMAWeights::on_train_end(const Logs &) { set_averages(false); }
void SwapEMAWeights::on_epoch_begin(int64_t, const Logs &) { set_averages(false); }
void SwapEMAWeights::on_epoch_end(int64_t, Logs &) {
  if (swap_on_epoch_)
    set_averages(true);
}
void SwapEMAWeights::on_test_begin(const Logs &) { set_averages(true); }
void SwapEMAWeights::on_test_end(const Logs &) { set_averages(false); }
void SwapEMAWeights::on_predict_begin(const Logs &) { set_averages(true); }
void SwapEMAWeights::on_predict_end(const Logs &) { set_averages(false); }

} // namespace halftone::callbacks
