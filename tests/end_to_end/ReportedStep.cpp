// Reports describe the step with the most rows of the last run, and a smaller last batch does not change them.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Plot.h"
#include "halftone/Timeline.h"
#include "tests/TemporaryFolder.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

using namespace halftone;
using namespace halftone::layers;
using Catch::Matchers::Contains;

namespace {

struct Told {
  int64_t bytes;
  std::string shapes, ledger, ir, timeline, page;
  size_t casts;
};
std::string contentsOf(const std::string &path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}
Told toldBy(const Model &model) {
  const TemporaryFolder folder;
  const SummaryReport summary = model.summary();
  const CastLedger ledger = model.cast_ledger();
  model.report(folder / "report.html", {.time_kernels = false});
  model.dump_ir(folder / "ir");
  CHECK(contentsOf(folder / "ir/0-graph.mlir") == model.ir(Stage::graph));
  CHECK_THAT(summary.text(), Contains(" Step's inputs and targets: " + summary.training_step_shapes + "\n"));
  CHECK_THAT(summary.json(), Contains("\"training_step_shapes\":\"" + summary.training_step_shapes + "\""));
  CHECK_THAT(ledger.text(), Contains(" Shapes: " + ledger.shapes + "\n"));
  const StepTimeline timeline = step_timeline(model);
  CHECK_THAT(timeline.text(), Contains("for " + timeline.shapes + "\n"));
  return {summary.training_step_bytes,
          summary.training_step_shapes,
          ledger.shapes,
          model.ir(Stage::graph),
          timeline.shapes,
          contentsOf(folder / "report.html"),
          ledger.rows.size()};
}
Sequential net() {
  const Sequential model({Input({16}), Dense(32, {.activation = "relu", .name = "a"}), Dense(3, {.name = "b"})},
                         {.name = "net"});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  return model;
}
void fit(const Model &model, int64_t samples, int64_t batch) {
  model.fit(Tensor::ones({samples, 16}), Tensor::ones({samples, 3}), {.batch_size = batch, .epochs = 2, .verbose = 0});
}

} // namespace

TEST_CASE("A smaller last batch changes nothing that summary, ledger, ir, timeline and report tell") {
  const Sequential even = net(), odd = net();
  fit(even, 128, 64);
  fit(odd, 129, 64);
  const Told full = toldBy(even), told = toldBy(odd);
  CHECK(told.shapes == "(64, 16), (64, 3)");
  CHECK(told.ledger == told.shapes);
  CHECK(told.timeline == told.shapes);
  CHECK_THAT(told.page, Contains(told.shapes));
  CHECK(told.bytes == full.bytes);
  CHECK(told.bytes > 64 * 32 * 4); // only the output of the first layer
  CHECK(told.ir == full.ir);
  CHECK_THAT(told.ir, Contains("tensor<64x16xf32>") && !Contains("tensor<1x16xf32>"));
  CHECK(told.casts == full.casts);
}

TEST_CASE("Reports follow the last run, also to smaller batches") {
  const Sequential model = net();
  CHECK(model.summary().training_step_bytes == 0);
  CHECK(model.summary().training_step_shapes.empty());
  fit(model, 70, 32);
  CHECK(model.summary().training_step_shapes == "(32, 16), (32, 3)");
  fit(model, 20, 8);
  CHECK(model.summary().training_step_shapes == "(8, 16), (8, 3)");
  (void)model.train_on_batch(Tensor::ones({5, 16}), Tensor::ones({5, 3}));
  CHECK(model.summary().training_step_shapes == "(5, 16), (5, 3)");
  CHECK(model.cast_ledger({.batch_size = 11}).shapes == "(11, 16), (11, 3)");
  (void)model.evaluate(Tensor::ones({40, 16}), Tensor::ones({40, 3}), {.verbose = 0});
  CHECK(model.summary().training_step_shapes == "(5, 16), (5, 3)");
}
