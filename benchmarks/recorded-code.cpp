// Writes every stage, plan and machine code of five nets' train and predict steps, to compare two builds.
// SPDX-License-Identifier: Apache-2.0
//
//   recorded-code FOLDER
//
// writes FOLDER/<net>/<program>/0-graph.mlir ... 6-target.s. Two trees make the same code if `diff -r` of their folders
// finds nothing. The texts name kernels by content, so they hold no kernel keys and no addresses.
#include "Mlp.h"
#include <cstdio>
#include <functional>

using namespace halftone;

namespace {

struct Net {
  const char *name;
  int64_t batch;
  std::function<Model()> make;
};

/// Dense blocks with normalization, dropout and a skip connection.
Model residual() {
  set_random_seed(1);
  Input x({64}, {.name = "x"});
  Value h = layers::Dense(128)(x);
  for (int block = 0; block < 3; ++block) {
    Value inner = layers::LayerNormalization()(h);
    inner = layers::Dense(256, {.activation = "gelu"})(inner);
    inner = layers::Dropout(0.1)(inner);
    h = h + layers::Dense(128)(inner);
  }
  Value y = layers::Dense(10, {.name = "y"})(layers::LayerNormalization()(h));
  Model model({x}, {y}, {.name = "residual"});
  model.compile({.optimizer = "adamw", .loss = losses::SparseCategoricalCrossentropy({.from_logits = true})});
  return model;
}

/// Tokens that are embedded, normalised over the batch and averaged.
Model embedding() {
  set_random_seed(1);
  Input words({20}, {.dtype = int32, .name = "words"});
  Value h = layers::Embedding(1000, 64)(words);
  h = ops::mean(layers::BatchNormalization()(h), 1);
  Model model({words}, {layers::Dense(4, {.name = "y"})(h)}, {.name = "embedding"});
  model.compile({.optimizer = "sgd", .loss = losses::SparseCategoricalCrossentropy({.from_logits = true})});
  return model;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "recorded-code: expected one folder to write to\n");
    return 2;
  }
  const Net nets[] = {{"mlp-float32", 128, [] { return benchmarks::mlp("float32"); }},
                      {"mlp-mixed_bfloat16", 128, [] { return benchmarks::mlp("mixed_bfloat16"); }},
                      {"mlp-mixed_float16", 128, [] { return benchmarks::mlp("mixed_float16"); }},
                      {"residual", 32, residual},
                      {"embedding", 32, embedding}};
  try {
    for (const Net &net : nets) {
      Model model = net.make();
      for (Program program : {Program::train, Program::predict})
        model.dump_ir(std::string(argv[1]) + "/" + net.name + (program == Program::train ? "/train" : "/predict"),
                      {.program = program, .batch_size = net.batch});
      std::printf("%s\n", net.name);
    }
  } catch (const Error &error) {
    std::fprintf(stderr, "recorded-code: %s\n", error.what());
    return 1;
  }
  return 0;
}
