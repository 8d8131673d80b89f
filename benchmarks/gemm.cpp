// Matrix products beside OpenBLAS, MKL and oneDNN: float32 in 24 shapes, narrow floats with packed weights, int8.
// SPDX-License-Identifier: Apache-2.0
#include "Operand.h"
#include "Peer.h"
#include "Race.h"
#include "Table.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <halftone/Halftone.h>
#include <sched.h>

using namespace halftone;
using namespace halftone::benchmarks;

namespace {

struct Product {
  int64_t m, n, k;
  std::string text() const { return fmt::format("{} x {} x {}", m, n, k); }
};

// M, N, K: square; the layers of 784-512-512-10 at several batch sizes; those of a transformer of width 768.
const std::vector<Product> products = {
    {64, 64, 64},     {128, 128, 128}, {256, 256, 256},  {512, 512, 512},  {1024, 1024, 1024}, {2048, 2048, 2048},
    {1, 512, 784},    {8, 512, 784},   {32, 512, 784},   {128, 512, 784},  {512, 512, 784},    {1, 512, 512},
    {16, 512, 512},   {128, 512, 512}, {1, 10, 512},     {32, 10, 512},    {128, 10, 512},     {512, 10, 512},
    {128, 2304, 768}, {128, 768, 768}, {128, 3072, 768}, {128, 768, 3072}, {512, 768, 768},    {1, 3072, 768}};

/// The products of a Dense layer in narrow floats.
const std::vector<Product> narrowProducts = {{1, 512, 784},   {8, 512, 784},     {32, 512, 784},   {128, 512, 784},
                                             {512, 512, 784}, {128, 512, 512},   {128, 768, 3072}, {128, 3072, 768},
                                             {512, 768, 768}, {1024, 1024, 1024}};

std::string gigaflops(const Product &p, double seconds) {
  const double work = 2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
  return fmt::format("{:.1f} us {:.0f} GF/s", seconds * 1e6, work / seconds * 1e-9);
}

using Peers = std::vector<std::unique_ptr<Peer>>;

struct Outcome {
  std::vector<double> seconds;    // of Halftone's contestants, then of the peers that answered
  std::vector<std::string> names; // of those peers
};

/// Compares Halftone's contestants with the peers that support the product in `dtype`.
Outcome compare(const Peers &peers, const std::string &dtype, const Product &p, std::vector<Contestant> field,
                double sum, double tolerance) {
  Outcome outcome;
  for (const std::unique_ptr<Peer> &peer : peers) {
    if (!peer->missing().empty())
      continue;
    double theirs = 0;
    try {
      theirs = peer->askNumbers(fmt::format("prepare {} {} {} {}", dtype, p.m, p.n, p.k)).at(0);
    } catch (const std::runtime_error &) {
      continue; // listed as missing in the table
    }
    if (std::abs(theirs - sum) > tolerance)
      throw std::runtime_error(
          fmt::format("{} {}: the sum of {}'s result is {}, ours {}", dtype, p.text(), peer->name(), theirs, sum));
    outcome.names.push_back(peer->name());
    field.push_back({peer->name(), [peer = peer.get()](int times) {
                       return peer->askNumbers(fmt::format("calls {}", times)).at(0);
                     }});
  }
  outcome.seconds = race(field, 7, 0.02);
  return outcome;
}

/// Adds a row with the times of all peers that answered, and appends the ratio to the fastest peer to `ratios`.
void addRow(Table &table, const std::string &what, const Product &p, const Outcome &outcome, const char *missing,
            std::vector<double> &ratios) {
  size_t best = 0;
  std::string all;
  for (size_t i = 1; i < outcome.seconds.size(); ++i) {
    best = best == 0 || outcome.seconds[i] < outcome.seconds[best] ? i : best;
    all += fmt::format("{}{} {}", i > 1 ? ", " : "", outcome.names[i - 1], gigaflops(p, outcome.seconds[i]));
  }
  Row row{what, gigaflops(p, outcome.seconds[0]), best ? all : missing};
  if (best) {
    ratios.push_back(outcome.seconds[best] / outcome.seconds[0]);
    row.ratio = ratios.back();
  }
  table.add(std::move(row));
}

void addGeometricMean(Table &table, const std::string &what, const std::vector<double> &ratios, double bar,
                      double stretch, bool worst) {
  if (ratios.empty())
    return;
  table.add({what + ", geometric mean", "", "", geometricMean(ratios), bar, stretch});
  if (worst)
    table.add({what + ", worst", "", "", *std::min_element(ratios.begin(), ratios.end()), 0.80, 0.90});
}

void wide(Table &table, const Peers &peers) {
  std::vector<double> ratios;
  for (const Product &p : products) {
    const std::string what = "float32 " + p.text();
    if (!table.wants(what))
      continue;
    const Tensor a = operand({p.m, p.k}, 13), b = operand({p.k, p.n}, 11);
    auto product = jit([](const Value &a, const Value &b) { return ops::matmul(a, b); });
    const Outcome outcome = compare(peers, "float32", p, {contestant("ours", [&] { (void)product(a, b); })},
                                    sumOf(product(a, b)), 1e-3 * static_cast<double>(p.m * p.n));
    addRow(table, what, p, outcome, "missing", ratios);
  }
  addGeometricMean(table, "float32 against the best library", ratios, 0.95, 1.05, true);
}

void narrow(Table &table, const Peers &peers, DType dtype, const std::string &name) {
  std::vector<double> ratios;
  for (const Product &p : narrowProducts) {
    const std::string what = fmt::format("Dense {} {}", name, p.text());
    if (!table.wants(what))
      continue;
    layers::Dense dense(p.n, {.use_bias = false, .dtype = name});
    const Tensor a = operand({p.m, p.k}, 13), b = operand({p.k, p.n}, 11), x = a.astype(dtype);
    auto product = jit([dense](const Value &x) mutable { return dense(x); });
    (void)product(x);
    dense.set_weights({b});
    const Tensor exact = jit([](const Value &a, const Value &b) { return ops::matmul(a, b); })(a, b);
    const Outcome outcome = compare(peers, name, p, {contestant("ours", [&] { (void)product(x); })}, sumOf(exact),
                                    4e-2 * static_cast<double>(p.m * p.n));
    addRow(table, what, p, outcome, "oneDNN missing", ratios);
  }
  addGeometricMean(table, "Dense " + name + " against oneDNN", ratios, 1.5, 1.8, false);
}

void integer(Table &table) {
  std::vector<double> ratios;
  for (const Product &p : {Product{128, 512, 784}, {512, 512, 512}, {128, 3072, 768}, {1024, 1024, 1024}}) {
    const std::string what = "int8 " + p.text();
    if (!table.wants(what))
      continue;
    const Tensor a = operand({p.m, p.k}, 13), b = operand({p.k, p.n}, 11);
    const Tensor i = Tensor::full({p.m, p.k}, 3, int8), j = Tensor::full({p.k, p.n}, -2, int8);
    auto product = jit([](const Value &a, const Value &b) { return ops::matmul(a, b); });
    if (const double sum = sumOf(product(i, j)); sum != -6.0 * static_cast<double>(p.m * p.n * p.k))
      throw std::runtime_error(fmt::format("int8 {}: the sum of the result is {}", p.text(), sum));
    const std::vector<double> seconds =
        race({contestant("int8", [&] { (void)product(i, j); }), contestant("float32", [&] { (void)product(a, b); })}, 9,
             0.02);
    ratios.push_back(seconds[1] / seconds[0]);
    table.add({what, gigaflops(p, seconds[0]), "our float32 " + gigaflops(p, seconds[1]), ratios.back()});
  }
  addGeometricMean(table, "int8 against our float32", ratios, 2.5, 3.5, false);
}

void run(Table &table) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  ::sched_getaffinity(0, sizeof cores, &cores);
  const std::string threads = std::to_string(CPU_COUNT(&cores)); // the number of threads of Halftone's plans
  Peers libraries, narrowLibraries;
  for (const char *name : {"OpenBLAS", "MKL", "oneDNN", "oneDNN of PyTorch"}) {
    libraries.push_back(std::make_unique<Peer>(name, "gemm", std::vector<std::string>{name, threads}));
    const Peer &peer = *libraries.back();
    table.peer(peer);
    if (!peer.missing().empty())
      table.add({"float32", "", std::string(name) + " missing", {}, {}, {}, false, peer.missing()});
  }
  wide(table, libraries);
  for (const size_t copy : {2, 3}) // the two copies of oneDNN
    narrowLibraries.push_back(std::move(libraries[copy]));
  narrow(table, narrowLibraries, bfloat16, "bfloat16");
  narrow(table, narrowLibraries, float16, "float16");
  integer(table);
}

} // namespace

int main() { return runProgram("gemm", "matrix products, M x N x K", run); }
