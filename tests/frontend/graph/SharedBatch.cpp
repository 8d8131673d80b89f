// The terms that a process contributes to the sums of a step. The process is alone, but the step assumes several.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/SharedBatch.h"
#include "frontend/graph/CompiledFunction.h"
#include "halftone/Halftone.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::detail;

namespace {

/// The results of a traced function of x = 8 in a process that has `rows` of the `allRows` rows. Since the program is
/// played without the other processes, the sums are the values of this process.
std::vector<double> partsOf(int64_t processes, double rows, double allRows) {
  CompiledFunction function(
      {.name = "parts"}, {"x", "rows", "all"}, [&](Trace &trace, const std::vector<Value> &feeds, const FeedLayout &) {
        const Value x = feeds[0] * 1.0;
        trace.sharedBatch = SharedBatch{1, processes, feeds[1], feeds[2]};
        std::vector<CompiledFunction::Named> fetches{
            {"sum", sumOverProcesses(x)},     {"rows", sumOfRows(x)},        {"mean", meanOverProcesses(x)},
            {"part of mean", partOfMean(x)},  {"part of sum", partOfSum(x)}, {"parts", meanOfParts(x, 3)},
            {"all", rowsOfAll(99, feeds[0])},
        };
        trace.sharedBatch.reset(); // the player has no group
        return fetches;
      });
  std::vector<double> results;
  for (const Tensor &each : function.run({Tensor::scalar(8.0f), Tensor::full({}, rows), Tensor::full({}, allRows)}))
    results.push_back(each.item<float>());
  return results;
}

} // namespace

TEST_CASE("Parts of means are weighed by rows, and a process without rows adds nothing") {
  CHECK(partsOf(4, 5, 20) == std::vector<double>{8, 8, 2, 8, 32, 8, 20}); // the factor is exactly 1
  CHECK(partsOf(2, 3, 4) == std::vector<double>{8, 8, 4, 12, 16, 8, 4});
  CHECK(partsOf(2, 0, 1) == std::vector<double>{8, 0, 4, 0, 0, 8, 1});
}

TEST_CASE("The rows of all processes hold those of this one in their place") {
  const auto joined = [](int64_t rank, int64_t allRows, const Tensor &own, double rows) {
    CompiledFunction function({.name = "joined"}, {"x", "rows"},
                              [&](Trace &trace, const std::vector<Value> &feeds, const FeedLayout &) {
                                trace.sharedBatch = SharedBatch{rank, 2, feeds[1], feeds[1], allRows};
                                const Value all = joinedRows(feeds[0]);
                                trace.sharedBatch.reset(); // the player has no group
                                return std::vector<CompiledFunction::Named>{{"all", all}};
                              });
    return function.run({own, Tensor::full({}, rows)}).front();
  };
  const Tensor two = Tensor::of<float>({1, 2, 3, 4}, {2, 2}), one = Tensor::of<float>({5, 6}, {1, 2});
  CHECK(joined(1, 5, two, 2).to_vector<float>() == std::vector<float>{0, 0, 0, 0, 0, 0, 1, 2, 3, 4});
  CHECK(joined(0, 3, two, 2).to_vector<float>() == std::vector<float>{1, 2, 3, 4, 0, 0});
  CHECK(joined(1, 1, one, 0).to_vector<float>() == std::vector<float>{0, 0}); // a process without rows
  const Tensor mask = joined(1, 2, Tensor::ones({1}).astype(DType::bool_), 1);
  CHECK(mask.dtype() == DType::bool_);
  CHECK(mask.astype(float32).to_vector<float>() == std::vector<float>{0, 1});
}

TEST_CASE("A function joins rows unless it gives one for each row of the batch") {
  std::vector<bool> joins;
  CompiledFunction function(
      {.name = "joins"}, {"x", "rows"}, [&](Trace &trace, const std::vector<Value> &feeds, const FeedLayout &) {
        const auto ask = [&](const std::function<Value(const Value &)> &f) {
          joins.push_back(joinsRows({feeds[0]}, [&](const std::vector<Value> &v) { return f(v[0]); }));
        };
        ask([](const Value &x) { return ops::mean(x); }); // in a single process
        trace.sharedBatch = SharedBatch{0, 2, feeds[1], feeds[1], 6};
        ask([](const Value &x) { return ops::mean(x); });
        ask([](const Value &x) { return ops::mean(x, 0); }); // the numbers of rows and columns are equal
        ask([](const Value &x) { return ops::mean(x, -1); });
        ask([](const Value &x) { return ops::square(x); });
        trace.sharedBatch.reset();
        return std::vector<CompiledFunction::Named>{{"y", feeds[0]}};
      });
  (void)function.run({Tensor::ones({3, 3}), Tensor::full({}, 3.0)});
  CHECK(joins == std::vector<bool>{false, true, true, false, false});
}

TEST_CASE("In a step of one process all parts are the whole") {
  CompiledFunction function(
      {.name = "whole"}, {"x"}, [&](Trace &, const std::vector<Value> &feeds, const FeedLayout &) {
        const Value &x = feeds[0];
        return std::vector<CompiledFunction::Named>{{"a", sumOverProcesses(x)},  {"b", sumOfRows(x)},
                                                    {"c", meanOverProcesses(x)}, {"d", partOfMean(x)},
                                                    {"e", partOfSum(x)},         {"f", meanOfParts(x, 3)}};
      });
  for (const Tensor &each : function.run({Tensor::scalar(8.0f)}))
    CHECK(each.item<float>() == 8);
}

TEST_CASE("The values of a step travel in one bucket, before the wait for it, and readers follow") {
  CompiledFunction function(
      {.name = "bucket"}, {"x", "rows", "all"}, [&](Trace &trace, const std::vector<Value> &feeds, const FeedLayout &) {
        trace.sharedBatch = SharedBatch{0, 2, feeds[1], feeds[2]};
        const Value a = sumOverProcesses(ops::exp(feeds[0])), b = sumOverProcesses(ops::tanh(feeds[0]));
        trace.sharedBatch.reset();
        return std::vector<CompiledFunction::Named>{{"y", a * b}};
      });
  const TensorType vector{DType::float32, {16}}, scalar{DType::float32, {}};
  const std::string plan = function.ir(Stage::plan, {vector, scalar, scalar});
  const size_t sent = plan.find("all_reduce sum"), waited = plan.find(": wait");
  CHECK(sent != plan.npos);
  CHECK(plan.find("all_reduce", sent + 1) == plan.npos);
  CHECK(waited > sent);
  CHECK(waited != plan.npos);
}

TEST_CASE("distribution::sum() and mean() in a process alone are their argument") {
  const auto both = jit([](const Value &x) { return std::array{distribution::sum(x), distribution::mean(x)}; });
  const Tensor x = Tensor::of<float>({1, -2, 60000}, {3});
  for (const DType dtype : {float32, float16, bfloat16, float64}) {
    const auto [sum, mean] = both(x.astype(dtype));
    CHECK(sum.dtype() == dtype);
    CHECK(mean.dtype() == dtype);
    CHECK(sum.astype(float64).to_vector<double>() == x.astype(dtype).astype(float64).to_vector<double>());
    CHECK(mean.astype(float64).to_vector<double>() == sum.astype(float64).to_vector<double>());
  }
  const auto [flags, share] = both(Tensor::ones({2}).astype(DType::bool_)); // like ops::sum() and ops::mean()
  CHECK(flags.dtype() == int32);
  CHECK(share.dtype() == float32);
  const auto slope =
      jit([](const Value &v) { return gradients(distribution::sum(ops::sum(v * v)), std::vector<Value>{v})[0]; });
  CHECK(slope(Tensor::of<float>({3}, {1})).item<float>() == 6);
}

TEST_CASE("distribution::sum() and mean() refuse what is no Value of a function being traced") {
  const auto errorOf = [](const std::function<void()> &f) -> std::string {
    try {
      f();
    } catch (const Error &error) {
      return error.what();
    }
    return "";
  };
  using Catch::Matchers::Contains;
  CHECK_THAT(errorOf([] { (void)distribution::sum(Input({2})); }),
             Contains("RuntimeError: distribution::sum() is for functions being traced"));
  CHECK_THAT(errorOf([] { (void)distribution::mean(Input({2})); }),
             Contains("RuntimeError: distribution::mean() is for functions being traced"));
  CHECK_THAT(errorOf([] { (void)distribution::sum(Value()); }),
             Contains("ValueError: distribution::sum() of an undefined Value"));
}
