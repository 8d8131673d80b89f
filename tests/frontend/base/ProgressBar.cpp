// The lines that fit, evaluate and predict print, as Keras 3.15 prints them.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/ProgressBar.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
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

TEST_CASE("The line tells how many kernels of a compile are done, until its next update") {
  Logs first, last;
  first.set("loss", 0.5), last.set("loss", 0.25);
  const std::string text = written([&] {
    detail::ProgressBar bar(1, 4);
    bar.compiling(3, 48);
    bar.update(1, first);
    bar.compiling(47, 48);
    bar.finish(last);
  });
  const std::string compiling = " - compiling: (3|47)/48 kernels";
  CHECK(matches(text, "\r0/4 " + bar + " 0s 0s/step" + compiling + "\r1/4 " + bar + " " + took + " " + each +
                          " - loss: 0.5000 *\r1/4 " + bar + " " + took + " " + each + " - loss: 0.5000" + compiling +
                          "\r4/4 " + bar + " " + took + " " + each + " - loss: 0.2500 *\n"));
  CHECK(matches(written([] {
                  detail::ProgressBar bar(1, 4);
                  bar.compiling(3, 48);
                  bar.clear();
                  bar.clear();
                }),
                "\\r0/4 " + bar + " 0s 0s/step - compiling: 3/48 kernels\\r {61}\\r"));
  CHECK(written([] { detail::ProgressBar(2, 4).compiling(3, 48); }).empty());
  CHECK(written([] { detail::ProgressBar(0, 4).compiling(3, 48); }).empty());
}

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

/// The text that `f` writes to stdout while stdout is a terminal.
static std::string onTerminal(const std::function<void()> &f) {
  std::fflush(stdout);
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY), before = ::dup(STDOUT_FILENO);
  REQUIRE(terminal >= 0);
  REQUIRE(::grantpt(terminal) == 0);
  REQUIRE(::unlockpt(terminal) == 0);
  const int other = ::open(::ptsname(terminal), O_RDWR | O_NOCTTY);
  REQUIRE(::dup2(other, STDOUT_FILENO) >= 0);
  f();
  std::fflush(stdout);
  std::string text(4096, 0); // the output of a run of one step fits in the terminal's buffer
  text.resize(static_cast<size_t>(std::max<ssize_t>(0, ::read(terminal, text.data(), text.size()))));
  ::dup2(before, STDOUT_FILENO);
  for (const int file : {terminal, before, other})
    ::close(file);
  return text;
}

TEST_CASE("The bar is in colour where stdout is a terminal, unless NO_COLOR is set or the text goes elsewhere") {
  const std::string term = std::getenv("TERM") ? std::getenv("TERM") : "",
                    noColor = std::getenv("NO_COLOR") ? std::getenv("NO_COLOR") : "";
  ::setenv("TERM", "xterm", 1);
  ::unsetenv("NO_COLOR");
  const auto bar = [] {
    detail::ProgressBar drawn(1, 3);
    drawn.update(1, {});
  };
  const auto lines = [] { detail::ProgressBar(2, 3).finish({}); };
  const std::string cells = "━━━━━━";
  CHECK_THAT(onTerminal(bar), Catch::Matchers::StartsWith("\r\x1b[1m1/3\x1b[0m \x1b[32m" + cells + "\x1b[0m\x1b[37m━"));
  CHECK_THAT(onTerminal(lines), !Catch::Matchers::Contains("\x1b"));
  CHECK_THAT(written(bar), !Catch::Matchers::Contains("\x1b"));
  ::setenv("NO_COLOR", "1", 1);
  CHECK_THAT(onTerminal(bar), Catch::Matchers::StartsWith("\r1/3 " + cells + "─"));
  ::setenv("NO_COLOR", "", 1); // an empty value counts as unset
  CHECK_THAT(onTerminal(bar), Catch::Matchers::Contains("\x1b[32m"));
  ::setenv("TERM", "dumb", 1);
  CHECK_THAT(onTerminal(bar), !Catch::Matchers::Contains("\x1b"));
  ::setenv("TERM", term.c_str(), 1);
  noColor.empty() ? ::unsetenv("NO_COLOR") : ::setenv("NO_COLOR", noColor.c_str(), 1);
}

TEST_CASE("A shorter line in colour leaves nothing of the longer one before it") {
  ::setenv("TERM", "xterm", 1);
  const std::string text = onTerminal([] {
    detail::ProgressBar bar(1, 2);
    Logs logs;
    logs.set("a_metric_with_a_long_name", 1.0);
    bar.update(1, logs);
    bar.finish({});
  });
  const size_t second = text.rfind("2/2");
  REQUIRE(second != text.npos);
  CHECK(text.substr(second).find("                                  ") != text.npos);
}
