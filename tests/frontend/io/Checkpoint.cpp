// Checkpoints: their contents, the files that are rejected, and that a rejection changes nothing.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/io/Safetensors.h"
#include "frontend/optimizers/OptimizerImpl.h"
#include "halftone/Saving.h"
#include "tests/TemporaryFolder.h"
#include "tests/frontend/Recorded.h"
#include "tests/frontend/io/Kills.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <limits>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace halftone;
using namespace halftone::test;
using namespace halftone::layers;
using Catch::Matchers::Contains;

namespace {

Sequential net(int64_t units = 3) {
  return Sequential({Input({2}), Dense(units, {.name = "a"}), Dropout(0.5, {.name = "d"}), Dense(1, {.name = "b"})},
                    {.name = "net"});
}
Sequential compiled(const Optimizer &optimizer = "adam") {
  Sequential model = net();
  model.compile({.optimizer = optimizer, .loss = "mse"});
  return model;
}
void train(const Model &model) {
  (void)model.fit(Tensor::ones({8, 2}), Tensor::ones({8, 1}), {.batch_size = 4, .verbose = 0});
}
/// All variables of the model and its optimizer, as numbers.
std::vector<std::vector<double>> stateOf(const Model &model) {
  std::vector<std::vector<double>> all;
  for (const Variable &variable : model.variables())
    all.push_back(numbers(variable));
  for (const Variable &variable : model.optimizer().impl()->allVariables())
    all.push_back(numbers(variable));
  return all;
}
std::string contents(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

} // namespace

TEST_CASE("A checkpoint holds weights, seeds, the optimizer's variables, the loss scale and the counters", "[files]") {
  TemporaryFolder folder;
  const std::string path = folder / "a.ckpt";
  const Sequential model = compiled(optimizers::LossScaleOptimizer("adam"));
  train(model);
  Checkpoint(model).save(path);
  std::vector<std::string> names;
  for (const auto &[name, tensor] : load_safetensors(path))
    names.push_back(name);
  CHECK(names == std::vector<std::string>{
                     "net/a/kernel", "net/a/bias", "net/d/seed_generator/seed_generator_state", "net/b/kernel",
                     "net/b/bias", "loss_scale_optimizer/step_counter", "loss_scale_optimizer/dynamic_scale",
                     "loss_scale_optimizer/skipped_steps", "loss_scale_optimizer/last_fault", "adam/iteration",
                     "adam/learning_rate", "adam/net_a_kernel_momentum", "adam/net_a_kernel_velocity",
                     "adam/net_a_bias_momentum", "adam/net_a_bias_velocity", "adam/net_b_kernel_momentum",
                     "adam/net_b_kernel_velocity", "adam/net_b_bias_momentum", "adam/net_b_bias_velocity"});
  const auto metadata = detail::readSafetensors(path).metadata;
  CHECK(metadata.at("format") == "halftone checkpoint");
  CHECK(metadata.at("epoch") == "1");
  CHECK(metadata.at("step") == "2");
  CHECK(metadata.at("policy:net/a") == "float32");
  CHECK(metadata.at("class_path:net/b/kernel") == "layer/Sequential/Dense_1/kernel");
  CHECK(metadata.at("crc32:net/b/kernel").size() == 8);

  const Sequential other = compiled(optimizers::LossScaleOptimizer("adam")); // its optimizer has no slots yet
  const Checkpoint::Restored restored = Checkpoint(other).restore(path);
  CHECK(restored.epoch == 1);
  CHECK(restored.step == 2);
  CHECK(restored.converted.empty());
  CHECK(stateOf(other) == stateOf(model));
}

TEST_CASE("A checkpoint of a model that was never trained, or never compiled, restores too", "[files]") {
  TemporaryFolder folder;
  const Sequential fresh = compiled(), trained = compiled(), plain = net(), other = net();
  Checkpoint(fresh).save(folder / "fresh.ckpt");
  train(trained);
  CHECK(Checkpoint(trained).restore(folder / "fresh.ckpt").step == 0);
  const auto restored = stateOf(trained), begins = stateOf(fresh); // the new model has no slots, and saving makes none
  REQUIRE(restored.size() > begins.size());
  for (size_t i = 0; i < restored.size(); ++i)
    CHECK(restored[i] == (i < begins.size() ? begins[i] : std::vector<double>(restored[i].size())));
  Checkpoint(plain).save(folder / "plain.ckpt");
  (void)Checkpoint(other).restore(folder / "plain.ckpt");
  CHECK(numbers(other.get_weights()[0]) == numbers(plain.get_weights()[0]));
}

TEST_CASE("A checkpoint that does not fit the model changes nothing and says which variables differ", "[files]") {
  TemporaryFolder folder;
  const std::string path = folder / "a.ckpt";
  const Sequential model = compiled(), wide = net(4), plain = net(), sgd = compiled(optimizers::SGD(0.1));
  wide.compile({.optimizer = "adam", .loss = "mse"});
  train(model);
  Checkpoint(wide).save(path);
  const auto before = stateOf(model);
  const auto refusal = [&](const Model &into) { return errorOf([&] { (void)Checkpoint(into).restore(path); }); };
  CHECK_THAT(refusal(model), Contains("ValueError: Cannot restore '" + path +
                                      "': \"net/a/kernel\" is (2, 4) in "
                                      "float32, the model's variable (2, 3) in float32"));
  CHECK(stateOf(model) == before);
  Checkpoint(model).save(path);
  CHECK_THAT(refusal(plain), Contains("the model has no variable for \"adam/iteration\", since it is not compiled") &&
                                 Contains("load_weights() reads only the weights"));
  CHECK_THAT(refusal(sgd), Contains("the file has no value for \"SGD/iteration\"") &&
                               Contains("no variable for \"adam/net_a_kernel_momentum\""));
  const Sequential unbuilt({Dense(1)});
  CHECK_THAT(refusal(unbuilt), Contains("Checkpoint::restore() needs a built model"));
  CHECK_THAT(errorOf([&] { Checkpoint(unbuilt).save(path); }), Contains("Checkpoint::save() needs a built model"));
  model.save_weights(folder / "w.safetensors");
  CHECK_THAT(errorOf([&] { (void)Checkpoint(model).restore(folder / "w.safetensors"); }),
             Contains("another safetensors file"));
}

TEST_CASE("One changed byte anywhere in a checkpoint is found, and nothing is restored", "[files]") {
  TemporaryFolder folder;
  const std::string path = folder / "a.ckpt", damaged = folder / "damaged.ckpt";
  const Sequential model = compiled();
  Checkpoint(model).save(path);
  train(model);
  const auto before = stateOf(model);
  const std::string whole = contents(path);
  const size_t headerEnd = whole.find_last_of('}') + 1; // blanks follow, which may be replaced by other blanks
  for (size_t at = 0; at < whole.size(); at += at < headerEnd ? 53 : 7) {
    if (at >= headerEnd && whole[at] == ' ')
      continue;
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 4);
    folder.write("damaged.ckpt", bytes);
    INFO("byte " << at << " of " << whole.size());
    CHECK_THAT(errorOf([&] { (void)Checkpoint(model).restore(damaged); }), Contains(damaged));
  }
  for (size_t size = 0; size < whole.size(); size += 397) {
    folder.write("damaged.ckpt", whole.substr(0, size));
    CHECK_THAT(errorOf([&] { (void)Checkpoint(model).restore(damaged); }), Contains(damaged));
  }
  CHECK(stateOf(model) == before);
}

namespace {

/// Saves a second checkpoint in a process that `restrict` has restricted. The save must fail with `reason`, and the old
/// file must remain and load.
void checkOldFileStays(const TemporaryFolder &folder, bool (*restrict)(const TemporaryFolder &), const char *reason) {
  const std::string path = folder / "a.ckpt";
  const Sequential model = compiled();
  Checkpoint(model).save(path);
  const std::string old = contents(path);
  train(model);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const bool restricted = restrict(folder);
    const std::string error = errorOf([&] { Checkpoint(model).save(path); });
    ::_exit(restricted && error == "IOError: cannot write " + path + ": " + reason ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  REQUIRE(::chmod(folder.path.c_str(), 0755) == 0);
  CHECK(contents(path) == old);
  CHECK(folder.entries() == 1);
  CHECK(Checkpoint(model).restore(path).step == 0);
}
bool toSmallFiles(const TemporaryFolder &) {
  const rlimit limit{4096, 4096};
  return ::setrlimit(RLIMIT_FSIZE, &limit) == 0;
}
/// Removes access to the folder. Root can access every folder, so root becomes another user, who owns the file.
bool toClosedFolder(const TemporaryFolder &folder) {
  if (::chmod(folder.path.c_str(), 0555) != 0)
    return false;
  return ::geteuid() != 0 ||
         (::chown((folder / "a.ckpt").c_str(), 12345, 54321) == 0 && ::setgid(54321) == 0 && ::setuid(12345) == 0);
}

} // namespace

TEST_CASE("If the disk is full, or the folder takes no new file, the old checkpoint stays and loads", "[files]") {
  const TemporaryFolder full, closed;
  checkOldFileStays(full, toSmallFiles, "File too large");
  checkOldFileStays(closed, toClosedFolder, "Permission denied");
}

TEST_CASE("A process that is killed while it writes leaves the old or the new checkpoint", "[files]") {
  TemporaryFolder folder;
  const std::string path = folder / "a.ckpt";
  Sequential model({Input({300}), Dense(300, {.name = "a"})}, {.name = "killed"});
  model.compile({.optimizer = optimizers::SGD(0.1), .loss = "mse"});
  const auto fill = [&](double value) {
    for (const Variable &variable : model.variables())
      variable.assign(Tensor::full(variable.shape(), value));
  };
  const auto write = [&](double value) {
    fill(value);
    Checkpoint(model).save(path);
  };
  const auto read = [&] {
    (void)Checkpoint(model).restore(path);
    const double value = numbers(model.variables()[0])[0];
    for (const Variable &variable : model.variables())
      for (double each : numbers(variable))
        if (each != value)
          FAIL("values of two checkpoints");
    return value;
  };
  const int rounds = killCount(200);
  CHECK(killWriters(rounds, write, read) > rounds / 10);
  CHECK(folder.entries() <= 1 + rounds / 10); // only a process killed during the rename leaves one
}

TEST_CASE("Values that a narrower dtype cannot hold are counted in the line of their conversion", "[files]") {
  TemporaryFolder folder;
  const auto made = [](const char *policy) {
    return Sequential({Input({2}), Dense(2, {.dtype = policy, .name = "a"})}, {.name = "net"});
  };
  const Sequential wide = made("float32"), narrow = made("float16");
  const float infinity = std::numeric_limits<float>::infinity();
  wide.set_weights({Tensor({1e6f, -1e6f, infinity, 1.0f}, {2, 2}), Tensor({1, 2}, {2})});
  Checkpoint(wide).save(folder / "a.ckpt");
  CHECK(Checkpoint(narrow).restore(folder / "a.ckpt").converted ==
        std::vector<std::string>{"net/a/kernel: float32 -> float16, 2 values are no longer finite",
                                 "net/a/bias: float32 -> float16"});
  CHECK(numbers(narrow.variables()[0])[1] == -infinity);
}
