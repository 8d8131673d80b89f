// Quantized layers beside float32 ones, and beside int8 products of oneDNN.
// SPDX-License-Identifier: Apache-2.0
#include "Gpt.h"
#include "Mlp.h"
#include "Operand.h"
#include "Peer.h"
#include "Race.h"
#include "Table.h"
#include <fmt/format.h>
#include <sched.h>

using namespace halftone;
using namespace halftone::benchmarks;

namespace {

constexpr int64_t inputs = 768, units = 3072;

/// A Dense of 768 x 3072 with bias and relu as a compiled function, quantized if `mode` is not empty.
auto dense(const std::string &mode, const Tensor &x, const QuantizationConfig &config = {}) {
  set_random_seed(1);
  layers::Dense layer(units, {.activation = "relu"});
  (void)layer(x);
  if (!mode.empty())
    layer.quantize(mode, {.config = config});
  return jit([layer](const Value &value) { return layer(value); });
}

std::string microseconds(double seconds) { return fmt::format("{:.1f} us", seconds * 1e6); }

struct Bar {
  std::string what;
  double bar;
  std::optional<double> stretch{};
};

/// Adds a row with the speedup of `faster` over `slower`.
void compare(Table &table, const Bar &bar, const Contestant &faster, const Contestant &slower) {
  if (!table.wants(bar.what))
    return;
  const std::vector<double> seconds = race({faster, slower}, 11, 0.02);
  table.add({bar.what, faster.name + " " + microseconds(seconds[0]), slower.name + " " + microseconds(seconds[1]),
             seconds[1] / seconds[0], bar.bar, bar.stretch});
}

Contestant calls(const std::string &name, const auto &function, const Tensor &x) {
  return contestant(name, [function, x] { (void)function(x); });
}

/// Our times include quantizing activations, multiplying and rescaling; oneDNN only multiplies.
void runDense(Table &table, const std::vector<std::unique_ptr<Peer>> &peers) {
  for (const int64_t rows : {1, 4, 8, 32, 128, 512}) {
    const Tensor x = operand({rows, inputs}, 13);
    const std::string size = fmt::format("Dense {} x {} x {}", rows, inputs, units);
    const Contestant wide = calls("float32", dense("", x), x), narrow = calls("int8", dense("int8", x), x);
    compare(table, {size + ", int8 against float32", rows >= 8 ? 2.5 : 2.0, 3.5}, narrow, wide);
    for (const std::unique_ptr<Peer> &each : peers) {
      Peer &peer = *each;
      const std::string what = size + ", int8 against " + peer.name();
      if (!table.wants(what))
        continue;
      if (!peer.missing().empty()) {
        table.add({what, "", "missing", {}, {}, {}, false, peer.missing()});
        continue;
      }
      (void)peer.askNumbers(fmt::format("prepare int8 {} {} {}", rows, units, inputs));
      compare(table, {what, 0.9, 1.0}, narrow,
              {peer.name(), [&peer](int times) { return peer.askNumbers(fmt::format("calls {}", times)).at(0); }});
    }
  }
}

void runInt4(Table &table) {
  const quantizers::Int4QuantizationConfig channels(std::nullopt), integers(std::nullopt, true);
  for (const int64_t rows : {1, 32}) {
    const Tensor x = operand({rows, inputs}, 13);
    const std::string size = fmt::format("Dense {} x {} x {}", rows, inputs, units);
    const Contestant wide = calls("float32", dense("", x), x), eight = calls("int8", dense("int8", x), x);
    const Contestant four = calls("int4", dense("int4", x, channels), x);
    compare(table, {size + ", int4 a channel against int8", rows == 1 ? 1.5 : 0.5}, four, eight);
    compare(table, {size + ", int4 a channel with inputs of int8 against int8", rows == 1 ? 1.5 : 0.5},
            calls("int4", dense("int4", x, integers), x), eight);
    compare(table, {size + ", int4 in blocks of 128 against float32", 0.5}, calls("int4", dense("int4", x), x), wide);
  }
}

/// Generates one text after another, each of 64 tokens after a prompt of 8, with a key-value cache.
void runDecoding(Table &table) {
  const std::string what = "tokens of a GPT of 6 layers of 384, int8 against float32";
  if (!table.wants(what))
    return;
  const GenerateArgs args{.max_new_tokens = 64, .temperature = 0};
  const Tensor prompt(std::vector<int32_t>{1, 2, 3, 4, 5, 6, 7, 8}, {8});
  const auto writer = [&](const std::string &name, const Model &model) {
    const KeyValueCache cache(model);
    return contestant(name, [cache, prompt, args] { (void)generate(cache, prompt, args); });
  };
  const Model quantized = gpt("float32");
  (void)quantized.quantize("int8", {.verbose = false});
  compare(table, {what, 2.0}, writer("int8", quantized), writer("float32", gpt("float32")));
}

void runFloat8(Table &table) {
  const std::string what = "train step 784-512-512-10, batch 128, float8 against float32";
  if (!table.wants(what))
    return;
  const Batch batch = images(128);
  const Sequential wide = mlp("float32"), narrow = mlp("float32");
  (void)narrow.quantize("float8", {.verbose = false});
  narrow.compile(
      {.optimizer = optimizers::Adam(0.0), .loss = losses::SparseCategoricalCrossentropy({.from_logits = true})});
  const auto step = [&](const std::string &name, const Sequential &model) {
    return contestant(name, [model, batch] { (void)model.train_on_batch(batch.x, batch.y); });
  };
  compare(table, {what, 0.6}, step("float8", narrow), step("float32", wide));
}

void run(Table &table) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  ::sched_getaffinity(0, sizeof cores, &cores);
  std::vector<std::unique_ptr<Peer>> peers;
  for (const char *name : {"oneDNN", "oneDNN of PyTorch"}) {
    peers.push_back(
        std::make_unique<Peer>(name, "gemm", std::vector<std::string>{name, std::to_string(CPU_COUNT(&cores))}));
    table.peer(*peers.back());
  }
  runDense(table, peers);
  runInt4(table);
  runDecoding(table);
  runFloat8(table);
}

} // namespace

int main() { return runProgram("quantized", "quantized layers", run); }
