// expect: static assertion failed.*test_step
// SPDX-License-Identifier: Apache-2.0
#include <halftone/Halftone.h>
using namespace halftone;
using namespace halftone::layers;

struct Net {
  Dense dense{1};
  Value call(const Value &x) const { return dense(x); }
#ifdef RIGHT
  void test_step(const StepContext &step, const StepData &data) const { step.update_metrics(data, step.call(data.x)); }
#else
  Value test_step(const StepContext &step, const StepData &data) const { // the logs contain what report() names
    return ops::mean(step.call(data.x)[0]);
  }
#endif
};
void make() { Model net(Net{}); }
