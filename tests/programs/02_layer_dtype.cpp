// Mixed precision everywhere, float32 for the head: a policy by name, by object, by dtype.
// SPDX-License-Identifier: Apache-2.0
#include <halftone/Halftone.h>
#include <iostream>
using namespace halftone;
using namespace halftone::layers;

int main() {
  set_dtype_policy("mixed_float16");
  Dense hidden(128, {.activation = "relu"});
  Dense head(10, {.dtype = "float32"});
  Dense by_object(10, {.dtype = DTypePolicy("mixed_bfloat16")});
  Dense by_dtype(10, {.dtype = bfloat16});
  Activation softmax("softmax", {.dtype = "float32"});
  set_dtype_policy("float32");

  Input x({784});
  Value y = softmax(head(hidden(x)));
  std::cout << name(x.dtype()) << " -> " << name(hidden.compute_dtype()) << "/" << name(hidden.variable_dtype())
            << " -> " << name(y.dtype()) << ", " << head.dtype_policy().repr() << by_object.dtype_policy().repr()
            << by_dtype.dtype_policy().repr() << "\n";

  {
    PolicyScope scope("bfloat16"); // Halftone's addition: restores the old policy
    std::cout << Dense(1).dtype_policy().name() << "\n";
  }
  try {
    Dense broken(10, {.dtype = "mixed_float61"});
    return 1;
  } catch (const Error &error) {
    std::cout << error.what() << "\n";
  }
  return Dense(1).dtype_policy().name() == "float32" && y.dtype() == float32 && hidden.variable_dtype() == float32 ? 0
                                                                                                                   : 1;
}
