// The code of training and prediction on GPUs: no calls, no local memory, wide sums, 16-byte accesses.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include <catch2/catch.hpp>
#include <map>
#include <regex>
#include <sstream>

using namespace halftone;

namespace {

/// One kernel as the last stage prints it.
struct Kernel {
  std::string title; // key, name and method
  std::string ptx;
};

std::vector<Kernel> kernelsOf(const std::string &text) {
  std::vector<Kernel> kernels;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    if (line.starts_with("# "))
      kernels.push_back({line, ""});
    else if (!kernels.empty())
      kernels.back().ptx += line + "\n";
  return kernels;
}

int64_t countOf(const std::string &text, const std::string &pattern) {
  const std::regex regex(pattern);
  return std::distance(std::sregex_iterator(text.begin(), text.end(), regex), std::sregex_iterator());
}

/// A 784-128-10 classifier of digits.
Sequential classifier(const std::string &policy) {
  const PolicyScope scope(policy);
  Sequential model({layers::Input({784}), layers::Dense(128, {.activation = "relu"}), layers::Dense(10)});
  model.compile({.optimizer = "adam",
                 .loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {"accuracy"},
                 .device = Device::cuda(0)});
  return model;
}

/// Convolution, normalizations, attention, long functions, and losses added by layers.
Model everyLayer(const std::string &policy, const Optimizer &optimizer, Numerics numerics) {
  using namespace layers;
  const PolicyScope scope(policy);
  const Input pixels({6, 6, 3});
  Value hidden = BatchNormalization()(Conv2D(8, 3, {.padding = Padding::same, .activation = "gelu"})(pixels));
  hidden = Reshape({9, 8})(MaxPooling2D(2)(hidden));
  const Value normed = LayerNormalization()(hidden);
  hidden = Add()(Values{hidden, MultiHeadAttention(2, 4, {.dropout = 0.1})(normed, normed)});
  hidden = Dense(8, {.activation = "tanh"})(Dense(16, {.activation = "silu", .kernel_regularizer = "l2"})(hidden));
  Model model(pixels, Dense(5, {.activation = "softmax"})(GlobalAveragePooling1D()(hidden)));
  model.compile({.optimizer = optimizer,
                 .loss = "sparse_categorical_crossentropy",
                 .metrics = {"accuracy"},
                 .device = Device::cuda(0),
                 .numerics = numerics});
  return model;
}

/// Float sums, products, quotients and roots that specify no rounding, approximations, and matrix products of floats.
constexpr const char *leftOpen = "\\b(add|sub|mul|fma|mad|div|sqrt|rcp)\\.((?!r[nzmp]\\.)\\w+\\.)?(b?f16|f32|f64)|"
                                 "\\.(approx|ftz|full)\\.|mma\\.sync\\S*\\.b?f16";

/// Checks the code of a training step in strict numerics.
void checkRoundings(const std::string &policy, const Optimizer &optimizer) {
  for (const Kernel &kernel : kernelsOf(everyLayer(policy, optimizer, Numerics::strict)
                                            .ir(Stage::target, {.program = Program::train, .batch_size = 8}))) {
    CAPTURE(policy, kernel.title, kernel.ptx);
    CHECK(countOf(kernel.ptx, leftOpen) == 0);
  }
}

} // namespace

TEST_CASE("In strict numerics each operation on floats of a GPU's code names its rounding") {
  checkRoundings("mixed_float16", optimizers::SGD(0.1, {.momentum = 0.9}));
  int64_t open = 0; // in default numerics the driver may fuse these
  for (const Kernel &kernel : kernelsOf(everyLayer("mixed_float16", optimizers::Adam(0.01), Numerics::fast)
                                            .ir(Stage::target, {.program = Program::train, .batch_size = 8})))
    open += countOf(kernel.ptx, leftOpen);
  CHECK(open > 0);
}

TEST_CASE("In strict numerics a GPU's code of wide floats names its roundings", "[full]") {
  checkRoundings("float32", optimizers::AdamW(0.01));
  checkRoundings("float64", optimizers::RMSprop(0.01));
}
TEST_CASE("In strict numerics a GPU's code of narrow floats names its roundings", "[full]") {
  checkRoundings("float16", optimizers::Adagrad(0.01));
  checkRoundings("bfloat16", optimizers::Lion(0.01));
}

TEST_CASE("The GPU's code of a classifier's steps has no calls, no local memory, wide sums and wide accesses") {
  const std::string policy = GENERATE("float32", "mixed_float16", "mixed_bfloat16");
  const bool isMixed = policy != "float32";
  const Sequential model = classifier(policy);
  std::map<std::string, int64_t> counts;
  for (const Program program : {Program::train, Program::predict})
    for (const Kernel &kernel : kernelsOf(model.ir(Stage::target, {.program = program, .batch_size = 64}))) {
      CAPTURE(policy, kernel.title, kernel.ptx);
      ++counts["kernels"];
      CHECK(countOf(kernel.ptx, "\\.entry") == 1);
      CHECK(countOf(kernel.ptx, "\\.func|\\bcall\\b") == 0);
      CHECK(countOf(kernel.ptx, "\\.local") == 0);
      const int64_t products = countOf(kernel.ptx, "mma\\.sync");
      CHECK(products ==
            countOf(kernel.ptx, "mma\\.sync\\.aligned\\.m16n8k16\\.row\\.col\\.f32\\.(b?f16)\\.\\1\\.f32\\b"));
      counts["mma.sync"] += products;
      if (kernel.title.find("multiply-add") != std::string::npos)
        ++counts["products by multiply-add"];
      if (countOf(kernel.title, ": loop_.* vectors of [48]") == 0)
        continue; // long functions, whose registers permit only two elements at a time
      ++counts["loops in vectors"];
      CHECK(countOf(kernel.ptx, "(ld|st)\\.global\\.(v4\\.b32|v2\\.b64)") > 0);
    }
  std::string told = policy;
  for (const auto &[things, count] : counts)
    told += ", " + std::to_string(count) + " " + things;
  WARN(told);
  CHECK(counts["kernels"] >= 8);
  CHECK(counts["loops in vectors"] >= 1);
  CHECK((counts["mma.sync"] > 0) == isMixed);
  CHECK((counts["products by multiply-add"] == 0) == isMixed);
}
