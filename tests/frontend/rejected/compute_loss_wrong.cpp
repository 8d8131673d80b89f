// expect: static assertion failed.*compute_loss
// SPDX-License-Identifier: Apache-2.0
#include <halftone/Halftone.h>
using namespace halftone;
using namespace halftone::layers;

struct Net {
  Dense dense{1};
  Value call(const Value &x) const { return dense(x); }
#ifdef RIGHT
  Value compute_loss(const StepContext &, const StepData &data, const Values &y_pred) const {
    return ops::mean(losses::mean_squared_error(data.y[0], y_pred[0]));
  }
#else
  Value compute_loss(const Value &y, const Value &y_pred) const { // a step passes the whole batch
    return ops::mean(losses::mean_squared_error(y, y_pred));
  }
#endif
};
void make() { Model net(Net{}); }
