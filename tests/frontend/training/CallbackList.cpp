// When callbacks are called: at each step, or once per execution of several steps.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include <catch2/catch.hpp>

using namespace halftone;
using Catch::Matchers::Contains;

namespace {

struct Recorder : Callback {
  std::string *calls = nullptr;
  std::vector<double> *losses = nullptr;
  void add(const char *what, int64_t number) { *calls += what + std::to_string(number) + " "; }
  void on_epoch_end(int64_t epoch, Logs &) override { add("epoch", epoch); }
  void on_train_batch_begin(int64_t batch, const Logs &) override { add("<", batch); }
  void on_train_batch_end(int64_t batch, const Logs &logs) override {
    add(">", batch);
    losses->push_back(logs["loss"]);
  }
  void on_test_begin(const Logs &) override { add("test", 0); }
  void on_test_batch_end(int64_t batch, const Logs &) override { add("t", batch); }
  void on_predict_batch_end(int64_t batch, const Logs &) override { add("p", batch); }
};

struct Calls {
  std::string text;
  std::vector<double> losses; // the losses at the ends of executions
  std::vector<float> weights;
};
Tensor ramp(const Shape &shape) {
  std::vector<float> data(static_cast<size_t>(shape.elements()));
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<float>((i * 29) % 37) * 0.05f - 0.9f;
  return Tensor(std::move(data), shape);
}
/// The calls in an epoch of `batches` batches of two rows, with validation on three batches, and a prediction.
Calls callsOf(int64_t stepsPerExecution, int64_t batches, FitArgs args = {}) {
  Calls calls;
  Recorder recorder;
  recorder.calls = &calls.text;
  recorder.losses = &calls.losses;
  Sequential model({layers::Input({3}), layers::Dense(1, {.kernel_initializer = "ones"})});
  model.compile({.optimizer = optimizers::SGD(0.1),
                 .loss = "mse",
                 .run_eagerly = true,
                 .steps_per_execution = stepsPerExecution});
  args.batch_size = 2;
  args.verbose = 0;
  args.shuffle = false;
  args.callbacks = {&recorder};
  args.validation_data = {ramp({6, 3}), ramp({6, 1})};
  model.fit(ramp({2 * batches, 3}), ramp({2 * batches, 1}), args);
  (void)model.predict(ramp({10, 3}), {.batch_size = 2, .verbose = 0, .callbacks = {&recorder}});
  calls.weights = model.get_weights()[0].to_vector<float>();
  return calls;
}

} // namespace

TEST_CASE("steps_per_execution: callbacks hear of several steps as of one") {
  const Calls each = callsOf(1, 4), two = callsOf(2, 4), all = callsOf(8, 4);
  CHECK(each.text == "<0 >0 <1 >1 <2 >2 <3 >3 test0 t0 t1 t2 epoch0 p0 p1 p2 p3 p4 ");
  CHECK(two.text == "<0 >1 <2 >3 test0 t1 t3 epoch0 p1 p3 p5 ");
  CHECK(all.text == "<0 >7 test0 t7 epoch0 p7 ");
  CHECK(two.losses == std::vector<double>{each.losses[1], each.losses[3]});
  CHECK(all.losses == std::vector<double>{each.losses[3]});
  CHECK(two.weights == each.weights);
  CHECK(callsOf(2, 5).text == "<0 >1 <2 >3 <4 >5 test0 t1 t3 epoch0 p1 p3 p5 "); // the data end in the last one
  CHECK(callsOf(2, 5, {.steps_per_epoch = 3}).text == "<0 >1 <2 >3 test0 t1 t3 epoch0 p1 p3 p5 ");
}

TEST_CASE("steps_per_execution: the bar counts steps, and stopping ends an execution") {
  std::string written;
  set_output([&](std::string_view text) { written += text; });
  Sequential model({layers::Input({3}), layers::Dense(1)});
  model.compile({.loss = "mse", .run_eagerly = true, .steps_per_execution = 2});
  int64_t ends = 0;
  callbacks::LambdaCallback stop({.on_train_batch_end = [&](int64_t, const Logs &) {
    if (++ends == 2)
      model.stop_training();
  }});
  model.fit(ramp({10, 3}), ramp({10, 1}), {.batch_size = 2});
  CHECK_THAT(written, Contains("5/5 ━") && !Contains("6/5"));
  model.fit(ramp({20, 3}), ramp({20, 1}), {.batch_size = 2, .callbacks = {&stop}});
  set_output({});
  CHECK(ends == 2);
  CHECK(model.optimizer().iterations() == 5 + 4);
  CHECK_THROWS_WITH(model.compile({.loss = "mse", .steps_per_execution = 0}),
                    Contains("steps_per_execution must be at least 1, got 0"));
}
