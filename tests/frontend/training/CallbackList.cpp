// When callbacks are called, compared with recorded runs of Keras, and their model and params.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace halftone;
using Catch::Matchers::Contains;
using Json = nlohmann::ordered_json;

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
  std::vector<double> losses; // the losses at the end of each execution
  std::vector<float> weights;
};
Tensor ramp(const Shape &shape) {
  std::vector<float> data(static_cast<size_t>(shape.elements()));
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<float>((i * 29) % 37) * 0.05f - 0.9f;
  return Tensor(std::move(data), shape);
}
/// The calls in an epoch of `batches` batches of two rows, with validation on three batches, and in a prediction.
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

namespace {

/// The calls of a run in the vocabulary of tests/data/keras/callbacks.jsonl.
struct Witness : Callback {
  Json calls = Json::array(), seen = Json::array();
  void add(const std::string &what, std::optional<int64_t> number = {}) {
    calls.push_back(number ? what + " " + std::to_string(*number) : what);
    const CallbackParams given = params();
    seen.push_back(
        {{"epochs", given.epochs}, {"steps", given.steps ? Json(*given.steps) : Json()}, {"verbose", given.verbose}});
    CHECK(model().built());
  }
  void on_epoch_begin(int64_t i, const Logs &) override { add("epoch_begin", i); }
  void on_epoch_end(int64_t i, Logs &) override { add("epoch_end", i); }
  void on_train_begin(const Logs &) override { add("train_begin"); }
  void on_train_end(const Logs &) override { add("train_end"); }
  void on_train_batch_begin(int64_t i, const Logs &) override { add("train_batch_begin", i); }
  void on_train_batch_end(int64_t i, const Logs &) override { add("train_batch_end", i); }
  void on_test_begin(const Logs &) override { add("test_begin"); }
  void on_test_end(const Logs &) override { add("test_end"); }
  void on_test_batch_begin(int64_t i, const Logs &) override { add("test_batch_begin", i); }
  void on_test_batch_end(int64_t i, const Logs &) override { add("test_batch_end", i); }
  void on_predict_begin(const Logs &) override { add("predict_begin"); }
  void on_predict_end(const Logs &) override { add("predict_end"); }
  void on_predict_batch_begin(int64_t i, const Logs &) override { add("predict_batch_begin", i); }
  void on_predict_batch_end(int64_t i, const Logs &) override { add("predict_batch_end", i); }
};
Sequential compiledLine(int64_t stepsPerExecution = 1) {
  Sequential model({layers::Input({3}), layers::Dense(1)});
  model.compile({.loss = "mse", .run_eagerly = true, .steps_per_execution = stepsPerExecution});
  return model;
}
void runAs(const Json &row, const Model &model, Witness &witness) {
  const Tensor x = ramp({6, 3}), y = ramp({6, 1});
  const Json &given = row["arguments"];
  const auto optional = [&](const char *name) {
    return given.contains(name) ? std::optional(given[name].get<int64_t>()) : std::nullopt;
  };
  if (row["run"] == "predict") {
    (void)model.predict(x, {.batch_size = 2, .verbose = 0, .steps = optional("steps"), .callbacks = {&witness}});
    return;
  }
  if (row["run"] == "evaluate") {
    (void)model.evaluate(x, y, {.batch_size = 2, .verbose = 0, .steps = optional("steps"), .callbacks = {&witness}});
    return;
  }
  FitArgs args{.batch_size = 2, .epochs = given["epochs"], .verbose = 0, .callbacks = {&witness}};
  args.initial_epoch = optional("initial_epoch").value_or(0);
  args.steps_per_epoch = optional("steps_per_epoch");
  if (given.contains("validated")) {
    args.validation_data = {ramp({4, 3}), ramp({4, 1})};
    args.validation_batch_size = 1;
  }
  model.fit(x, y, args);
}

} // namespace

TEST_CASE("Callbacks are called in Keras's order, with Keras's params") {
  std::ifstream file(HALFTONE_SOURCE_DIR "/tests/data/keras/callbacks.jsonl");
  int64_t rows = 0;
  for (std::string line; std::getline(file, line); ++rows) {
    const Json row = Json::parse(line);
    INFO(row["run"] << " " << row["arguments"] << " " << row["steps_per_execution"]);
    Witness witness;
    runAs(row, compiledLine(row["steps_per_execution"]), witness);
    CHECK(witness.calls == row["calls"]);
    for (const Json &params : witness.seen)
      CHECK(params == row["params"]);
  }
  CHECK(rows == 16);
}

TEST_CASE("Each begin of a batch has its end, and params have no steps, if the data do not tell their count") {
  const auto epoch = [] {
    return [i = 0]() mutable -> std::optional<Batch> {
      return i++ < 2 ? std::optional(Batch{ramp({2, 3}), ramp({2, 1})}) : std::nullopt;
    };
  };
  Witness trained, tested;
  const Sequential model = compiledLine();
  model.fit(Dataset::from_generator(epoch), {.epochs = 2, .verbose = 0, .callbacks = {&trained}});
  (void)model.evaluate(Dataset::from_generator(epoch), {.verbose = 0, .callbacks = {&tested}});
  CHECK(tested.calls == Json{"test_begin", "test_batch_begin 0", "test_batch_end 0", "test_batch_begin 1",
                             "test_batch_end 1", "test_end"});
  CHECK(trained.calls.size() == 14);
  for (const Json &params : trained.seen)
    CHECK(params == Json{{"epochs", 2}, {"steps", nullptr}, {"verbose", 0}});
  for (const Json &params : tested.seen)
    CHECK(params == Json{{"epochs", 1}, {"steps", nullptr}, {"verbose", 0}});
}

TEST_CASE("params are those of the innermost run, and there are none outside of runs") {
  const Tensor x = ramp({6, 3}), y = ramp({6, 1});
  const Sequential model = compiledLine();
  std::string seen;
  struct Nested : Callback {
    std::string *seen = nullptr;
    void add(const char *what) {
      *seen += what + std::to_string(params().epochs) + "/" + std::to_string(params().steps.value_or(-1)) + " ";
    }
    void on_epoch_begin(int64_t, const Logs &) override { add("fit "); }
    void on_predict_begin(const Logs &) override { add("predict "); }
    void on_epoch_end(int64_t, Logs &) override {
      (void)model().predict(ramp({4, 3}), {.batch_size = 1, .verbose = 0, .callbacks = {this}});
      add("again ");
    }
  } nested;
  nested.seen = &seen;
  CHECK_THROWS_MATCHES(nested.params(), Error, Catch::Matchers::Predicate<Error>([](const Error &error) {
                         return error.kind() == ErrorKind::runtime_error &&
                                error.message() == "a callback has params only during fit, evaluate and predict";
                       }));
  model.fit(x, y, {.batch_size = 2, .epochs = 7, .verbose = 0, .callbacks = {&nested}, .initial_epoch = 6});
  CHECK(seen == "fit 7/3 predict 1/4 again 7/3 ");
  CHECK_THROWS_WITH(nested.params(), Contains("only during fit"));
  struct Failing : Callback {
    void on_predict_batch_begin(int64_t, const Logs &) override { throw Error(ErrorKind::io_error, "no disk"); }
  } failing;
  CHECK_THROWS_WITH(model.predict(x, {.verbose = 0, .callbacks = {&failing}}), Contains("no disk"));
  CHECK_THROWS_WITH(failing.params(), Contains("only during fit"));
  callbacks::LambdaCallback twice({});
  model.fit(x, y, {.verbose = 0, .callbacks = {&twice, &twice}}); // a callback may occur twice in a list
  CHECK_THROWS_WITH(twice.params(), Contains("only during fit"));
  CHECK_THROWS_WITH(twice.model(), Contains("only during fit"));
}
