// Row kernels of several shapes and dtypes beside PyTorch and JAX, and in float32 also beside copying their bytes.
// SPDX-License-Identifier: Apache-2.0
#include "Peer.h"
#include "Race.h"
#include "Table.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <halftone/Halftone.h>
#include <random>
#include <thread>

using namespace halftone;
using namespace halftone::benchmarks;

namespace {

/// Copies one half of a buffer to the other, split over all threads. Between copies the threads spin, like those of a
/// worker pool.
class Copier {
public:
  explicit Copier(int64_t moved) : bytes(static_cast<size_t>(moved / 2)), from(bytes, 1), to(bytes, 2) {}
  /// Makes `times` copies and returns the seconds per copy.
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
  Tensor x() const { return noise(3, {count, columns}); }
  Tensor dy() const { return noise(5, {count, columns}); }
  Tensor gamma() const { return noise(7, {columns}); }
  Tensor beta() const { return noise(9, {columns}); }
  Tensor labels() const {
    Tensor labels = Tensor::zeros({count}, int32);
    for (int64_t row = 0; row < count; ++row)
      labels.mutable_span<int32_t>()[static_cast<size_t>(row)] = static_cast<int32_t>(row * 7919 % columns);
    return labels;
  }

private:
  /// The noise that peers/rows.py generates.
  Tensor noise(unsigned seed, const Shape &shape) const {
    Tensor tensor = Tensor::zeros(shape);
    std::mt19937 random(seed);
    for (float &value : tensor.mutable_span<float>())
      value = static_cast<float>(random() >> 8) / 8388608.0f - 1.0f;
    return tensor.astype(dtype);
  }
};

double sumOfSquares(const Tensor &tensor) {
  const Tensor wide = tensor.astype(float32);
  double sum = 0;
  for (float value : wide.span<float>())
    sum += static_cast<double>(value) * static_cast<double>(value);
  return sum;
}

/// Throws if a peer's results differ from Halftone's.
void check(const std::string &what, const Peer &peer, DType dtype, const std::vector<double> &ours,
           const std::vector<double> &theirs) {
  const double tolerance = dtype == float32 ? 1e-4 : 2e-2;
  bool same = ours.size() == theirs.size();
  for (size_t i = 0; same && i < ours.size(); ++i)
    same = std::abs(ours[i] - theirs[i]) <= tolerance * std::abs(ours[i]);
  if (!same)
    throw std::runtime_error(fmt::format("{}: the sums of squares of {}'s results are {}, ours {}", what, peer.name(),
                                         fmt::join(theirs, ", "), fmt::join(ours, ", ")));
}

/// Measures the rows of the table.
class Rounds {
public:
  explicit Rounds(Table &table) : table(table) {
    for (const char *name : {"PyTorch eager", "JAX jit"}) {
      peers.push_back(
          std::make_unique<Peer>(name, "rows", std::vector<std::string>{name, std::to_string(coreCount())}));
      const Peer &peer = *peers.back();
      table.peer(peer);
    }
  }

  /// `step` computes the results of `kernel`, which peers/rows.py names with "-" for blanks. `moved` is the number of
  /// full arrays that the kernel must read and write.
  void compare(const std::string &kernel, const Rows &rows, int moved, const std::function<Tensors()> &step) {
    const std::string what = title(kernel, rows);
    if (!table.wants(what))
      return;
    std::vector<double> sums;
    for (const Tensor &result : step())
      sums.push_back(sumOfSquares(result));
    std::vector<Contestant> field = {contestant("ours", [&] { (void)step(); })};
    std::string missing;
    std::string request = "prepare " + kernel;
    std::replace(request.begin() + 8, request.end(), ' ', '-');
    request += fmt::format(" {} {} {}", name(rows.dtype), rows.count, rows.columns);
    for (const std::unique_ptr<Peer> &peer : peers) {
      std::string reason = peer->missing();
      if (reason.empty())
        try {
          check(what, *peer, rows.dtype, sums, peer->askNumbers(request));
        } catch (const std::runtime_error &error) {
          reason = error.what();
        }
      if (reason.empty())
        field.push_back({peer->name(), [peer = peer.get()](int times) {
                           return peer->askNumbers(fmt::format("calls {}", times)).at(0);
                         }});
      else
        missing += fmt::format("{}{} missing: {}", missing.empty() ? "" : "; ", peer->name(), reason);
    }
    const size_t running = field.size();
    Copier copier(moved * rows.count * rows.columns * itemsize(rows.dtype));
    if (rows.dtype == float32)
      field.push_back({"copy", [&](int times) { return copier.lap(times); }});
    const std::vector<double> seconds = race(field, 11, 0.05);
    Row row{what, milliseconds(seconds[0]), ""};
    for (size_t i = 1; i < running; ++i)
      row.peer += fmt::format("{}{} {}", i > 1 ? ", " : "", field[i].name, milliseconds(seconds[i]));
    if (running > 1) {
      row.ratio = *std::min_element(seconds.begin() + 1, seconds.begin() + static_cast<int64_t>(running)) / seconds[0];
      row.bar = 1.3;
      row.stretch = 2.0;
    }
    row.note = missing;
    table.add(std::move(row));
    if (rows.dtype == float32)
      table.add({what + ", beside a copy", milliseconds(seconds[0]), "copy " + milliseconds(seconds.back()),
                 seconds.back() / seconds[0], 0.7, 0.9});
  }

private:
  static std::string title(const std::string &kernel, const Rows &rows) {
    return fmt::format("{}, {} x {} {}", kernel, rows.count, rows.columns, name(rows.dtype));
  }

  Table &table;
  std::vector<std::unique_ptr<Peer>> peers;
};

Value layerNorm(const Value &x, const Value &gamma, const Value &beta) {
  const Value centered = x - ops::mean(x, -1, true);
  const Value variance = ops::mean(ops::square(centered), -1, true);
  return centered * ops::rsqrt(variance + 1e-3) * gamma + beta;
}

void compareSoftmax(Rounds &rounds, const Rows &rows) {
  const Tensor x = rows.x(), dy = rows.dy();
  auto forward = jit([](const Value &x) { return ops::softmax(x); });
  rounds.compare("softmax forward", rows, 2, [&] { return Tensors{forward(x)}; });
  auto backward = jit([](const Value &y, const Value &dy) { return y * (dy - ops::sum(y * dy, -1, true)); });
  rounds.compare("softmax backward", rows, 3, [&] { return Tensors{backward(x, dy)}; });
}

void compareLayerNorm(Rounds &rounds, const Rows &rows) {
  const Tensor x = rows.x(), dy = rows.dy(), gamma = rows.gamma(), beta = rows.beta();
  auto forward = jit([](const Value &x, const Value &gamma, const Value &beta) { return layerNorm(x, gamma, beta); });
  rounds.compare("layer norm forward", rows, 2, [&] { return Tensors{forward(x, gamma, beta)}; });
  // As recorded by a model, from x and the gradient of the result.
  auto backward = jit([](const Value &x, const Value &gamma, const Value &beta, const Value &dy) {
    return Values(gradients(ops::sum(layerNorm(x, gamma, beta) * dy), std::vector<Value>{x, gamma, beta}));
  });
  rounds.compare("layer norm backward", rows, 3, [&] { return backward(x, gamma, beta, dy); });
}

void compareOthers(Rounds &rounds, const Rows &rows) {
  const Tensor x = rows.x(), gamma = rows.gamma();
  auto logSoftmax = jit([](const Value &x) { return ops::log_softmax(x); });
  rounds.compare("log softmax forward", rows, 2, [&] { return Tensors{logSoftmax(x)}; });
  auto rms = jit([](const Value &x, const Value &gamma) {
    return x * ops::rsqrt(ops::mean(ops::square(x), -1, true) + 1e-6) * gamma;
  });
  rounds.compare("rms norm forward", rows, 2, [&] { return Tensors{rms(x, gamma)}; });
}

/// Measures cumulative sums along rows and along columns.
void compareScans(Rounds &rounds, const Rows &rows) {
  const Tensor x = rows.x();
  auto alongRows = jit([](const Value &x) { return ops::cumsum(x, 1); });
  rounds.compare("cumsum along rows", rows, 2, [&] { return Tensors{alongRows(x)}; });
  auto alongColumns = jit([](const Value &x) { return ops::cumsum(x, 0); });
  rounds.compare("cumsum along columns", rows, 2, [&] { return Tensors{alongColumns(x)}; });
}

/// Measures the cross-entropy over a vocabulary and its gradient.
void compareCrossEntropy(Rounds &rounds, const Rows &rows) {
  const Tensor logits = rows.x(), labels = rows.labels();
  const losses::SparseCategoricalCrossentropy lossOf({.from_logits = true});
  auto step = jit([&](const Value &x, const Value &labels) {
    const Value loss = lossOf(labels, x);
    return Values{loss, gradients(loss, std::vector<Value>{x})[0]};
  });
  rounds.compare("cross entropy", rows, 2, [&] { return step(logits, labels); });
}

void run(Table &table) {
  Rounds rounds(table);
  const std::vector<DType> dtypes = {float32, bfloat16, float16};
  for (DType dtype : dtypes) {
    compareSoftmax(rounds, {4096, 1024, dtype});
    compareLayerNorm(rounds, {4096, 1024, dtype});
    compareOthers(rounds, {4096, 1024, dtype});
    compareCrossEntropy(rounds, {128, 32000, dtype});
  }
  compareScans(rounds, {4096, 1024});
  for (const Rows &rows : {Rows{4096, 768}, Rows{1024, 4096}}) {
    compareSoftmax(rounds, rows);
    compareLayerNorm(rounds, rows);
  }
}

} // namespace

int main() {
  return runProgram("rows", "row kernels beside other libraries, and beside a copy of the same bytes", run);
}
