// A program that exits while it, or another of its threads, uses a model. exits.py runs it.
// SPDX-License-Identifier: Apache-2.0
// exits CALL WHEN [MICROSECONDS]: makes the call in a function of std::atexit() (WHEN = first: registered before the
// library is used; last: after), in the destructor of a static object (static), or in the destructor of a thread_local
// object (thread). Prints "worked: ..." or "Error: ...".
// exits objects: compiles a small kernel, and then others whose static objects StaticObjects.cpp reports. exits compile
// WAY MICROSECONDS: other threads compile continuously. After this time, main returns (WAY = return), or the process
// ends by exit() on the main thread (exit), on another thread (other), or within a traced function (traced).
#include "halftone/Halftone.h"
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <functional>
#include <map>
#include <thread>
#include <unistd.h>

using namespace halftone;
using namespace halftone::layers;

namespace {

Sequential *model = nullptr;
std::string call;

Tensor x() { return Tensor::ones({16, 8}); }

std::string report() {
  model->report("last.html", {.time_kernels = false});
  return "";
}
std::string save() {
  model->save("last.keras");
  return "";
}
const std::map<std::string, std::function<std::string()>> &calls() {
  static const auto &all = *new std::map<std::string, std::function<std::string()>>{
      {"evaluate", [] { return model->evaluate(x(), Tensor::ones({16, 1}), {.verbose = 0}).str(); }},
      {"fit", [] { return std::to_string(model->fit(x(), Tensor::ones({16, 1}), {.verbose = 0})["loss"][0]); }},
      {"predict", [] { return model->predict(x(), {.verbose = 0}).str(); }},
      {"jit", [] { return jit([](const Value &v) { return ops::sin(v) + 1.0; })(x()).str(); }},
      {"layer", [] { return Dense(3)(x()).str(); }},
      {"report", report},
      {"summary", [] { return model->summary().text(); }},
      {"config", [] { return model->get_config().dump(); }},
      {"clone", [] { return clone_model(*model).name(); }},
      {"save", save},
      {"weights", [] { return model->get_weights()[0].str(); }},
      {"policy", [] {
         set_dtype_policy("mixed_float16");
         return dtype_policy().name() + " " + DTypePolicyMap(PolicyArg("float32"), {{"a.*", "bfloat16"}})["ab"].name();
       }}};
  return all;
}

void makeTheCall() {
  try {
    std::printf("worked: %.20s\n", calls().at(call)().c_str());
  } catch (const Error &error) {
    std::printf("Error: %s\n", error.message().c_str());
  } catch (const std::exception &error) {
    std::printf("another exception: %s\n", error.what());
  }
  std::fflush(stdout);
}

struct AtEnd {
  bool calls = false;
  ~AtEnd() {
    if (calls)
      makeTheCall();
  }
};
AtEnd atEnd; // constructed before main

void makeModel() {
  model = new Sequential({Input({8}), Dense(4, {.activation = "relu"}), Dense(1)});
  model->compile({.optimizer = "adam", .loss = "mse"});
  model->fit(x(), Tensor::ones({16, 1}), {.verbose = 0});
}

int endByCall(const std::string &when) {
  static thread_local AtEnd ofThread;
  if (when == "first")
    std::atexit(makeTheCall);
  atEnd.calls = when == "static";
  ofThread.calls = when == "thread";
  makeModel();
  if (when == "last")
    std::atexit(makeTheCall);
  return 0;
}

void compileForEver(int seed) {
  for (int i = seed;; i += 3) {
    Sequential net({Input({8}), Dense(8 + i % 300, {.activation = i % 2 ? "relu" : "gelu"}), Dense(1)});
    net.compile({.optimizer = "adam", .loss = "mse"});
    net.fit(Tensor::ones({64, 8}), Tensor::ones({64, 1}), {.verbose = 0});
    (void)jit([i](const Value &v) { return ops::exp(v) * double(i); })(x());
  }
}

int endWhileCompiling(const std::string &way, unsigned microseconds) {
  for (int i = 0; i < 2; ++i)
    std::thread(compileForEver, i).detach();
  if (way == "other")
    std::thread([microseconds] {
      usleep(microseconds);
      std::exit(0);
    }).join();
  usleep(microseconds);
  if (way == "traced")
    (void)jit([](const Value &v) {
      std::exit(0);
      return v;
    })(x());
  if (way == "exit")
    std::exit(0);
  return 0;
}

void fitWith(const char *policy) {
  const PolicyScope scope(policy);
  Sequential net({Input({8, 8, 3}), Conv2D(8, 3), BatchNormalization(), Activation("gelu"), MaxPooling2D(2), Flatten(),
                  Dropout(0.5), Dense(16, {.activation = "softmax"}), Dense(1)});
  net.compile({.optimizer = "adam", .loss = "mse"});
  net.fit(Tensor::ones({16, 8, 8, 3}), Tensor::ones({16, 1}), {.verbose = 0});
}

int tellObjects() {
  const auto tell = reinterpret_cast<void (*)()>(dlsym(RTLD_DEFAULT, "tellStaticObjects"));
  if (!tell)
    return 2;
#ifdef __x86_64__
  if (default_device() == Device::cpu())
    setenv("HALFTONE_TARGET", "x86-64-v2", 1); // its code needs fewer objects than the code of later targets
#endif
  const auto twice = jit([](const Value &v) { return v + v; });
  (void)twice(Tensor::ones({4}, DType::int32));
  unsetenv("HALFTONE_TARGET");
  tell();
  for (const char *policy : {"float32", "mixed_float16", "mixed_bfloat16", "float64"})
    fitWith(policy);
  const auto others = jit([](const Value &v) {
    return ops::softmax(ops::cumsum(ops::sin(v), 1)) + ops::tanh(v) + ops::erf(v) +
           ops::cast(ops::cast(v, DType::int32) / 3, DType::float32);
  });
  (void)others(Tensor::ones({7, 33}));
  std::puts("worked: compiled");
  return 0;
}

} // namespace

int main(int count, char **arguments) {
  call = count > 1 ? arguments[1] : "";
  if (call == "compile" && count == 4)
    return endWhileCompiling(arguments[2], static_cast<unsigned>(std::atoi(arguments[3])));
  if (call == "objects")
    return tellObjects();
  if (call == "train") { // for runs under limits of the process
    makeModel();
    for (const Batch &batch : Dataset(x(), Tensor::ones({16, 1})).batch(4).prefetch(2))
      (void)model->train_on_batch(batch.x, batch.y);
    std::puts("worked: trained");
    return 0;
  }
  if (count != 3 || !calls().contains(call))
    return 2;
  return endByCall(arguments[2]);
}
