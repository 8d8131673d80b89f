// Each pair of a layer and a quantization mode has a row in the calibration report, or a reason for its absence.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/CapturedOutput.h"
#include "tests/frontend/Recorded.h"
#include <algorithm>
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::layers;
using Catch::Matchers::Contains;

namespace {

const Tensor x = Tensor::ones({16, 32}), y = Tensor::ones({16, 2});
Sequential net(const char *first, const char *second) {
  return Sequential({Input({32}), Dense(64, {.activation = "relu", .dtype = first, .name = "first"}),
                     Dense(2, {.dtype = second, .name = "second"})},
                    {.name = "net"});
}
bool hasReason(const CalibrationReport &report, const std::string &path, const std::string &words) {
  return std::ranges::any_of(report.skipped, [&](const QuantizationReport::Skipped &each) {
    return each.path.ends_with(path) && each.reason.find(words) != std::string::npos;
  });
}

} // namespace

TEST_CASE("A layer that computes in float16 has no row under int8, and a reason") {
  const Sequential model = net("mixed_float16", "mixed_bfloat16");
  const CalibrationReport report = model.quantization_report(x, {.modes = {"int8", "int4"}, .time_layers = false});
  CHECK(report.rows.size() == 3);
  CHECK(report.skipped.size() == 1);
  CHECK(hasReason(report, "first", "int8: Quantization mode='int8' doesn't work well with compute_dtype='float16'."));
  CHECK_THAT(report.text(), Contains("doesn't work well with compute_dtype='float16'"));
}

TEST_CASE("A layer that one of the modes quantizes has a reason for each of the others") {
  const Sequential model(
      {Input({8}, {.dtype = int32}), Embedding(10, 4, {.name = "table"}), Dense(2, {.name = "dense"})});
  const CalibrationReport report = model.quantization_report(Tensor::ones({4, 8}, int32), {.time_layers = false});
  CHECK(report.rows.size() == 5);
  CHECK(hasReason(report, "table", "float8: no quantize support"));
  CHECK(report.rows.size() + report.skipped.size() == 6);
}

TEST_CASE("suggest_policy_map says which layers int8 leaves out, and refuses a model of which it leaves all out") {
  const Sequential none = net("mixed_float16", "mixed_float16");
  none.compile({.optimizer = "sgd", .loss = "mse"});
  CHECK_THROWS_WITH(none.suggest_policy_map(x, y, {.mode = "int8"}),
                    Contains("ValueError: suggest_policy_map() cannot quantize any layer. Quantization mode='int8'"));
  CHECK_NOTHROW(none.suggest_policy_map(x, y, {.mode = "int4"}));
  const Sequential some = net("mixed_float16", "mixed_bfloat16");
  some.compile({.optimizer = "sgd", .loss = "mse"});
  std::string output;
  {
    const test::CapturedOutput captured;
    (void)some.suggest_policy_map(x, y, {.mode = "int8", .max_loss_increase = 1e9});
    output = captured.text;
  }
  CHECK_THAT(output, Contains("warning: suggest_policy_map() leaves out") && Contains("first") && !Contains("second"));
}
