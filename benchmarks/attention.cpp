// Attention beside PyTorch's flash kernel and JAX, and beside Halftone's own products and softmax.
// SPDX-License-Identifier: Apache-2.0
#include "Operand.h"
#include "Peer.h"
#include "Race.h"
#include "Table.h"
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <halftone/Halftone.h>
#include <sched.h>

using namespace halftone;
using namespace halftone::benchmarks;

namespace {

struct Case {
  int64_t batch = 1, length = 1024, heads = 12, depth = 64;
  DType dtype = float32;
  bool causal = false, trains = false; // trains: also computes the gradient by query, key and value

  std::string title() const {
    return fmt::format("{}{}, {} x {} x {} heads of {}, {}", trains ? "with its gradient" : "forward",
                       causal ? ", causal" : "", batch, length, heads, depth, name(dtype));
  }
  std::string request() const {
    return fmt::format("prepare {} {} {} {} {} {} {}", trains ? "train" : "forward", name(dtype), batch, length, heads,
                       depth, int(causal));
  }
  /// A query, key, value or cotangent.
  Tensor operandOf(int64_t period) const { return operand({batch, length, heads, depth}, period).astype(dtype); }
};

using Attention = std::function<Value(const Value &, const Value &, const Value &)>;

Attention fused(const Case &of) {
  return [of](const Value &q, const Value &k, const Value &v) {
    return ops::dot_product_attention(q, k, v, {.is_causal = of.causal});
  };
}

/// Attention as two products and a softmax, each in a separate kernel.
Attention decomposed(const Case &of) {
  return [of](const Value &q, const Value &k, const Value &v) {
    Value scores = ops::cast(ops::einsum("btnh,bsnh->bnts", {q, k}), float32) / std::sqrt(double(of.depth));
    if (of.causal) {
      const Value index = ops::arange(double(of.length)), row = ops::expand_dims(index, 1);
      scores = ops::where(ops::greater_equal(row, index), scores, ops::full_like(scores, -1e9));
    }
    return ops::einsum("bnts,bsnh->btnh", {ops::cast(ops::softmax(scores), of.dtype), v});
  };
}

std::function<Tensors()> workOf(const Case &of, const Attention &attention) {
  const Tensor q = of.operandOf(13), k = of.operandOf(11), v = of.operandOf(7), cotangent = of.operandOf(5);
  if (!of.trains) {
    auto f = jit(attention);
    return [=]() mutable { return Tensors{f(q, k, v)}; };
  }
  auto f = jit([attention](const Value &q, const Value &k, const Value &v, const Value &cotangent) {
    const Value out = attention(q, k, v);
    std::vector<Value> results = gradients(ops::sum(ops::cast(out * cotangent, float32)), std::vector<Value>{q, k, v});
    results.insert(results.begin(), out);
    return Values(std::move(results));
  });
  return [=]() mutable { return f(q, k, v, cotangent); };
}

double sumOfSquares(const Tensor &tensor) {
  const Tensor wide = tensor.astype(float32);
  double sum = 0;
  for (float value : wide.span<float>())
    sum += double(value) * double(value);
  return sum;
}

void checkSums(const Case &of, const std::string &name, const std::vector<double> &theirs,
               const std::vector<double> &ours) {
  const double tolerance = of.dtype == float32 ? 1e-3 : 5e-2;
  bool same = theirs.size() == ours.size();
  for (size_t i = 0; same && i < ours.size(); ++i)
    same = std::abs(theirs[i] - ours[i]) <= tolerance * (std::abs(ours[i]) + 1e-3);
  if (!same)
    throw std::runtime_error(fmt::format("{}: the sums of squares of {}'s results are {}, ours {}", of.title(), name,
                                         fmt::join(theirs, ", "), fmt::join(ours, ", ")));
}

std::vector<double> sumsOf(const Tensors &results) {
  std::vector<double> sums;
  for (const Tensor &result : results)
    sums.push_back(sumOfSquares(result));
  return sums;
}

void compare(Table &table, std::vector<std::unique_ptr<Peer>> &peers, const Case &of) {
  if (!table.wants(of.title()))
    return;
  const std::function<Tensors()> ours = workOf(of, fused(of)), plain = workOf(of, decomposed(of));
  const std::vector<double> sums = sumsOf(ours());
  checkSums(of, "the decomposition", sumsOf(plain()), sums);
  std::vector<Contestant> field{contestant("ours", [&] { (void)ours(); }),
                                contestant("decomposed", [&] { (void)plain(); })};
  std::string missing;
  for (const std::unique_ptr<Peer> &peer : peers) {
    if (!peer->missing().empty()) {
      missing += fmt::format("{} missing: {} ", peer->name(), peer->missing());
      continue;
    }
    checkSums(of, peer->name(), peer->askNumbers(of.request()), sums);
    field.push_back({peer->name(), [peer = peer.get()](int times) {
                       return peer->askNumbers(fmt::format("calls {}", times)).at(0);
                     }});
  }
  const std::vector<double> seconds = race(field, 7, 0.05);
  for (size_t i = 1; i < field.size(); ++i) {
    Row row{fmt::format("{}, beside {}", of.title(), field[i].name), milliseconds(seconds[0]),
            field[i].name + " " + milliseconds(seconds[i]), seconds[i] / seconds[0]};
    if (field[i].name == "decomposed" && !of.trains)
      row.bar = 1.5;
    else if (field[i].name == "PyTorch eager")
      row.bar = of.trains ? 0.8 : 0.9;
    row.note = missing;
    table.add(std::move(row));
  }
}

/// The arena size of a layer's forward pass over `length` positions.
long long arenaOf(int64_t length) {
  const Value input = Input({length, 256});
  const Value output = layers::MultiHeadAttention(4, 64)(input, input);
  const std::string plan = Model(input, output).ir(Stage::plan, {.batch_size = 1});
  long long bytes = 0;
  const size_t at = plan.find("arena ");
  if (at == std::string::npos || std::sscanf(plan.c_str() + at, "arena %lld bytes", &bytes) != 1)
    throw std::runtime_error("the text of the plan does not contain the size of the arena");
  return bytes;
}

void memory(Table &table) {
  if (!table.wants("memory"))
    return;
  const long long small = arenaOf(1024), large = arenaOf(8192);
  table.add({"memory of a layer, 8192 places beside 1024", fmt::format("{} bytes", large),
             fmt::format("{} bytes", small), double(large) / double(small), 8.5, std::nullopt, true});
}

void body(Table &table) {
  cpu_set_t cpus;
  const int threads = sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
  std::vector<std::unique_ptr<Peer>> peers;
  for (const char *name : {"PyTorch eager", "JAX jit"}) {
    peers.push_back(std::make_unique<Peer>(name, "attention", std::vector<std::string>{name, std::to_string(threads)}));
    table.peer(*peers.back());
  }
  for (bool trains : {false, true})
    for (DType dtype : {float32, bfloat16})
      for (bool causal : {false, true})
        compare(table, peers, {.dtype = dtype, .causal = causal, .trains = trains});
  compare(table, peers, {.batch = 16, .length = 256, .heads = 6, .causal = true, .trains = true}); // as in a small GPT
  compare(table, peers, {.length = 8192, .heads = 2, .causal = true});
  // Few heads: one text at a time.
  for (DType dtype : {float32, bfloat16})
    for (bool causal : {false, true})
      compare(table, peers, {.length = 2048, .heads = 1, .dtype = dtype, .causal = causal, .trains = true});
  compare(table, peers, {.length = 2048, .heads = 3, .trains = true});
  compare(table, peers, {.length = 8192, .heads = 1, .causal = true, .trains = true});
  memory(table);
}

} // namespace

int main() { return runProgram("attention", "Attention beside other libraries and beside its parts", body); }
