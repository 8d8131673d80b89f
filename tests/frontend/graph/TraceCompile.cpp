// The environment variables that compilation reads, its warnings about the cache, and kernel packs.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/KernelCache.h"
#include "halftone/Halftone.h"
#include "tests/TemporaryFolder.h"
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <unistd.h>

using namespace halftone;
using namespace halftone::layers;

namespace {

/// Sets an environment variable and restores its old value on destruction.
class Setting {
public:
  Setting(const char *name, const std::string &value) : name(name) {
    if (const char *old = std::getenv(name))
      before = old;
    ::setenv(name, value.c_str(), 1);
  }
  Setting(const Setting &) = delete;
  ~Setting() { before ? ::setenv(name, before->c_str(), 1) : ::unsetenv(name); }

private:
  const char *name;
  std::optional<std::string> before;
};

float compileAndRun(double number) {
  return jit([=](const Value &x) { return x * number; })(Tensor::ones({1})).item<float>();
}

} // namespace

TEST_CASE("an empty HALFTONE_TARGET counts as unset, an unknown one is an error") {
  const Setting empty("HALFTONE_TARGET", "");
  CHECK(compileAndRun(2) == 2);
  const Setting unknown("HALFTONE_TARGET", "pdp-11");
  CHECK_THROWS_WITH(compileAndRun(3), Catch::Contains("unknown target \"pdp-11\""));
}

TEST_CASE("A HALFTONE_TARGET that does not run on the device is an error about the variable, wherever it is met") {
  for (const char *value : {"pdp-11", "sm_80", "aarch64-unknown-linux-gnu:neoverse-n1"}) {
    const Setting setting("HALFTONE_TARGET", value);
    const auto begins =
        Catch::StartsWith("ValueError: HALFTONE_TARGET=" + std::string(value) + ": expected a target of the device: ");
    CHECK_THROWS_WITH(compileAndRun(11), begins);
    CHECK_THROWS_WITH(Dense(2)(Tensor::ones({1, 3})), begins);
    CHECK_THROWS_WITH(Sequential({Dense(2)}).predict(Tensor::ones({1, 3})), begins);
  }
  const Setting other("HALFTONE_TARGET", "sm_80"); // its text can be compiled here
  const Sequential model({Input({3}), Dense(2)});
  CHECK_THAT(model.ir(Stage::target), Catch::Contains(".target sm_80"));
}

TEST_CASE("a kernel cache that cannot be used is reported once, with the reason") {
  namespace fs = std::filesystem;
  const fs::path home = fs::temp_directory_path() / ("halftone-home-" + std::to_string(::getpid()));
  fs::create_directories(home / "halftone");
  fs::permissions(home / "halftone", fs::perms::all);
  const Setting setting("XDG_CACHE_HOME", home);
  std::string said;
  set_output([&](std::string_view text) { said += text; });
  const float first = compileAndRun(5), second = compileAndRun(7);
  set_output({});
  CHECK(first == 5);
  CHECK(second == 7);
  CHECK(said == "warning: compiled kernels are not cached on disk: " + (home / "halftone").string() +
                    " can be written by other users\n");
  fs::remove_all(home);
}

TEST_CASE("A function takes its kernels from an added pack, compiles none, and gives the same bits") {
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  const Tensor x = Tensor::full({5, 33}, 0.7), w = Tensor::full({33, 17}, -0.3);
  const auto run = [&](const std::string &home) {
    const Setting setting("XDG_CACHE_HOME", folder / home);
    return jit([](const Value &x, const Value &w) { return ops::tanh(ops::matmul(x, w)) * 1.625; })(x, w)
        .to_vector<float>();
  };
  const std::vector<float> expected = run("first");
  std::map<std::string, KernelCode> kernels;
  compiler::KernelCache cache(folder / "first/halftone");
  for (const auto &entry : fs::directory_iterator(folder.path / "first/halftone" / compiler::codeId()))
    kernels[entry.path().filename()] = *cache.find(entry.path().filename())->kernel;
  REQUIRE_FALSE(kernels.empty());
  REQUIRE(saveKernelPack(folder / "kernels.pack", compiler::codeId(), kernels).isOk());

  add_kernel_pack(folder / "kernels.pack");
  CHECK(run("second") == expected);
  CHECK(fs::is_empty(folder.path / "second/halftone" / compiler::codeId())); // a compiled kernel would be cached
  REQUIRE(saveKernelPack(folder / "kernels.pack", compiler::codeId(), {}).isOk());
  add_kernel_pack(folder / "kernels.pack");
  CHECK(run("third") == expected);
  CHECK_FALSE(fs::is_empty(folder.path / "third/halftone" / compiler::codeId()));
}

TEST_CASE("A file that is no pack of this version is an error of add_kernel_pack") {
  const TemporaryFolder folder;
  const auto kindOf = [&](const std::string &path, const std::string &message) {
    try {
      add_kernel_pack(path);
    } catch (const Error &error) {
      CHECK_THAT(error.message(), Catch::StartsWith(message));
      return error.kind();
    }
    FAIL("no error");
    return ErrorKind::internal_error;
  };
  CHECK(kindOf(folder / "absent", "cannot read " + (folder / "absent") + ": No such file") == ErrorKind::io_error);
  const std::string text = folder.write("text", std::string(1000, 'x')), foreign = folder / "foreign";
  std::filesystem::permissions(text, std::filesystem::perms::owner_read);
  CHECK(kindOf(text, text + ": not a kernel pack: ") == ErrorKind::value_error);
  REQUIRE(saveKernelPack(foreign, "0.1.0-0000000000000000", {}).isOk());
  CHECK(kindOf(foreign, foreign + ": a kernel pack of the code generation 0.1.0-") == ErrorKind::value_error);
}
