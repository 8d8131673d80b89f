// A callback whose fit failed serves the next fit like a new callback.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Saving.h"
#include "tests/TemporaryFolder.h"
#include "tests/frontend/CapturedOutput.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;

namespace {

Sequential net() {
  set_random_seed(3);
  Sequential model({Input({4}), Dense(5, {.activation = "tanh"}), Dense(2)}, {.name = "net"});
  model.compile({.optimizer = optimizers::SGD(0.02), .loss = "mse"});
  return model;
}

/// The event at which the first fit fails. Its data make the losses of its first epochs smaller than all of the second
/// fit.
enum class Failure { none, train_begin, epoch_begin, batch_end, epoch_end, train_end };
constexpr Failure everyFailure[] = {Failure::train_begin, Failure::epoch_begin, Failure::batch_end, Failure::epoch_end,
                                    Failure::train_end};

class Failing final : public Callback {
public:
  explicit Failing(Failure at) : at_(at) {}
  void on_train_begin(const Logs &) override { fail(Failure::train_begin, true); }
  void on_epoch_begin(int64_t epoch, const Logs &) override { fail(Failure::epoch_begin, epoch == 2); }
  void on_train_batch_end(int64_t batch, const Logs &) override { fail(Failure::batch_end, batch == 1); }
  void on_epoch_end(int64_t epoch, Logs &) override { fail(Failure::epoch_end, epoch == 2); }
  void on_train_end(const Logs &) override { fail(Failure::train_end, true); }

private:
  void fail(Failure at, bool isDue) const {
    if (at == at_ && isDue)
      throw std::runtime_error("the user's error");
  }
  Failure at_;
};

struct Outcome {
  std::map<std::string, std::vector<double>> history;
  std::vector<std::vector<double>> weights;
  std::map<std::string, std::string> files;
  std::string output;
  std::string error;
  bool operator==(const Outcome &) const = default;
};

/// The outcome of the second fit, with a callback whose first fit failed.
template <class Make> Outcome outcome(Make make, Failure failure, bool isLast) {
  const TemporaryFolder folder;
  auto callback = make(folder.path);
  Failing failing(failure);
  const Tensor x = counted({12, 4}) * 0.02;
  if (failure != Failure::none) {
    const CapturedOutput silence;
    std::vector<CallbackArg> all{&callback, &failing};
    if (isLast)
      std::swap(all[0], all[1]);
    CHECK_THROWS_AS(net().fit(x, Tensor::zeros({12, 2}),
                              {.batch_size = 4, .epochs = 6, .verbose = 0, .callbacks = all, .shuffle = false}),
                    std::runtime_error);
    for (const auto &entry : std::filesystem::directory_iterator(folder.path))
      std::filesystem::remove_all(entry.path());
  }
  Outcome found;
  const CapturedOutput output;
  const Sequential model = net();
  try {
    const History history =
        model.fit(x, counted({12, 2}) * 0.05 + 1.0,
                  {.batch_size = 4, .epochs = 6, .verbose = 0, .callbacks = {&callback}, .shuffle = false});
    for (const std::string &key : history.keys())
      found.history[key] = history[key];
  } catch (const std::exception &error) {
    found.error = error.what();
  }
  for (const Tensor &weight : model.get_weights())
    found.weights.push_back(numbers(weight));
  for (const auto &entry : std::filesystem::recursive_directory_iterator(folder.path))
    if (entry.is_regular_file()) {
      std::ifstream stream(entry.path(), std::ios::binary);
      const std::string name = entry.path().lexically_relative(folder.path).string();
      const std::string contents(std::istreambuf_iterator<char>(stream), {});
      found.files[name] = name.ends_with(".csv") ? contents : ""; // archives contain the time
    }
  found.output = output.text;
  size_t at = 0;
  while ((at = found.output.find(folder.path.string())) != std::string::npos)
    found.output.replace(at, folder.path.string().size(), "FOLDER");
  return found;
}

template <class Make> void check(const char *name, Make make) {
  CAPTURE(name);
  const Outcome expected = outcome(make, Failure::none, false);
  CHECK(expected.error.empty());
  for (Failure failure : everyFailure) {
    CAPTURE(static_cast<int>(failure));
    const Outcome found = outcome(make, failure, failure == Failure::epoch_end); // then it has not seen the epoch's end
    CHECK(found.error.empty());
    CHECK(found.output == expected.output);
    CHECK(found.files == expected.files);
    CHECK(found == expected);
  }
}

} // namespace

TEST_CASE("Every callback that saw a fit fail works in the next fit like a new one") {
  using std::filesystem::path;
  check("CSVLogger", [](const path &folder) { return callbacks::CSVLogger(folder / "log.csv"); });
  check("CSVLogger that appends",
        [](const path &folder) { return callbacks::CSVLogger(folder / "log.csv", {.append = true}); });
  check("EarlyStopping", [](const path &) {
    return callbacks::EarlyStopping(
        {.monitor = "loss", .min_delta = 0.1, .patience = 2, .verbose = 1, .restore_best_weights = true});
  });
  check("ReduceLROnPlateau", [](const path &) {
    return callbacks::ReduceLROnPlateau(
        {.monitor = "loss", .patience = 1, .verbose = 1, .min_delta = 0.2, .cooldown = 1});
  });
  check("ModelCheckpoint", [](const path &folder) {
    return callbacks::ModelCheckpoint(folder / "{epoch:02d}.weights.h5", {.verbose = 1, .save_weights_only = true});
  });
  check("BackupAndRestore", [](const path &folder) { return callbacks::BackupAndRestore(folder / "backup"); });
  check("TerminateOnNaN", [](const path &) { return callbacks::TerminateOnNaN(); });
  check("LearningRateScheduler", [](const path &) {
    return callbacks::LearningRateScheduler([](int64_t, double rate) { return rate * 0.9; }, 1);
  });
}

TEST_CASE("A CSVLogger works again after a fit that TerminateOnNaN ended, and says why a file cannot be opened") {
  const TemporaryFolder folder;
  const std::string file = folder.path / "log.csv";
  callbacks::CSVLogger log(file);
  callbacks::TerminateOnNaN terminate(true);
  const Tensor x = counted({8, 4}), wrong = Tensor::full({8, 2}, std::numeric_limits<double>::quiet_NaN());
  CHECK(errorOf([&] {
          net().fit(x, wrong, {.verbose = 0, .callbacks = {&log, &terminate}});
        }).starts_with("RuntimeError"));
  std::filesystem::remove(file);
  std::filesystem::create_directory(file);
  CHECK(errorOf([&] { net().fit(x, Tensor::zeros({8, 2}), {.verbose = 0, .callbacks = {&log}}); }) ==
        "IOError: cannot write " + file + ": Is a directory");
  std::filesystem::remove(file);
  net().fit(x, Tensor::zeros({8, 2}), {.verbose = 0, .callbacks = {&log, &terminate}});
  CHECK(std::filesystem::is_regular_file(file));
}

TEST_CASE("The logs at the end of training are those of the last epoch, without what callbacks have added") {
  callbacks::ReduceLROnPlateau reduce({.monitor = "loss"});
  std::vector<std::string> atEpochEnd, atTrainEnd;
  const auto keysOf = [](const Logs &logs) {
    std::vector<std::string> keys;
    for (const auto &[key, value] : logs)
      keys.push_back(key);
    return keys;
  };
  callbacks::LambdaCallback see({.on_epoch_end = [&](int64_t, Logs &logs) { atEpochEnd = keysOf(logs); },
                                 .on_train_end = [&](const Logs &logs) { atTrainEnd = keysOf(logs); }});
  const Tensor x = counted({8, 4}), y = Tensor::zeros({8, 2});
  const History history =
      net().fit(x, y, {.epochs = 2, .verbose = 0, .callbacks = {&reduce, &see}, .validation_data = {x, y}});
  CHECK(atEpochEnd == std::vector<std::string>{"loss", "val_loss", "learning_rate"});
  CHECK(atTrainEnd == std::vector<std::string>{"loss", "val_loss"});
  CHECK(history["learning_rate"].size() == 2); // the history contains the rates
  net().fit(x, y, {.epochs = 2, .verbose = 0, .callbacks = {&see}, .initial_epoch = 2});
  CHECK(atTrainEnd.empty());
}
