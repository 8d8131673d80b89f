// Runs that stop within an epoch and resume from a checkpoint are bit-identical to uninterrupted runs.
// SPDX-License-Identifier: Apache-2.0
#include "tests/TemporaryFolder.h"
#include "tests/frontend/Recorded.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <iterator>

using namespace halftone;
using namespace halftone::test;
using callbacks::BackupAndRestore;
using callbacks::LambdaCallback;
using Catch::Matchers::Contains;

namespace {

constexpr int64_t rows = 22;
Tensor inputs() { return counted({rows, 3}) / 30.0; }
Tensor targets() { return counted({rows, 1}) / 20.0; }

struct Kind {
  const char *name;
  FitArgs args{};
  std::function<std::optional<Dataset>()> data{}; // or arrays; new ones per process
  std::string policy = "float32";
  int64_t stepsPerExecution = 1;
};

Sequential net(const Kind &kind) {
  const PolicyScope scope(DTypePolicy(kind.policy));
  Sequential model({layers::Input({3}), layers::Dense(4, {.activation = "relu", .name = "a"}),
                    layers::BatchNormalization({.name = "n"}), layers::Dropout(0.3, {.name = "d"}),
                    layers::Dense(1, {.name = "b"})},
                   {.name = "net"});
  model.compile(
      {.optimizer = "adam", .loss = "mse", .metrics = {"mae"}, .steps_per_execution = kind.stepsPerExecution});
  return model;
}

History run(const Model &model, const Kind &kind, std::vector<CallbackArg> callbacks) {
  FitArgs args = kind.args;
  args.epochs = 3;
  args.verbose = 0;
  args.callbacks = std::move(callbacks);
  if (const auto data = kind.data ? kind.data() : std::nullopt)
    return model.fit(*data, args);
  return model.fit(inputs(), targets(), args);
}

/// Throws at this call, counted over the whole run.
LambdaCallback stopAt(int64_t call) {
  return LambdaCallback({.on_train_batch_end = [call, calls = int64_t{0}](int64_t, const Logs &) mutable {
    if (calls++ == call)
      throw Error(ErrorKind::runtime_error, "interrupted");
  }});
}

std::vector<std::vector<float>> weightsOf(const Model &model) {
  std::vector<std::vector<float>> weights;
  for (const Tensor &weight : model.get_weights())
    weights.push_back(weight.astype(float32).to_vector<float>());
  return weights;
}

Dataset rowsOf() { return Dataset(inputs(), targets()); }

std::vector<Kind> kinds() {
  return {
      {.name = "shuffled arrays", .args = {.batch_size = 4}},
      {.name = "arrays in order", .args = {.batch_size = 5, .shuffle = false}, .policy = "mixed_bfloat16"},
      {.name = "arrays with validation",
       .args = {.batch_size = 4, .validation_split = 0.25},
       .policy = "mixed_float16"},
      {.name = "epochs shorter than the arrays", .args = {.batch_size = 4, .steps_per_epoch = 4}},
      {.name = "executions of two steps", .args = {.batch_size = 4}, .stepsPerExecution = 2},
      {.name = "a dataset without a seed", .data = [] { return rowsOf().shuffle(7).batch(4); }},
      {.name = "a dataset with a seed", .data = [] { return rowsOf().shuffle(7, 3).batch(4).prefetch(2); }},
      {.name = "work on threads",
       .data =
           [] {
             const auto same = [](Batch batch) { return batch; };
             return rowsOf().shuffle(30, 1).map(same, {.num_parallel_calls = 3}).batch(4, true);
           }},
      {.name = "an infinite dataset",
       .args = {.steps_per_epoch = 4},
       .data = [] { return rowsOf().shuffle(9, 2).repeat().batch(4).prefetch(3); }},
      {.name = "a generator of unknown length",
       .data =
           [] {
             return Dataset::from_generator([] {
               return [i = 0]() mutable -> std::optional<Batch> {
                 return i == 5 ? std::nullopt
                               : std::optional(Batch{.x = Tensor::full({2, 3}, 0.1 * ++i), .y = Tensor::ones({2, 1})});
               };
             });
           }},
  };
}

} // namespace

TEST_CASE("A run that stops after any batch goes on with the bits of a whole run", "[callbacks]") {
  for (const Kind &kind : kinds()) {
    INFO(kind.name);
    set_random_seed(11);
    const Sequential whole = net(kind);
    std::vector<int64_t> epochs; // one per call
    int64_t epoch = 0;
    const LambdaCallback count({.on_epoch_begin = [&](int64_t begun, const Logs &) { epoch = begun; },
                                .on_train_batch_end = [&](int64_t, const Logs &) { epochs.push_back(epoch); }});
    const History all = run(whole, kind, {count});
    const int64_t second = std::ranges::find(epochs, 1) - epochs.begin(), last = std::ssize(epochs) - 1;
    for (const int64_t stop : {int64_t{0}, second - 1, second, second + 2, last}) {
      INFO("stopped at call " << stop);
      const TemporaryFolder folder;
      set_random_seed(11);
      const Sequential cut = net(kind);
      const BackupAndRestore backup(folder / "backup", {.save_freq = 1});
      CHECK_THAT(errorOf([&] { (void)run(cut, kind, {backup, stopAt(stop)}); }), Contains("interrupted"));
      set_random_seed(99);
      const Sequential resumed = net(kind);
      const History rest = run(resumed, kind, {backup});
      CHECK(weightsOf(resumed) == weightsOf(whole));
      for (const std::string &name : rest.keys()) {
        const std::vector<double> series = all[name];
        const std::vector<double> expected(series.end() - std::ssize(rest[name]), series.end());
        CHECK(rest[name] == expected);
      }
      CHECK(std::ssize(rest.epoch()) == 3 - epochs[static_cast<size_t>(stop)]);
    }
  }
}

TEST_CASE("A checkpoint within an epoch is restored before a fit() that gets its epoch and batch", "[callbacks]") {
  const Kind kind{.name = "arrays", .args = {.batch_size = 4}};
  const TemporaryFolder folder;
  const std::string path = folder / "model-{epoch}-{batch}.ckpt";
  set_random_seed(4);
  const Sequential whole = net(kind);
  (void)run(whole, kind, {callbacks::ModelCheckpoint(path, {.save_freq = 4})}); // epochs of six batches
  set_random_seed(5);
  const Sequential resumed = net(kind);
  const Checkpoint checkpoint(resumed);
  const Checkpoint::Restored restored = checkpoint.restore(folder / "model-2-2.ckpt");
  CHECK(restored.epoch == 1);
  CHECK(restored.batch == 2);
  CHECK(restored.step == 8);
  Kind rest = kind;
  rest.args.initial_epoch = restored.epoch;
  rest.args.initial_batch = restored.batch;
  const History history = run(resumed, rest, {});
  CHECK(history.epoch() == std::vector<int64_t>{1, 2});
  CHECK(weightsOf(resumed) == weightsOf(whole));
  // Without the batch, the epoch starts over. The position is valid for one fit().
  (void)checkpoint.restore(folder / "model-2-2.ckpt");
  Kind anew = kind;
  anew.args.initial_epoch = 1;
  (void)run(resumed, anew, {});
  CHECK(resumed.optimizer().iterations() == 8 + 12);
  CHECK_THAT(errorOf([&] { (void)run(resumed, rest, {}); }),
             Contains("ValueError") &&
                 Contains("initial_batch=2 must match the `epoch` and `batch` of a restored Checkpoint") &&
                 Contains("there is none"));
}

TEST_CASE("A place within an epoch is refused for other data, and one between epochs is not", "[callbacks]") {
  const Kind kind{.name = "arrays", .args = {.batch_size = 4}};
  const TemporaryFolder folder;
  const Sequential model = net(kind);
  (void)run(model, kind,
            {callbacks::ModelCheckpoint(folder / "{epoch}-{batch}.ckpt", {.save_freq = 2}),
             callbacks::ModelCheckpoint(folder / "{epoch}.ckpt")});
  const auto resumed = [&](const char *file, const Kind &other) {
    return errorOf([&] {
      (void)run(net(other), other, {LambdaCallback({.on_train_begin = [](const Logs &) {}}), [&] {
                                      struct Restore : Callback {
                                        explicit Restore(std::string path) : path(std::move(path)) {}
                                        void on_train_begin(const Logs &) override {
                                          (void)Checkpoint(model()).restore(path);
                                        }
                                        std::string path;
                                      };
                                      return Restore(folder / file);
                                    }()});
    });
  };
  const Kind larger{.name = "larger batches", .args = {.batch_size = 5}};
  const Kind dataset{.name = "a dataset", .data = [] { return rowsOf().batch(4); }};
  CHECK_THAT(resumed("1-2.ckpt", larger),
             Contains("ValueError: the checkpoint was written after batch 2 of an epoch, but this run has "
                      "other data: 22 rows in batches of 5 instead of 22 rows in batches of 4"));
  CHECK_THAT(resumed("1-2.ckpt", dataset), Contains("a dataset instead of 22 rows in batches of 4"));
  CHECK(resumed("1-2.ckpt", kind) == "");
  CHECK(resumed("1.ckpt", larger) == "");
  CHECK(resumed("1.ckpt", dataset) == "");
  const auto of = [](int64_t count) {
    return Kind{.name = "batches", .data = [count] { return rowsOf().shuffle(5, 1).batch(2).take(count); }};
  };
  const Sequential trained = net(kind);
  (void)run(trained, of(6), {callbacks::ModelCheckpoint(folder / "d-{epoch}-{batch}.ckpt", {.save_freq = 5})});
  CHECK_THAT(resumed("d-1-5.ckpt", of(4)), Contains("written after 5 batches of a pass, but the data have fewer"));
  const Dataset shorter = *of(4).data();
  CHECK_THAT(resumed("d-1-5.ckpt", {.name = "batches", .data = [&] { return shorter; }}), Contains("have fewer"));
  const auto firstRows = [](const Dataset &data) { return (*data.begin()).x[0].to_vector<float>(); };
  CHECK(firstRows(shorter) == firstRows(*of(4).data())); // a rejected position changes no order
  CHECK_THAT(resumed("d-1-5.ckpt", {.name = "no shuffle", .data = [] { return rowsOf().batch(2).take(6); }}),
             Contains("a different number of shuffles"));
  Kind metrics = of(6);
  CHECK(resumed("d-1-5.ckpt", metrics) == "");
  CHECK_THAT(errorOf([&] { (void)net(kind).fit(inputs(), targets(), {.verbose = 0, .initial_batch = -1}); }),
             Contains("initial_batch must not be negative, got -1"));
}

TEST_CASE("A checkpoint within an epoch is refused by a model with other metrics", "[callbacks]") {
  const Kind kind{.name = "arrays", .args = {.batch_size = 4}};
  const TemporaryFolder folder;
  (void)run(net(kind), kind, {callbacks::ModelCheckpoint(folder / "{epoch}-{batch}.ckpt", {.save_freq = 2})});
  const Sequential other = net(kind);
  other.compile({.optimizer = "adam", .loss = "mse"});
  const auto restored = Checkpoint(other).restore(folder / "1-2.ckpt");
  Kind rest = kind;
  rest.args.initial_batch = restored.batch;
  CHECK_THAT(errorOf([&] { (void)run(other, rest, {}); }),
             Contains("ValueError") && Contains("the sums of metrics other than"));
  CHECK(Checkpoint(other).restore(folder / "1-2.ckpt").batch == 2);
}
