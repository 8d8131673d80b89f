// Row kernels of 4096 x 1024 float32 against a copy of the bytes that they read and write.
// SPDX-License-Identifier: Apache-2.0
#include "Race.h"
#include "Table.h"
#include <cstring>
#include <fmt/format.h>
#include <halftone/Halftone.h>
#include <random>
#include <sched.h>
#include <thread>

using namespace halftone;
using namespace halftone::benchmarks;

namespace {

constexpr int64_t rowCount = 4096, columns = 1024;

int coreCount() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  ::sched_getaffinity(0, sizeof cores, &cores);
  return CPU_COUNT(&cores);
}

/// Copies half of a buffer's bytes to the other half, a share in every thread; the threads spin between copies, as
/// those of a pool.
class Copier {
public:
  explicit Copier(int64_t moved) : bytes(static_cast<size_t>(moved / 2)), from(bytes, 1), to(bytes, 2) {}
  /// `times` copies; seconds of one.
  double lap(int times) {
    const int threads = coreCount();
    std::atomic<int> waiting{threads};
    auto share = [&](int thread) {
      const size_t begin = bytes * static_cast<size_t>(thread) / static_cast<size_t>(threads),
                   end = bytes * (static_cast<size_t>(thread) + 1) / static_cast<size_t>(threads);
      for (--waiting; waiting > 0;)
        ;
      for (int i = 0; i < times; ++i) {
        std::memcpy(to.data() + begin, from.data() + begin, end - begin);
        asm volatile("" ::: "memory");
      }
    };
    std::vector<std::thread> others;
    for (int thread = 1; thread < threads; ++thread)
      others.emplace_back(share, thread);
    const double seconds = secondsOf([&] {
      share(0);
      for (std::thread &other : others)
        other.join();
    });
    return seconds / times;
  }

private:
  size_t bytes;
  std::vector<char> from, to;
};

Tensor noise(const Shape &shape) {
  Tensor tensor = Tensor::zeros(shape);
  std::mt19937 random(3);
  for (float &value : tensor.mutable_span<float>())
    value = static_cast<float>(random() >> 8) / 8388608.0f - 1.0f;
  return tensor;
}

/// `moved`: how many full arrays the kernel must read and write.
template <class Step> void compare(Table &table, const std::string &what, int moved, Step step) {
  Copier copier(moved * rowCount * columns * static_cast<int64_t>(sizeof(float)));
  const std::vector<double> seconds =
      race({contestant("ours", [&] { (void)step(); }), {"copy", [&](int times) { return copier.lap(times); }}}, 15, 0.1);
  table.add({fmt::format("{}, {} x {} float32", what, rowCount, columns), milliseconds(seconds[0]),
             "copy " + milliseconds(seconds[1]), seconds[1] / seconds[0], 0.7, 0.9});
}

Value layerNorm(const Value &x, const Value &gamma, const Value &beta) {
  const Value centered = x - ops::mean(x, -1, true);
  const Value variance = ops::mean(ops::square(centered), -1, true);
  return centered * ops::rsqrt(variance + 1e-3) * gamma + beta;
}

void run(Table &table) {
  const Tensor x = noise({rowCount, columns}), dy = noise({rowCount, columns}), gamma = noise({columns}), beta = noise({columns});
  auto softmax = jit([](const Value &x) { return ops::softmax(x); });
  compare(table, "softmax forward", 2, [&] { return softmax(x); });
  auto logSoftmax = jit([](const Value &x) { return ops::log_softmax(x); });
  compare(table, "log softmax forward", 2, [&] { return logSoftmax(x); });
  auto norm = jit([](const Value &x, const Value &gamma, const Value &beta) { return layerNorm(x, gamma, beta); });
  compare(table, "layer norm forward", 2, [&] { return norm(x, gamma, beta); });
  auto rms = jit([](const Value &x, const Value &gamma) {
    return x * ops::rsqrt(ops::mean(ops::square(x), -1, true) + 1e-6) * gamma;
  });
  compare(table, "RMS norm forward", 2, [&] { return rms(x, gamma); });

  // Backward as recorded, from x and the gradient of the result.
  auto softmaxBackward = jit([](const Value &y, const Value &dy) { return y * (dy - ops::sum(y * dy, -1, true)); });
  compare(table, "softmax backward", 3, [&] { return softmaxBackward(x, dy); });
  auto normBackward = jit([](const Value &x, const Value &gamma, const Value &beta, const Value &dy) {
    return Values(gradients(ops::sum(layerNorm(x, gamma, beta) * dy), std::vector<Value>{x, gamma, beta}));
  });
  compare(table, "layer norm backward", 3, [&] { return normBackward(x, gamma, beta, dy); });
}

} // namespace

int main() { return runProgram("rows", "row kernels against a copy of the same bytes, as a share of its speed", run); }
