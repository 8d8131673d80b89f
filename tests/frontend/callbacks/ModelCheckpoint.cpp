// ModelCheckpoint: the names of its files, when it saves, and the arguments that it rejects.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Saving.h"
#include "tests/TemporaryFolder.h"
#include "tests/frontend/CapturedOutput.h"
#include "tests/frontend/Recorded.h"
#include <algorithm>
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::test;
using callbacks::LambdaCallback;
using callbacks::ModelCheckpoint;
using callbacks::ModelCheckpointArgs;
using Catch::Matchers::Contains;

namespace {

/// Runs a callback's epochs with these values of "val_loss", without training.
struct Trained {
  TemporaryFolder folder;
  Sequential model{{layers::Input({1}), layers::Dense(1)}};
  Trained() { model.compile({.optimizer = optimizers::SGD(0.0), .loss = "mse"}); }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto &entry : std::filesystem::recursive_directory_iterator(folder.path))
      if (entry.is_regular_file())
        names.push_back(std::filesystem::relative(entry.path(), folder.path).string());
    std::sort(names.begin(), names.end());
    return names;
  }
  void epochs(const ModelCheckpoint &callback, const std::vector<double> &values) const {
    const LambdaCallback log({.on_epoch_end = [&](int64_t epoch, Logs &logs) {
      logs.set("val_loss", values.at(static_cast<size_t>(epoch)));
    }});
    fit(static_cast<int64_t>(values.size()), {log, callback});
  }
  void fit(int64_t epochs, std::vector<CallbackArg> callbacks) const {
    (void)model.fit(counted({6, 1}), counted({6, 1}),
                    {.batch_size = 2, .epochs = epochs, .verbose = 0, .callbacks = callbacks});
  }
};

} // namespace

TEST_CASE("The fields in a name take Python's formats, and the folder is made", "[callbacks]") {
  const Trained run;
  run.epochs(ModelCheckpoint(run.folder / "sub/{{m}}.{epoch:03d}-{val_loss:.2f}-{val_loss}-{epoch:.1f}.ckpt"),
             {0.125, 2});
  CHECK(run.files() == std::vector<std::string>{"sub/{m}.001-0.12-0.125-1.0.ckpt", "sub/{m}.002-2.00-2.0-2.0.ckpt"});
  CHECK(Checkpoint(run.model).restore(run.folder / "sub/{m}.002-2.00-2.0-2.0.ckpt").epoch == 2);
  const Trained other;
  other.epochs(ModelCheckpoint(other.folder / "{val_loss:.1%}{epoch:,}{epoch:_}{val_loss:+,.0f}.ckpt"), {1234.5678});
  CHECK(other.files() == std::vector<std::string>{"123456.8%11+1,235.ckpt"});
}

TEST_CASE("With save_best_only a file is written only when the value becomes better than the best", "[callbacks]") {
  const auto saved = [](ModelCheckpointArgs args, const std::vector<double> &values) {
    const Trained run;
    args.save_best_only = true;
    run.epochs(ModelCheckpoint(run.folder / "{epoch}.safetensors", args), values);
    return run.files();
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  using Names = std::vector<std::string>;
  CHECK(saved({}, {3, 4, 2, 2, nan, 1}) == Names{"1.safetensors", "3.safetensors", "6.safetensors"});
  CHECK(saved({.mode = MonitorMode::max}, {3, 4, 2}) == Names{"1.safetensors", "2.safetensors"});
  CHECK(saved({.initial_value_threshold = 2.5}, {3, 2}) == Names{"2.safetensors"});
  CapturedOutput output;
  CHECK(saved({.monitor = "absent"}, {3, 4}) == Names{"1.safetensors", "2.safetensors"});
  CHECK_THAT(output.text, Contains("`absent` which is not available"));
  output.text.clear();
  (void)saved({.verbose = 1}, {3, 4});
  CHECK_THAT(output.text, Contains("\nEpoch 1: val_loss improved from None to 3.00000, saving model to ") &&
                              Contains("\nEpoch 2: val_loss did not improve from 3.00000\n"));
}

TEST_CASE("save_freq counts batches over the ends of epochs, and save_weights_only writes weights", "[callbacks]") {
  const Trained run; // three batches per epoch
  run.fit(2,
          {ModelCheckpoint(run.folder / "{epoch}-{batch}.safetensors", {.save_weights_only = true, .save_freq = 2})});
  CHECK(run.files() == std::vector<std::string>{"1-2.safetensors", "2-1.safetensors", "2-3.safetensors"});
  CHECK(load_safetensors(run.folder / "2-3.safetensors").size() == 2);
  run.model.load_weights(run.folder / "2-3.safetensors");
}

TEST_CASE("ModelCheckpoint writes the model itself to a name that ends in .keras", "[callbacks]") {
  const Trained run;
  run.fit(1, {ModelCheckpoint(run.folder / "{epoch}.keras")});
  CHECK(run.files() == std::vector<std::string>{"1.keras"});
  CHECK(load_model(run.folder / "1.keras").to_json() == run.model.to_json());
}

TEST_CASE("ModelCheckpoint refuses endings and names that it cannot write", "[callbacks]") {
  const auto made = [](const std::string &path, const ModelCheckpointArgs &args = {}) {
    return errorOf([&] { ModelCheckpoint callback(path, args); });
  };
  CHECK_THAT(made("m.h5"),
             Contains("must end in `.keras` (the model), or in `.ckpt` or `.safetensors` (a Checkpoint). Received: "
                      "filepath=m.h5"));
  CHECK_THAT(made("m.ckpt", {.save_weights_only = true}), Contains("must end in `.weights.h5` or in `.safetensors`"));
  CHECK_THAT(made("m.ckpt", {.save_freq = 0}), Contains("ValueError: Unrecognized save_freq: 0"));
  const Trained run;
  const auto refusal = [&](const char *pattern) {
    return errorOf([&] { run.epochs(ModelCheckpoint(run.folder / pattern), {1}); });
  };
  CHECK_THAT(refusal("{absent}.ckpt"), Contains("KeyError: Failed to format this callback filepath"));
  CHECK_THAT(refusal("{batch}.ckpt"), Contains("KeyError: Failed to format this callback filepath"));
  CHECK_THAT(refusal("{epoch.ckpt"), Contains("expected '}' before end of string"));
  CHECK_THAT(refusal("epoch}.ckpt"), Contains("Single '}' encountered in format string"));
  CHECK_THAT(refusal("{epoch:q}.ckpt"), Contains("ValueError: Failed to format"));
  CHECK_THAT(refusal("{val_loss:02d}.ckpt"), Contains("ValueError: Failed to format"));
  CHECK_THAT(refusal("{epoch:2000000000}.ckpt"), Contains("the width in a format specifier must be at most 255"));
  CHECK(run.files().empty());
}
