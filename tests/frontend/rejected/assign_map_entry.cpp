// expect: no viable overloaded|no match|passing|discards|cannot bind
// SPDX-License-Identifier: Apache-2.0
#include <halftone/Halftone.h>
using namespace halftone;

void choose(DTypePolicyMap map) {
#ifdef RIGHT
  map.insert("net/head", DTypePolicy("float32"));
#else
  map["net/head"] = DTypePolicy("float32");
#endif
}
