// The loss and metrics of a batch, as configured by compile().
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/training/Trainer.h"
#include <string>
#include <vector>

namespace halftone::detail {

/// Targets and sample weights by output; undefined where there is none.
struct BatchTargets {
  std::vector<Value> y, weights;
};

/// value_error at the layer `where` unless `sample_weight` has no entry, one for all targets, or one per target.
void requireWeightEntries(size_t weights, size_t targets, const std::string &where);

/// A loss to which several processes contribute.
struct BatchLoss {
  struct Term {
    Value part;
    Value own{}; // undefined: `part` in proportion to the rows of this process
  };
  Value part; // meanOverProcesses() of it is the loss
  std::vector<Term> terms;
  /// The loss of this process's rows: partOfMean() of it is `part`. `part` itself if the process runs alone.
  Value ofOwnRows() const;
};

/// The loss of one batch, as in Keras's Trainer.compute_loss: compile()'s losses, and the penalties of layers and
/// weights. Also records the loss of each output that is logged. This process has `rows` rows. value_error for a loss
/// that is not a scalar, and if there is no loss.
BatchLoss computeLoss(const Layer &model, const CompiledModel &compiled, const BatchTargets &targets,
                      const std::vector<Value> &predictions, int64_t rows);
/// Records the update of compile()'s metrics with the batch.
void updateMetrics(const CompiledModel &compiled, const BatchTargets &targets, const std::vector<Value> &predictions);

} // namespace halftone::detail
