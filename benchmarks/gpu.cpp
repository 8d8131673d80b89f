// Loops, rows and products on a GPU beside PyTorch on it. Exits with 77 if there is no GPU.
// SPDX-License-Identifier: Apache-2.0
#include "Peer.h"
#include "Race.h"
#include "Table.h"
#include <cstdio>
#include <fmt/format.h>
#include <halftone/Halftone.h>
#include <random>

using namespace halftone;
using namespace halftone::benchmarks;

namespace {

constexpr int skipped = 77;

Tensor noise(unsigned seed, const Shape &shape, DType dtype, Device device) {
  Tensor tensor = Tensor::zeros(shape);
  std::mt19937 random(seed);
  for (float &value : tensor.mutable_span<float>())
    value = static_cast<float>(random() >> 8) / 8388608.0f - 1.0f;
  return tensor.astype(dtype).to(device);
}

/// Measures the rows of the table on one GPU.
class Rounds {
public:
  Rounds(Table &table, Device gpu) : table(table), gpu(gpu), peer("PyTorch eager", "gpu", {}) {
    table.version("GPU", gpu.description());
    table.peer(peer);
  }

  /// Times `step`, a single play, which peers/gpu.py knows as `request`. `work` is the number of bytes or operations,
  /// in `unit`s of 1e9 or 1e12.
  void compare(const std::string &what, const std::string &request, const std::function<void()> &step, double work,
               const char *unit) {
    if (!table.wants(what))
      return;
    std::vector<Contestant> field = {{"ours", [&](int times) { return lap(step, times); }}};
    Row row{what, "", ""};
    row.note = peer.missing();
    if (row.note.empty())
      try {
        (void)peer.ask("prepare " + request);
        field.push_back(
            {peer.name(), [&](int times) { return peer.askNumbers(fmt::format("calls {}", times)).at(0); }});
      } catch (const std::runtime_error &error) {
        row.note = error.what();
      }
    const std::vector<double> seconds = race(field, 7, 0.1);
    const auto figure = [&](double of) { return fmt::format("{} {:.1f} {}", milliseconds(of), work / of, unit); };
    row.ours = figure(seconds[0]);
    if (field.size() > 1) {
      row.peer = peer.name() + " " + figure(seconds[1]);
      row.ratio = seconds[1] / seconds[0];
      row.bar = 1.0;
    }
    table.add(std::move(row));
  }

  /// Compares a program of x, an array of this shape. `arrays` is the number of such arrays that it must read and
  /// write.
  void compareRows(const std::string &kernel, const Shape &shape, DType dtype, int arrays,
                   const std::function<Value(const Value &)> &program) {
    const Tensor x = noise(3, shape, dtype, gpu);
    const auto run = jit(program, {.device = gpu});
    const double bytes = static_cast<double>(shape[0] * shape[1] * itemsize(dtype) * arrays);
    const std::string size = fmt::format("{} {} {}", name(dtype), shape[0], shape[1]);
    compare(
        fmt::format("{}, {} x {} {}", kernel, shape[0], shape[1], name(dtype)), kernel + " " + size,
        [&] { (void)run(x); }, bytes / 1e9, "GB/s");
  }

  void compareProduct(int64_t extent, DType dtype) {
    const Tensor a = noise(3, {extent, extent}, dtype, gpu), b = noise(5, {extent, extent}, dtype, gpu);
    const auto run = jit([](const Value &a, const Value &b) { return ops::matmul(a, b); }, {.device = gpu});
    const std::string size = fmt::format("{} {} {}", name(dtype), extent, extent);
    compare(
        fmt::format("product, {0} x {0} x {0} {1}", extent, name(dtype)), "product " + size, [&] { (void)run(a, b); },
        2e-12 * static_cast<double>(extent * extent) * static_cast<double>(extent), "TFLOP/s");
  }

private:
  /// The seconds per play over `times` plays. A GPU executes in order, so the scalar is available after all work is
  /// done.
  double lap(const std::function<void()> &step, int times) {
    return secondsOf([&] {
             for (int i = 0; i < times; ++i)
               step();
             (void)next(one).item<float>();
           }) /
           times;
  }

  Table &table;
  Device gpu;
  Peer peer;
  Tensor one = Tensor::ones({1}).to(gpu);
  std::function<Tensor(const Tensor &)> next = jit([](const Value &x) { return x + 1.0; }, {.device = gpu});
};

Value layerNorm(const Value &x) {
  const Value centered = x - ops::mean(x, -1, true);
  return centered * ops::rsqrt(ops::mean(ops::square(centered), -1, true) + 1e-3);
}

void run(Table &table, Device gpu) {
  Rounds rounds(table, gpu);
  for (DType dtype : {float32, bfloat16}) {
    rounds.compareRows("add", {8192, 8192}, dtype, 2, [](const Value &x) { return x + 1.0; });
    rounds.compareRows("softmax", {8192, 4096}, dtype, 2, [](const Value &x) { return ops::softmax(x); });
    rounds.compareRows("layer-norm", {8192, 4096}, dtype, 2, layerNorm);
  }
  rounds.compareProduct(4096, float32);
  for (DType dtype : {float16, bfloat16})
    for (int64_t extent : {1024, 4096, 8192})
      rounds.compareProduct(extent, dtype);
}

} // namespace

int main() {
  try {
    const Device gpu = Device::cuda(0);
    return runProgram("gpu", "loops, rows and products on a GPU", [&](Table &table) { run(table, gpu); });
  } catch (const Error &error) {
    fmt::print(stderr, "gpu: {}\n", error.what());
    return skipped;
  }
}
