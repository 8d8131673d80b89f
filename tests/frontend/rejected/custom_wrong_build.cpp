// expect: build must be callable
// SPDX-License-Identifier: Apache-2.0
#include <halftone/Halftone.h>
using namespace halftone;
using namespace halftone::layers;

struct TakesContext {
  Variable kernel{};
  void build(BuildContext &context, const Shape &in) { kernel = context.add_weight({.shape = {in[-1], 4}}); }
  Value call(const Value &x) const { return ops::matmul(x, kernel); }
};
struct TakesShape {
  Variable kernel{};
  void build(const Shape &) {}
  Value call(const Value &x) const { return ops::matmul(x, kernel); }
};

void make() {
#ifdef RIGHT
  Custom layer(TakesContext{});
#else
  Custom layer(TakesShape{});
#endif
}
