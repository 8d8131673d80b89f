// The lines that fit, evaluate and predict write, as Keras 3.15 writes them.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/ProgressBar.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace halftone;
using namespace halftone::test;

namespace {

std::string written(const std::function<void()> &f) {
  std::string text;
  set_output([&](std::string_view part) { text += part; });
  f();
  set_output({});
  return text;
}
bool matches(const std::string &text, const std::string &pattern) {
  UNSCOPED_INFO(text);
  return std::regex_match(text, std::regex(pattern));
}

const std::string number = "[0-9]\\.[0-9]{4}(e[+-][0-9]{2})?", each = "[0-9]+(s|ms|us)/step", took = "[0-9]+s";
const std::string bar = "((━|─)+)";

Sequential model() {
  Sequential net({layers::Input({2}), layers::Dense(1)});
  net.compile({.optimizer = "sgd", .loss = "mse", .metrics = {"mae", "accuracy"}});
  return net;
}
Tensor x = Tensor::ones({8, 2}), y = Tensor::zeros({8, 1});
Dataset batches(int count) {
  return Dataset::from_generator(
      [=] { return [=, left = count]() mutable { return left-- > 0 ? std::optional(Batch{x, y}) : std::nullopt; }; });
}

} // namespace

TEST_CASE("verbose 2 is a line an epoch, its values sorted by name") {
  Sequential net = model();
  const std::string values = " - accuracy: " + number + " - loss: " + number + " - mae: " + number;
  const std::string all = values + " - val_accuracy: " + number + " - val_loss: " + number + " - val_mae: " + number;
  CHECK(matches(written([&] { net.fit(x, y, {.batch_size = 1, .verbose = 2}); }),
                "8/8 - " + took + " - " + each + values + "\n"));
  CHECK(matches(
      written([&] { net.fit(x, y, {.batch_size = 2, .epochs = 2, .verbose = 2, .validation_data = {x, y}}); }),
      "Epoch 1/2\n4/4 - " + took + " - " + each + all + "\nEpoch 2/2\n4/4 - " + took + " - " + each + all + "\n"));
  CHECK(matches(written([&] { net.evaluate(x, y, {.batch_size = 4, .verbose = 2}); }),
                "2/2 - " + took + " - " + each + values + "\n"));
  CHECK(matches(written([&] { net.predict(x, {.batch_size = 3, .verbose = 2}); }),
                "3/3 - " + took + " - " + each + "\n"));
  CHECK(matches(written([&] { net.fit(batches(3), {.epochs = 2, .verbose = 2}); }),
                "(Epoch ./2\n3/3 - " + took + " - " + each + values + "\n){2}"));
  CHECK(written([&] { net.fit(x, y, {.verbose = 0}); }).empty());
}

TEST_CASE("the bar's line holds the values that a callback logs, and text that it prints comes before the line") {
  Sequential net = model();
  net.optimizer().set_learning_rate(0.25);
  std::string text = written([&] {
    net.fit(x, y,
            {.verbose = 2,
             .callbacks = {callbacks::LearningRateScheduler([](int64_t, double rate) { return rate * 4; }, 1)}});
  });
  CHECK(matches(text, "\nEpoch 1: LearningRateScheduler setting learning rate to 1\\.0\\.\n1/1 - " + took + " - " +
                          each + " - accuracy: " + number + " - loss: " + number + " - mae: " + number +
                          " - learning_rate: 1\\.0000\n"));
}

TEST_CASE("the bar counts, and ends full") {
  Sequential net = model();
  const std::string values = "( - [a-z]+: " + number + ")+ *";
  std::string text = written([&] { net.fit(x, y, {.batch_size = 4, .verbose = 1}); });
  std::string last = "\r2/2 (━){20} " + took + " " + each + values + "\n";
  CHECK(matches(text, "(\r[12]/2 " + bar + " " + took + " " + each + values + ")*" + last));
  text = written([&] { net.fit(batches(2), {.epochs = 2, .verbose = 1}); });
  CHECK(matches(text, "Epoch 1/2\n(\r      [12]/Unknown " + took + " " + each + values + ")+" + last +
                          "Epoch 2/2\n(\r[12]/2 " + bar + " " + took + " " + each + values + ")*" + last));
}

TEST_CASE("keys are sorted in the history and in logs; CSV has the columns of validation from the start") {
  Sequential net = model();
  const std::string path = (std::filesystem::temp_directory_path() / "halftone_progress.csv").string();
  History history = net.fit(
      x, y,
      {.epochs = 4,
       .verbose = 0,
       .callbacks = {callbacks::LearningRateScheduler([](int64_t, double) { return 1.0; }), callbacks::CSVLogger(path)},
       .validation_data = {x, y},
       .validation_freq = 2});
  CHECK(history.keys() ==
        std::vector<std::string>{"accuracy", "loss", "mae", "learning_rate", "val_accuracy", "val_loss", "val_mae"});
  std::ifstream file(path);
  std::string header, first, second;
  std::getline(file, header);
  std::getline(file, first);
  std::getline(file, second);
  CHECK(header == "epoch,accuracy,learning_rate,loss,mae,val_accuracy,val_learning_rate,val_loss,val_mae");
  const std::string value = "[0-9.e+-]+";
  CHECK(matches(first, "0," + value + ",1\\.0," + value + "," + value + ",NA,NA,NA,NA"));
  CHECK(matches(second, "1," + value + ",1\\.0," + value + "," + value + "," + value + ",NA," + value + "," + value));
  std::filesystem::remove(path);

  auto keysOf = [](const Logs &logs) {
    std::vector<std::string> keys;
    for (const auto &[name, found] : logs)
      keys.push_back(name);
    return keys;
  };
  const std::vector<std::string> sorted{"accuracy", "loss", "mae"};
  CHECK(keysOf(net.evaluate(x, y, {.verbose = 0})) == sorted);
  CHECK(keysOf(net.train_on_batch(x, y)) == sorted);
  CHECK(keysOf(net.test_on_batch(x, y)) == sorted);
}

TEST_CASE("Progress into a pipe that nobody reads is dropped: no signal ends the run, nor its end") {
  std::fflush(stdout);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    int ends[2];
    const bool isReady = ::pipe(ends) == 0 && ::close(ends[0]) == 0 && ::dup2(ends[1], STDOUT_FILENO) >= 0;
    detail::writeOutput("an epoch");
    detail::writeOutput("another");
    ::_exit(isReady && std::fflush(stdout) == 0 ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}
