// Feeding a model: the files people have.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Tensor.h"
#include <string>

namespace halftone {
namespace datasets {
struct Arrays {
  Tensor x_train, y_train, x_test, y_test;
};
/// The four MNIST files (train|t10k)-(images-idx3|labels-idx1)-ubyte[.gz] in a directory: uint8 (60000, 28, 28) and
/// uint8 (60000,), and 10,000 to test. io_error naming the file, what was expected and what was found.
HALFTONE_API Arrays mnist(const std::string &directory);
/// Any IDX file, gzipped or not: uint8, int8, int16, int32, float32 or float64. io_error as above.
HALFTONE_API Tensor load_idx(const std::string &path);
} // namespace datasets
} // namespace halftone
