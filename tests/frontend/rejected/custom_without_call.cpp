// expect: constraint|satisf|no viable|deduction
// SPDX-License-Identifier: Apache-2.0
#include <halftone/Halftone.h>
using namespace halftone;
using namespace halftone::layers;

struct Scale {
  Value call(const Value &x) const { return x * 2.0; }
};
struct Empty {
  int n;
};

void make() {
#ifdef RIGHT
  Custom layer(Scale{});
#else
  Custom layer(Empty{1});
#endif
}
