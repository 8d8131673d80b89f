// The effect of quantization on layers for given data: the report, its formats, and the map that a loss permits.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include "runtime/base/ConfigAccess.h"
#include "tests/TemporaryFolder.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <sstream>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;

namespace {

Tensor wave(const Shape &shape, double step = 0.7) {
  std::vector<float> data(static_cast<size_t>(shape.elements()));
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<float>(std::sin(static_cast<double>(i) * step));
  return Tensor(std::move(data), shape);
}
/// A model in which one kernel element of layer "rough" is much larger than the others.
Model roughModel() {
  set_random_seed(3);
  const Input input({16});
  const Dense rough(16, {.name = "rough"}), fine(8, {.activation = "relu", .name = "fine"});
  const Model model({input}, {Dense(4, {.name = "out"})(fine(LayerNormalization({.name = "norm"})(rough(input))))});
  std::vector<float> kernel = rough.kernel().value().to_vector<float>();
  for (size_t i = 0; i < 16; ++i)
    kernel[i * 16 + 3] = i == 0 ? 400.0f : 0.01f;
  rough.kernel().assign(Tensor(std::move(kernel), {16, 16}));
  return model;
}
Tensor withoutFirst(const Shape &shape) { // the large element is multiplied by zeros
  std::vector<float> data = wave(shape).to_vector<float>();
  for (size_t i = 0; i < data.size(); i += 16)
    data[i] = 0.0f;
  return Tensor(std::move(data), shape);
}

const CalibrationReport::Row &rowOf(const CalibrationReport &report, const std::string &path, const std::string &mode) {
  for (const CalibrationReport::Row &row : report.rows)
    if (row.path == path && row.mode == mode)
      return row;
  throw Error(ErrorKind::key_error, "no row " + path + " " + mode);
}

/// 10 log10 of the ratio of two sums of squares.
double decibels(const std::vector<double> &expected, const std::vector<double> &found) {
  double signal = 0, noise = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    signal += expected[i] * expected[i];
    noise += (found[i] - expected[i]) * (found[i] - expected[i]);
  }
  return 10 * std::log10(signal / noise);
}

} // namespace

// policies 6.16
TEST_CASE("A quantization report measures the error of each layer on the inputs that it has in the model") {
  const Model model = roughModel();
  const Tensor x = withoutFirst({8, 16});
  const std::vector<double> before = numbers(model.predict(x, {.verbose = 0}));
  const CalibrationReport report = model.quantization_report(x, {.time_layers = false});
  CHECK(numbers(model.predict(x, {.verbose = 0})) == before);
  CHECK(report.samples == 8);
  CHECK(report.rows.size() == 9);
  REQUIRE(report.skipped.size() == 1);
  CHECK(report.skipped[0].path == "norm");
  CHECK(report.skipped[0].reason == "no quantize support");
  const CalibrationReport::Row &rough = rowOf(report, "rough", "int8"), &fine = rowOf(report, "fine", "int8");
  CHECK(rough.worst_channel == 3);
  CHECK(rough.worst_signal_to_noise < 10);
  CHECK(rough.float_bytes == (16 * 16 + 16) * 4);
  CHECK(rough.bytes == 16 * 16 + 16 * 4 + 16 * 4);
  CHECK_FALSE(rough.seconds);
  CHECK(fine.signal_to_noise > 30);
  CHECK(rowOf(report, "fine", "int4").signal_to_noise < fine.signal_to_noise);
  CHECK(rowOf(report, "fine", "float8").signal_to_noise > 15);
  // The same figure computed by hand from the layer's inputs, floats and integers.
  const Layer first = model.get_layer("rough"), norm = model.get_layer("norm"), layer = model.get_layer("fine");
  const Tensor inside = norm(first(x));
  const Dense copy(8, {.activation = "relu"});
  (void)copy(inside);
  copy.set_weights(layer.get_weights());
  (void)copy.quantize("int8");
  CHECK(fine.signal_to_noise == Approx(decibels(numbers(layer(inside)), numbers(copy(inside)))).epsilon(1e-6));
}

// policies 6.16
TEST_CASE("A quantization report sees layers inside of others, shared ones, lookups, and times when it is asked") {
  const Input tokens({5}, {.dtype = int32});
  const Dense shared(6, {.name = "shared"});
  const Value rows = Embedding(9, 6, {.name = "table"})(tokens);
  const Value mixed = MultiHeadAttention(2, 3, {.name = "mha"})(shared(shared(rows)), rows);
  const Model model({tokens}, {Sequential({Dense(2, {.name = "head"})}, {.name = "tail"})(mixed)});
  const Tensor x = Tensor::of({0, 1, 2, 3, 4, 8, 7, 6, 5, 4}, {2, 5});
  const CalibrationReport report = model.quantization_report(x, {.modes = {"int8", "float8"}});
  for (const char *path : {"table", "shared", "mha/query", "mha/attention_output"}) {
    const CalibrationReport::Row &row = rowOf(report, path, "int8");
    CHECK(row.signal_to_noise > 25);
    CHECK(row.seconds.value_or(0) > 0);
    CHECK(row.float_seconds.value_or(0) > 0);
  }
  CHECK_THROWS_AS(rowOf(report, "table", "float8"), Error); // tables do not support this mode
  CHECK(report.skipped.size() == 2);                        // "mha" itself, and the table under float8
  const CalibrationReport one =
      model.quantization_report(x, {.modes = {"int4"}, .filters = "head", .time_layers = false});
  CHECK(one.rows.size() == 1);
}

// policies 6.16
TEST_CASE("A quantization report is a table, JSON and a section of the page") {
  const Model model = roughModel();
  const Tensor x = withoutFirst({4, 16});
  const CalibrationReport report = model.quantization_report(x, {.time_layers = false});
  std::ostringstream printed;
  printed << report;
  CHECK(printed.str() == report.text());
  CHECK_THAT(report.text(), Contains("measured on 4 samples against float32") && Contains("rough") &&
                                Contains(" dB at 3") && Contains("not measured") &&
                                Contains("norm: no quantize support"));
  const auto json = nlohmann::ordered_json::parse(report.json());
  CHECK(json.at("rows").size() == 9);
  CHECK(json.at("rows")[0].at("signal_to_noise").get<double>() == Approx(report.rows[0].signal_to_noise));
  CHECK(json.at("rows")[0].at("seconds").is_null());
  const TemporaryFolder folder;
  model.report(folder / "page.html", {.time_kernels = false, .calibration_data = x});
  std::stringstream page;
  page << std::ifstream(folder / "page.html").rdbuf();
  CHECK_THAT(page.str(), Contains("id=\"quantization\"") && Contains("<code>rough</code>") && Contains("not measured"));
  model.report(folder / "page.html", {.time_kernels = false});
  std::stringstream without;
  without << std::ifstream(folder / "page.html").rdbuf();
  CHECK(without.str().find("id=\"quantization\"") == std::string::npos);
}

// policies 6.16
TEST_CASE("A quantization report that cannot be made is one error") {
  const Model model = roughModel();
  const auto failing = [&](const Model &each, const Tensor &x, const CalibrationArgs &args = {}) {
    return errorOf([&] { (void)each.quantization_report(x, args); });
  };
  CHECK_THAT(failing(model, wave({4, 15})), Contains("ValueError") && Contains("(None, 16)"));
  CHECK_THAT(failing(model, wave({0, 16})), Contains("ValueError") && Contains("0 samples"));
  CHECK_THAT(failing(Sequential({Dense(2)}), wave({4, 16})), Contains("ValueError") && Contains("built"));
  CHECK_THAT(failing(model, wave({4, 16}), {.modes = {"gptq"}}),
             Contains("ValueError: Invalid quantization mode.") && Contains("mode=gptq"));
  const Sequential own({Input({3}), Dense(2, {.activation = [](const Value &x) { return x * x; }, .name = "own"})});
  const CalibrationReport report = own.quantization_report(wave({2, 3}));
  CHECK(report.rows.empty());
  REQUIRE(report.skipped.size() == 1);
  CHECK_THAT(report.skipped[0].reason, Contains("is a function, which a config cannot hold"));
  CHECK(own.get_layer("own").quantization_mode() == std::nullopt);
}

// policies 6.16
TEST_CASE("The suggested map quantizes the layers that the loss allows, and keeps the others") {
  const Model model = roughModel();
  const Tensor x = withoutFirst({32, 16}), y = model.predict(x, {.verbose = 0}) + 0.02;
  model.compile({.optimizer = "sgd", .loss = "mse"});
  const auto lossUnder = [&](const DTypePolicyMap &map) {
    const Model copy = clone_model(model);
    copy.set_weights(model.get_weights());
    (void)copy.apply_policy(map);
    copy.compile({.loss = "mse"});
    return copy.evaluate(x, y, {.verbose = 0})["loss"];
  };
  const double present = model.evaluate(x, y, {.verbose = 0})["loss"];
  const char *narrow = "int8_from_float32";
  const double two = lossUnder({{"fine", narrow}, {"out", narrow}}),
               three = lossUnder({{"fine", narrow}, {"out", narrow}, {"rough", narrow}});
  REQUIRE(present < two);
  REQUIRE(two < three);
  const double bound = (two + three) / 2;
  const DTypePolicyMap map = model.suggest_policy_map(x, y, {.max_loss_increase = bound / present - 1});
  CHECK(map["rough"].name() == "float32");
  CHECK(map["norm"].name() == "float32");
  CHECK(map["fine"].name() == "int8_from_float32");
  CHECK(map["out"].name() == "int8_from_float32");
  CHECK(lossUnder(map) == two);
  const DTypePolicyMap all = model.suggest_policy_map(x, y, {.max_loss_increase = 1e6});
  CHECK(all["rough"].name() == "int8_from_float32");
  CHECK(lossUnder(all) == three);
  CHECK(model.suggest_policy_map(x, y, {.max_loss_increase = 0.0, .filters = "nothing"}).size() == 0);
  const DTypePolicyMap halves = model.suggest_policy_map(x, y, {.mode = "int4", .max_loss_increase = 1e6});
  CHECK(halves["fine"].name() == "int4/128_from_float32");
  CHECK(model.get_layer("fine").quantization_mode() == std::nullopt);
  (void)model.apply_policy(map);
  CHECK(model.get_layer("fine").quantization_mode() == "int8");
}

// policies 6.16
TEST_CASE("A suggestion that cannot be made is one error and changes nothing") {
  const Model model = roughModel();
  const Tensor x = wave({4, 16}), y = wave({4, 4});
  const auto failing = [&](const SuggestArgs &args) {
    return errorOf([&] { (void)model.suggest_policy_map(x, y, args); });
  };
  CHECK_THAT(failing({}), Contains("ValueError: You must call `compile()` before"));
  model.compile({.loss = "mse"});
  CHECK_THAT(failing({.mode = "float8"}), Contains("ValueError") && Contains("mode=float8"));
  CHECK_THAT(failing({.max_loss_increase = -0.5}), Contains("`max_loss_increase` must not be negative"));
  CHECK_THAT(errorOf([&] { (void)model.suggest_policy_map(x, wave({3, 4})); }), Contains("ValueError"));
  CHECK(model.get_layer("fine").dtype_policy().name() == "float32");
}
