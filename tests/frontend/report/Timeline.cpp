// The timeline of a training step in one process; tests/distributed covers several processes.
// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <halftone/Halftone.h>
#include <nlohmann/json.hpp>

using namespace halftone;
using namespace halftone::layers;
using Catch::Matchers::Contains;

namespace {

Sequential small() {
  set_random_seed(3);
  return Sequential({Input({16}), Dense(32, {.activation = "relu"}), Dense(4)});
}

} // namespace

TEST_CASE(
    "The timeline of a step has its kernels in order, no exchange if the process is alone, and changes no variable") {
  const Sequential model = small();
  model.compile({.optimizer = optimizers::Adam(0.01), .loss = losses::MeanSquaredError()});
  model.train_on_batch(Tensor::ones({24, 16}), Tensor::zeros({24, 4}));
  const std::vector<float> before = model.weights()[0].value().to_vector<float>();
  const StepTimeline timeline = step_timeline(model);
  CHECK(model.weights()[0].value().to_vector<float>() == before);
  CHECK(timeline.rank == 0);
  REQUIRE(timeline.rows.size() > 4);
  double end = 0;
  for (const StepTimeline::Row &row : timeline.rows) {
    CHECK(row.kind == StepTimeline::Kind::kernel);
    CHECK(!row.name.empty());
    CHECK(row.begin >= end);
    CHECK(row.end >= row.begin);
    end = row.end;
  }
  CHECK(end <= timeline.seconds);
  CHECK_THAT(timeline.text(), Contains("Step of rank 0: ") && Contains("kernel    matmul"));
  const auto events = nlohmann::json::parse(timeline.json())["traceEvents"];
  REQUIRE(events.size() == timeline.rows.size());
  CHECK(events[0]["ph"] == "X");
  CHECK(events[0]["tid"] == 0);
  CHECK(events[0]["dur"] >= 0);
}

TEST_CASE("A model without a compiled training step has no timeline") {
  const Sequential model = small();
  CHECK_THROWS_WITH(step_timeline(model), Contains("has no training step: compile() and train it first"));
  model.compile({.optimizer = optimizers::Adam(0.01), .loss = losses::MeanSquaredError(), .run_eagerly = true});
  CHECK_THROWS_WITH(step_timeline(model), Contains("runs eagerly"));
}
