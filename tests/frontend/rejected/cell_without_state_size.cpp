// expect: a cell needs state_size
// SPDX-License-Identifier: Apache-2.0
#include <halftone/Halftone.h>
using namespace halftone;
using namespace halftone::layers;

struct Leaky {
#ifdef RIGHT
  int64_t state_size = 4;
#endif
  Values call(const Value &x, const Values &states) const {
    const Value next = 0.9 * states[0] + x;
    return {next, next};
  }
};

void make() { RNN layer(Custom(Leaky{})); }
