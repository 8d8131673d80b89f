// Trains under every floating-point mode of a caller: the bits do not differ, and the caller's mode is preserved.
// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cfenv>
#include <cstring>
#include <functional>
#include <halftone/Halftone.h>
#include <iostream>
#include <limits>
#include <thread>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif
using namespace halftone;
using namespace halftone::layers;

namespace {

using Bits = std::vector<std::byte>;

void append(Bits &bits, const Tensor &tensor) {
  for (const double value : tensor.astype(float64).to_vector<double>()) {
    const size_t size = bits.size();
    bits.resize(size + sizeof value);
    std::memcpy(&bits[size], &value, sizeof value);
  }
}

/// All variables after twelve steps in which gradients and moments are subnormal, and what the host computes: initial
/// values, learning rates, conversions, metrics, quantized kernels. With `eager` the interpreter runs the steps.
Bits trained(bool eager) {
  set_random_seed(3);
  const int64_t rows = eager ? 8 : 512, width = eager ? 8 : 128;
  Sequential model({Input({width}), Dense(width, {.activation = "tanh", .kernel_initializer = "orthogonal"}),
                    Dense(width, {.kernel_initializer = initializers::RandomNormal({.stddev = 1e-38})}), Dense(3)});
  model.compile({.optimizer = optimizers::Adam(schedules::CosineDecay(1e-3, 9), {.epsilon = 1e-30}),
                 .loss = "mse",
                 .metrics = {"mae"},
                 .run_eagerly = eager});
  std::vector<float> x(static_cast<size_t>(rows * width));
  for (size_t i = 0; i < x.size(); ++i) // without arithmetic, which would depend on the caller's mode
    x[i] = i % 3 == 0 ? std::bit_cast<float>(static_cast<uint32_t>(i % 17) << 12)
                      : std::bit_cast<float>(0x3c000000u + static_cast<uint32_t>(i % 17 << 16));
  const Tensor data(std::move(x), {rows, width}), labels = Tensor::full({rows, 3}, 1e-20);
  Bits bits;
  for (int step = 0; step < (eager ? 2 : 8); ++step)
    append(bits, Tensor(std::vector<double>{model.train_on_batch(data, labels)["mae"]}, {1}));
  model.fit(Dataset(data, labels).batch(rows / 2).prefetch(2), {.epochs = eager ? 1 : 2, .verbose = 0});
  for (const Variable &variable : model.variables())
    append(bits, variable.value());
  for (const Variable &variable : model.optimizer().variables())
    append(bits, variable.value());
  append(bits, model.predict(data, {.batch_size = rows, .verbose = 0}));
  append(bits, Tensor(std::vector<double>{1e-40, 1.0000001, 3e-8, -1e-310}, {4}).astype(float32).astype(float16));
  append(bits, Tensor::full({3}, 1e-39) * 3.0);
  if (!eager) {
    (void)model.quantize("int8", {.verbose = false});
    for (const Variable &variable : model.variables())
      append(bits, variable.value());
  }
  return bits;
}

struct Mode {
  const char *name;
  std::function<void()> set;
};

const std::vector<Mode> modes = {
    {"the mode in which the program started", [] {}},
#if defined(__x86_64__)
    {"subnormal results flushed", [] { _mm_setcsr(_mm_getcsr() | 0x8000u); }},
    {"subnormal operands and results flushed", [] { _mm_setcsr(_mm_getcsr() | 0x8040u); }},
#endif
    {"rounding up", [] { std::fesetround(FE_UPWARD); }},
    {"rounding down", [] { std::fesetround(FE_DOWNWARD); }},
    {"rounding toward zero", [] { std::fesetround(FE_TOWARDZERO); }},
    {"trapping invalid operations, divisions by zero and overflows",
     [] { feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW); }},
};

struct Found {
  int rounding, traps;
  unsigned vector;
  bool operator==(const Found &) const = default;
};
Found found() {
#if defined(__x86_64__)
  return {std::fegetround(), fegetexcept(), _mm_getcsr()};
#else
  return {std::fegetround(), fegetexcept(), 0};
#endif
}

int faults = 0;
void check(bool holds, const std::string &what) {
  if (!holds)
    std::cerr << "FAILED: " << what << "\n", ++faults;
}

/// Plays a division by zero and an invalid operation, and an error in between.
void checkOnePlay(const Mode &mode) {
  const float infinity = std::numeric_limits<float>::infinity();
  auto quotient = jit([](const Value &a, const Value &b) { return ops::log(a / b); });
  const Tensor a(std::vector<float>{1, -1, 0}, {3}), b = Tensor::zeros({3});
  (void)quotient(a, b);
  mode.set();
  const Found before = found();
  const std::vector<float> result = quotient(a, b).to_vector<float>();
  check(found() == before, std::string("a play keeps the caller's mode and flags: ") + mode.name);
  try {
    (void)quotient(a, Tensor::zeros({2, 2, 2}));
    check(false, "shapes that do not fit are an error");
  } catch (const Error &) {
  }
  check(found() == before, std::string("an error keeps the caller's mode and flags: ") + mode.name);
  check(std::memcmp(&result[0], &infinity, sizeof infinity) == 0, std::string("1 / 0 is infinite: ") + mode.name);
}

} // namespace

int main(int argc, char **) {
#if defined(__x86_64__)
  const bool flushes = (_mm_getcsr() & 0x8040u) == 0x8040u;
  check(flushes == (argc > 1), "the program starts in the mode that it was linked for");
#endif
  std::fenv_t start;
  std::fegetenv(&start);
#if defined(__x86_64__)
  const unsigned startsWith = _mm_getcsr();
#endif
  for (const bool eager : {false, true}) {
    Bits expected;
    std::thread([&] {
      std::fesetenv(FE_DFL_ENV);
#if defined(__x86_64__)
      _mm_setcsr(0x1f80);
#endif
      expected = trained(eager);
    }).join();
    for (const Mode &mode : modes) {
      mode.set();
      const Found before = found();
      const Bits bits = trained(eager);
      const Found after = found();
      check(after.rounding == before.rounding && after.traps == before.traps &&
                ((after.vector ^ before.vector) & ~0x3fu) == 0,
            std::string("training keeps the caller's mode: ") + mode.name);
      std::fesetenv(&start);
#if defined(__x86_64__)
      _mm_setcsr(startsWith);
#endif
      check(bits == expected, std::string(eager ? "interpreted" : "compiled") + " training: " + mode.name);
    }
  }
  for (const Mode &mode : modes) {
    std::thread([&] { checkOnePlay(mode); }).join();
  }
  return faults == 0 ? 0 : 1;
}
