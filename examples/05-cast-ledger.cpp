// Prints every cast of a training step under mixed_bfloat16, with a head kept in float32 by a policy map.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <halftone/Halftone.h>
#include <iostream>

using namespace halftone;
using namespace halftone::layers;

int main() {
  try {
    DTypePolicyMap policies("mixed_bfloat16");
    policies.insert(".*/head", DTypePolicy("float32"));
    set_dtype_policy(policies);
    Sequential model({Input({784}), Dense(512, {.activation = "relu"}), Dense(10, {.name = "head"})});
    model.compile({.optimizer = "adam", .loss = "mse", .max_standalone_casts = 0});
    std::cout << model.cast_ledger();
  } catch (const Error &error) {
    std::fprintf(stderr, "05-cast-ledger: %s\n", error.what());
    return 1;
  }
}
