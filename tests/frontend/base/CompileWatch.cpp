// The notifications of a compile to a watch, and what user code may do meanwhile.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/CompileWatch.h"
#include "halftone/Halftone.h"
#include "tests/TemporaryFolder.h"
#include <catch2/catch.hpp>
#include <cstdlib>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace halftone;
using detail::CompileWatch;

namespace {

/// A kernel cache that is initially empty.
struct EmptyCache {
  EmptyCache() { ::setenv("XDG_CACHE_HOME", folder.path.c_str(), 1); }
  EmptyCache(const EmptyCache &) = delete;
  ~EmptyCache() { before ? ::setenv("XDG_CACHE_HOME", before->c_str(), 1) : ::unsetenv("XDG_CACHE_HOME"); }
  std::optional<std::string> before =
      std::getenv("XDG_CACHE_HOME") ? std::optional(std::getenv("XDG_CACHE_HOME")) : std::nullopt;
  TemporaryFolder folder;
};

/// Each layer has its own kernel: two widths may share one, two activations do not.
Sequential deep() {
  set_random_seed(3);
  Sequential model({layers::Input({4})});
  for (const char *activation :
       {"gelu", "tanh", "softplus", "mish", "selu", "silu", "softsign", "softmax", "sigmoid", "elu", "log_softmax",
        "hard_sigmoid", "hard_silu", "log_sigmoid", "squareplus", "leaky_relu", "relu6", "tanh_shrink"})
    model.add(layers::Dense(24, {.activation = activation}));
  return model;
}
Tensor predicted(const Model &model) { return model.predict_on_batch(Tensor::ones({2, 4})); }

constexpr std::chrono::milliseconds atOnce{0};

} // namespace

TEST_CASE("A watch is told by the calling thread how many kernels of all have code") {
  const EmptyCache cache;
  std::vector<size_t> dones, counts;
  bool isHere = true;
  const CompileWatch watch(
      [&, here = std::this_thread::get_id()](size_t done, size_t count) {
        dones.push_back(done), counts.push_back(count);
        isHere &= here == std::this_thread::get_id();
      },
      atOnce);
  const Model model = deep();
  (void)predicted(model);
  REQUIRE(dones.size() > 1);
  CHECK(std::ranges::is_sorted(dones));
  CHECK(std::ranges::adjacent_find(dones) == dones.end()); // notified of changes only
  CHECK(counts.front() >= 18);
  CHECK(counts == std::vector(counts.size(), counts.front()));
  CHECK(dones.back() <= counts.front());
  CHECK(isHere);
  const size_t calls = dones.size();
  (void)predicted(model);
  CHECK(dones.size() == calls);
}

TEST_CASE("Only the newest watch is told, and not before its time") {
  const EmptyCache cache;
  size_t outer = 0, inner = 0;
  const CompileWatch first([&](size_t, size_t) { ++outer; }, atOnce);
  {
    const CompileWatch second([&](size_t, size_t) { ++inner; }, std::chrono::hours(1));
    (void)predicted(deep());
  }
  CHECK(outer == 0);
  CHECK(inner == 0);
  CHECK(CompileWatch::current() == &first);
}

TEST_CASE("What a watch throws ends the compile, after which the model is as it was") {
  const EmptyCache cache;
  const Model model = deep();
  {
    const CompileWatch watch([](size_t, size_t) { throw std::runtime_error("enough"); }, atOnce);
    CHECK_THROWS_WITH(predicted(model), "enough");
  }
  CHECK(predicted(model).to_vector<float>() == predicted(deep()).to_vector<float>());
}

TEST_CASE("A watch may compile another model") {
  const EmptyCache cache;
  std::vector<float> other;
  const CompileWatch watch(
      [&](size_t, size_t) {
        const CompileWatch none([](size_t, size_t) {});
        if (other.empty())
          other = predicted(deep()).to_vector<float>();
      },
      atOnce);
  CHECK(predicted(deep()).to_vector<float>() == other);
}

TEST_CASE("A watch may fork: both processes end the compile") {
  const EmptyCache cache;
  const Model model = deep();
  pid_t child = -1;
  const CompileWatch watch(
      [&](size_t, size_t) {
        if (child < 0)
          child = ::fork();
      },
      atOnce);
  std::vector<float> values;
  try {
    values = predicted(model).to_vector<float>();
  } catch (...) {
    if (child == 0)
      ::_exit(1);
    throw;
  }
  if (child == 0)
    ::_exit(values.size() == 48 ? 0 : 2);
  REQUIRE(child > 0);
  CHECK(values.size() == 48);
  int status = -1;
  CHECK(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("fit, evaluate and predict show a compile in the line of their bar") {
  std::string text;
  set_output([&](std::string_view part) { text += part; });
  const auto show = [](int64_t, const Logs &) { CompileWatch::current()->show(5, 9); };
  const callbacks::LambdaCallback callback({.on_train_batch_begin = show});
  Sequential model({layers::Input({4}), layers::Dense(1)});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  model.fit(Tensor::ones({4, 4}), Tensor::ones({4, 1}), {.batch_size = 4, .callbacks = {callback}});
  CHECK_THAT(text, Catch::Contains(" - compiling: 5/9 kernels"));
  text.clear();
  model.fit(Tensor::ones({4, 4}), Tensor::ones({4, 1}), {.batch_size = 4, .verbose = 2, .callbacks = {callback}});
  CHECK_THAT(text, !Catch::Contains("compiling"));
  set_output({});
  CHECK(CompileWatch::current() == nullptr);
}
