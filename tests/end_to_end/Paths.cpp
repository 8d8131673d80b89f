// All functions that take a path: blocking or endless files are rejected, and no path is truncated at a null byte.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include "tests/TemporaryFolder.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <functional>
#include <sys/stat.h>

using namespace halftone;
using namespace halftone::test;
using namespace halftone::layers;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

struct PathUse {
  std::string name; // the name of the file
  std::function<void(const std::string &path)> use;
};

Sequential net() {
  Sequential model({Input({3}), Dense(2)});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  return model;
}

std::vector<PathUse> readers() {
  return {{"f.keras", [](const std::string &path) { (void)load_model(path); }},
          {"f.weights.h5", [](const std::string &path) { net().load_weights(path); }},
          {"f.safetensors", [](const std::string &path) { net().load_weights(path); }},
          {"g.safetensors", [](const std::string &path) { (void)load_safetensors(path); }},
          {"f.ckpt", [](const std::string &path) { (void)Checkpoint(net()).restore(path); }},
          {"f.npy", [](const std::string &path) { (void)Tensor::load_npy(path); }},
          {"f.json", [](const std::string &path) { (void)DTypePolicyMap::load(path); }},
          {"f.idx", [](const std::string &path) { (void)datasets::load_idx(path); }},
          {"data_batch_1.bin",
           [](const std::string &path) { (void)datasets::cifar10(fs::path(path).parent_path().string()); }}};
}

std::vector<PathUse> writers() {
  static const auto trained = [](const CallbackArg &callback) {
    net().fit(Tensor::ones({4, 3}), Tensor::ones({4, 2}), {.verbose = 0, .callbacks = {callback}});
  };
  return {{"f.keras", [](const std::string &path) { net().save(path, {.overwrite = false}); }},
          {"f.weights.h5", [](const std::string &path) { net().save_weights(path); }},
          {"f.safetensors", [](const std::string &path) { net().save_weights(path); }},
          {"g.safetensors", [](const std::string &path) { save_safetensors(path, {{"a", Tensor::ones({1})}}); }},
          {"f.ckpt", [](const std::string &path) { Checkpoint(net()).save(path); }},
          {"f.npy", [](const std::string &path) { Tensor::ones({1}).save_npy(path); }},
          {"f.json", [](const std::string &path) { DTypePolicyMap().save(path); }},
          {"f.html", [](const std::string &path) { net().report(path); }},
          {"f.svg", [](const std::string &path) { plot_model(net(), path); }},
          {"ir", [](const std::string &path) { net().dump_ir(path); }},
          {"f.csv", [](const std::string &path) { trained(callbacks::CSVLogger(path)); }},
          {"{epoch}.ckpt", [](const std::string &path) { trained(callbacks::ModelCheckpoint(path)); }},
          {"backup", [](const std::string &path) { trained(callbacks::BackupAndRestore(path)); }}};
}

} // namespace

TEST_CASE("A reader refuses a FIFO, a device and a folder at once, with the path") {
  for (const PathUse &reader : readers()) {
    const TemporaryFolder folder;
    const std::string path = folder / reader.name;
    INFO(path);
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    CHECK_THAT(errorOf([&] { reader.use(path); }), Contains("IOError: cannot read " + path + ": not a regular file"));
    fs::remove(path);
    fs::create_symlink("/dev/zero", path);
    CHECK_THAT(errorOf([&] { reader.use(path); }), Contains("IOError: cannot read " + path + ": not a regular file"));
    fs::remove(path);
    fs::create_directory(path);
    CHECK_THAT(errorOf([&] { reader.use(path); }), Contains("IOError: ") && Contains(path));
  }
}

TEST_CASE("A sparse file of terabytes is refused in little memory and time") {
  for (const PathUse &reader : readers()) {
    const TemporaryFolder folder;
    const std::string path = folder.write(reader.name, "");
    INFO(path);
    REQUIRE(::truncate(path.c_str(), (int64_t{3073} << 30)) == 0);
    CHECK_THAT(errorOf([&] { reader.use(path); }), Contains("Error: ") && Contains(path));
  }
}

TEST_CASE("A path with a null byte is a ValueError of every function, and names no other file") {
  const auto check = [](const std::vector<PathUse> &uses) {
    for (const PathUse &each : uses) {
      const TemporaryFolder folder;
      const std::string path = folder.write("notes", "notes") + std::string("\0", 1) + each.name;
      INFO(each.name);
      CHECK_THAT(errorOf([&] { each.use(path); }),
                 Contains("ValueError: ") && Contains("embedded null byte in the path"));
      CHECK(folder.entries() == 1);
      CHECK(fs::file_size(folder / "notes") == 5);
    }
  };
  std::vector<PathUse> inFile = readers();
  std::erase_if(inFile, [](const PathUse &use) { return use.name.find("_batch") != use.name.npos; });
  check(inFile);
  check(writers());
  const std::string folder("/nowhere\0/data", 14);
  CHECK_THAT(errorOf([&] { (void)datasets::cifar10(folder); }), Contains("ValueError: embedded null byte"));
  CHECK_THAT(errorOf([&] { (void)datasets::mnist(folder); }), Contains("ValueError: embedded null byte"));
}
