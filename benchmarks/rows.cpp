// Row kernels of several shapes and dtypes against a copy of the bytes that they read and write.
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

/// The arrays that a kernel reads and writes.
struct Rows {
  int64_t count = 4096, columns = 1024;
  DType dtype = float32;
  Tensor noise() const { return noise({count, columns}); }
  Tensor noise(const Shape &shape) const {
    Tensor tensor = Tensor::zeros(shape);
    std::mt19937 random(3);
    for (float &value : tensor.mutable_span<float>())
      value = static_cast<float>(random() >> 8) / 8388608.0f - 1.0f;
    return tensor.astype(dtype);
  }
};

/// `moved`: how many full arrays the kernel must read and write.
template <class Step> void compare(Table &table, const std::string &kernel, const Rows &rows, int moved, Step step) {
  const std::string what = fmt::format("{}, {} x {} {}", kernel, rows.count, rows.columns, name(rows.dtype));
  if (!table.wants(what))
    return;
  Copier copier(moved * rows.count * rows.columns * itemsize(rows.dtype));
  const std::vector<double> seconds = race(
      {contestant("ours", [&] { (void)step(); }), {"copy", [&](int times) { return copier.lap(times); }}}, 15, 0.1);
  table.add({what, milliseconds(seconds[0]), "copy " + milliseconds(seconds[1]), seconds[1] / seconds[0], 0.7, 0.9});
}

Value layerNorm(const Value &x, const Value &gamma, const Value &beta) {
  const Value centered = x - ops::mean(x, -1, true);
  const Value variance = ops::mean(ops::square(centered), -1, true);
  return centered * ops::rsqrt(variance + 1e-3) * gamma + beta;
}

void compareSoftmax(Table &table, const Rows &rows) {
  const Tensor x = rows.noise(), dy = rows.noise();
  auto forward = jit([](const Value &x) { return ops::softmax(x); });
  compare(table, "softmax forward", rows, 2, [&] { return forward(x); });
  auto backward = jit([](const Value &y, const Value &dy) { return y * (dy - ops::sum(y * dy, -1, true)); });
  compare(table, "softmax backward", rows, 3, [&] { return backward(x, dy); });
}

void compareLayerNorm(Table &table, const Rows &rows) {
  const Tensor x = rows.noise(), dy = rows.noise(), gamma = rows.noise({rows.columns}),
               beta = rows.noise({rows.columns});
  auto forward = jit([](const Value &x, const Value &gamma, const Value &beta) { return layerNorm(x, gamma, beta); });
  compare(table, "layer norm forward", rows, 2, [&] { return forward(x, gamma, beta); });
  // As recorded, from x and the gradient of the result.
  auto backward = jit([](const Value &x, const Value &gamma, const Value &beta, const Value &dy) {
    return Values(gradients(ops::sum(layerNorm(x, gamma, beta) * dy), std::vector<Value>{x, gamma, beta}));
  });
  compare(table, "layer norm backward", rows, 3, [&] { return backward(x, gamma, beta, dy); });
}

void compareOthers(Table &table, const Rows &rows) {
  const Tensor x = rows.noise(), gamma = rows.noise({rows.columns});
  auto logSoftmax = jit([](const Value &x) { return ops::log_softmax(x); });
  compare(table, "log softmax forward", rows, 2, [&] { return logSoftmax(x); });
  auto rms = jit([](const Value &x, const Value &gamma) {
    return x * ops::rsqrt(ops::mean(ops::square(x), -1, true) + 1e-6) * gamma;
  });
  compare(table, "RMS norm forward", rows, 2, [&] { return rms(x, gamma); });
}

/// The loss over a vocabulary and its gradient.
void compareCrossEntropy(Table &table, const Rows &rows) {
  const Tensor logits = rows.noise();
  Tensor labels = Tensor::zeros({rows.count}, int32);
  for (int64_t row = 0; row < rows.count; ++row)
    labels.mutable_span<int32_t>()[static_cast<size_t>(row)] = static_cast<int32_t>(row * 7919 % rows.columns);
  auto step = jit([&](const Value &x, const Value &labels) {
    const Value picked = ops::log_softmax(x) * ops::one_hot(labels, rows.columns, x.dtype());
    const Value loss = -ops::mean(ops::sum(picked, -1));
    return Values{loss, gradients(loss, std::vector<Value>{x})[0]};
  });
  compare(table, "cross entropy and gradient", rows, 2, [&] { return step(logits, labels); });
}

void run(Table &table) {
  for (const Rows &rows :
       {Rows{}, Rows{4096, 1024, bfloat16}, Rows{4096, 1024, float16}, Rows{4096, 768}, Rows{1024, 4096}}) {
    compareSoftmax(table, rows);
    compareLayerNorm(table, rows);
  }
  compareOthers(table, {});
  compareCrossEntropy(table, {128, 32000});
}

} // namespace

int main() { return runProgram("rows", "row kernels against a copy of the same bytes, as a share of its speed", run); }
