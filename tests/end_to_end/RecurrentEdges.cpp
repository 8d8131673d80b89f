// Every recurrent layer under each policy: no rows, no steps, one step; a single kernel and a loop of launches.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <halftone/Halftone.h>
#include <map>
#include <string>

using namespace halftone;
using namespace halftone::layers;

namespace {

constexpr int64_t features = 3;

struct Case {
  const char *name;
  std::function<RNN()> layer;
  std::vector<int64_t> slice{features}; // the shape of one step
};
const Case cases[] = {
    {"SimpleRNN", [] { return SimpleRNN(4, {.return_sequences = true, .return_state = true}); }},
    {"LSTM", [] { return LSTM(4, {.return_sequences = true, .return_state = true}); }},
    {"LSTM backwards", [] { return LSTM(4, {.return_sequences = true, .return_state = true, .go_backwards = true}); }},
    {"GRU", [] { return GRU(4, {.return_sequences = true, .return_state = true}); }},
    {"GRU that resets before",
     [] { return GRU(4, {.return_sequences = true, .return_state = true, .reset_after = false}); }},
    {"stacked cells", [] { return RNN({LSTMCell(3), GRUCell(4)}, {.return_sequences = true, .return_state = true}); }},
    {"ConvLSTM1D",
     [] { return ConvLSTM1D(2, 2, {.padding = "same", .return_sequences = true, .return_state = true}); },
     {5, features}},
};
constexpr const char *policies[] = {"float32", "float64", "float16", "bfloat16", "mixed_float16", "mixed_bfloat16"};

/// Data with these leading extents and the slice of a step.
Tensor sequence(const Case &which, std::vector<int64_t> dims) {
  dims.insert(dims.end(), which.slice.begin(), which.slice.end());
  int64_t elements = 1;
  for (const int64_t extent : dims)
    elements *= extent;
  std::vector<float> values(static_cast<size_t>(elements));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(0.7f * static_cast<float>(i)) * 1.3f;
  return Tensor(values, Shape(dims));
}

/// Outputs and states of a call, then the gradients by the weights of the sum of all squares; in float64.
std::vector<Tensor> run(const RNN &layer, const Tensor &x, Numerics numerics) {
  const auto f = jit(
      [&](const Value &in) {
        const Values all = layer.outputs(in, {});
        Value loss = ops::zeros({});
        for (const Value &each : all)
          loss = loss + ops::sum(ops::square(ops::cast(each, float32)));
        std::vector<Value> results(all.begin(), all.end());
        for (const Value &slope : gradients(loss, layer.trainable_variables()))
          results.push_back(slope);
        return Values(results);
      },
      {.numerics = numerics});
  std::vector<Tensor> results;
  for (const Tensor &each : f(x))
    results.push_back(each.astype(float64));
  return results;
}

/// A built layer under the policy of the thread.
RNN built(const Case &which) {
  set_random_seed(3);
  RNN layer = which.layer();
  std::vector<int64_t> dims{none};
  dims.insert(dims.end(), which.slice.begin(), which.slice.end());
  (void)layer.outputs(Input(Shape(dims)));
  return layer;
}

template <class F> void forEach(const F &check) {
  for (const char *policy : policies) {
    const PolicyScope scope(policy);
    for (const Case &which : cases) {
      INFO(policy << " " << which.name);
      check(which, built(which));
    }
  }
}

std::vector<double> numbers(const Tensor &tensor) { return tensor.to_vector<double>(); }
bool isZero(const Tensor &tensor) {
  const std::vector<double> all = numbers(tensor);
  return std::all_of(all.begin(), all.end(), [](double each) { return each == 0; });
}

} // namespace

TEST_CASE("A recurrent layer gives no rows for none, and gradients of 0") {
  forEach([](const Case &which, const RNN &layer) {
    for (const Numerics numerics : {Numerics::fast, Numerics::strict}) {
      const std::vector<Tensor> found = run(layer, sequence(which, {0, 3}), numerics);
      const size_t outputs = found.size() - layer.trainable_variables().size();
      for (size_t i = 0; i < found.size(); ++i) {
        CHECK((i >= outputs || found[i].shape()[0] == 0));
        CHECK(isZero(found[i]));
      }
    }
  });
}

TEST_CASE("A recurrent layer gives its first states after no steps, and gradients of 0") {
  forEach([](const Case &which, const RNN &layer) {
    for (const Numerics numerics : {Numerics::fast, Numerics::strict}) {
      const std::vector<Tensor> found = run(layer, sequence(which, {2, 0}), numerics);
      CHECK(found[0].shape()[1] == 0);
      for (const Tensor &each : found)
        CHECK(isZero(each));
    }
  });
}

TEST_CASE("A recurrent layer gives after one step what its cell gives") {
  forEach([](const Case &which, const RNN &layer) {
    const Tensor x = sequence(which, {3, 1});
    const auto step = jit(
        [&](const Value &in) {
          const Values all = layer.outputs(ops::reshape(in, x.shape()), {});
          std::vector<Value> zeros{in};
          for (size_t i = 1; i < all.size(); ++i)
            zeros.push_back(ops::zeros_like(all[i]));
          return layer.cell().outputs(Values(zeros));
        },
        {.numerics = Numerics::strict});
    const Tensors expected = step(sequence(which, {3}));
    const std::vector<Tensor> found = run(layer, x, Numerics::strict);
    for (size_t i = 0; i < expected.size(); ++i)
      CHECK(numbers(found[i]) == numbers(expected[i].astype(float64)));
  });
}

TEST_CASE("One kernel for all steps gives what launches for each step give") {
  const std::map<std::string, double> tolerances{{"float32", 1e-5},  {"float64", 1e-5},       {"float16", 1e-2},
                                                 {"bfloat16", 8e-2}, {"mixed_float16", 1e-2}, {"mixed_bfloat16", 8e-2}};
  for (const char *policy : policies) {
    const PolicyScope scope(policy);
    for (const Case &which : cases)
      for (const int64_t rows : {1, 33}) {
        INFO(policy << " " << which.name << " " << rows);
        const RNN layer = built(which);
        const Tensor x = sequence(which, {rows, 7});
        const std::vector<Tensor> fast = run(layer, x, Numerics::fast), strict = run(layer, x, Numerics::strict);
        for (size_t i = 0; i < fast.size(); ++i) {
          const std::vector<double> found = numbers(fast[i]), expected = numbers(strict[i]);
          double largest = 1, error = 0;
          for (size_t at = 0; at < found.size(); ++at) {
            largest = std::max(largest, std::abs(expected[at]));
            error = std::max(error, std::abs(found[at] - expected[at]));
          }
          CHECK(error <= tolerances.at(policy) * largest);
        }
      }
  }
}
