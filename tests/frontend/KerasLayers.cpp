// Outputs and gradients of layers, compared with those that real Keras gives for recorded configs, weights and inputs.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/KerasRows.h"

using namespace halftone;
using namespace halftone::test;

TEST_CASE("Layers with weights, merges and activations give Keras's outputs and gradients for recorded rows") {
  const std::set<std::string> chosen = {"Dense",
                                        "Embedding",
                                        "LayerNormalization",
                                        "RMSNormalization",
                                        "Softmax",
                                        "Add",
                                        "GroupNormalization",
                                        "BatchNormalization",
                                        "Flatten",
                                        "Multiply",
                                        "UnitNormalization",
                                        "Concatenate",
                                        "Dot",
                                        "Subtract",
                                        "Average",
                                        "Maximum",
                                        "Minimum",
                                        "ELU",
                                        "LeakyReLU"};
  CHECK(checkRows("layers.jsonl", [&](const std::string &name) { return chosen.contains(name); }) == 48);
}

TEST_CASE("Layers that move elements give Keras's outputs and gradients for recorded rows") {
  const std::set<std::string> chosen = {"UpSampling1D",  "UpSampling2D", "UpSampling3D",  "Cropping1D",
                                        "Cropping2D",    "Cropping3D",   "ZeroPadding1D", "ZeroPadding2D",
                                        "ZeroPadding3D", "RepeatVector", "Permute",       "Reshape"};
  CHECK(checkRows("layers.jsonl", [&](const std::string &name) { return chosen.contains(name); }) == 29);
}

TEST_CASE("Global pooling gives Keras's outputs and gradients for recorded rows") {
  CHECK(checkRows("layers.jsonl", [](const std::string &name) { return name.starts_with("Global"); }) == 11);
}

TEST_CASE("Layers for images give Keras's outputs and gradients for recorded rows") {
  CHECK(checkRows("image_layers.jsonl",
                  [](const std::string &name) { return name != "Resizing" && !name.starts_with("Adaptive"); }) == 65);
}

TEST_CASE("Adaptive pooling gives Keras's outputs and gradients for recorded rows") {
  CHECK(checkRows("image_layers.jsonl", [](const std::string &name) { return name.starts_with("Adaptive"); }) == 14);
}

TEST_CASE("Resizing gives Keras's outputs and gradients by every interpolation, with and without antialias") {
  CHECK(checkRows("image_layers.jsonl", [](const std::string &name) { return name == "Resizing"; }) == 38);
}

TEST_CASE("Convolutions give Keras's outputs and gradients for recorded rows") {
  CHECK(checkRows("layers.jsonl", [](const std::string &name) {
          return name == "Conv1D" || name == "Conv2D" || name == "Conv3D";
        }) == 33);
}

TEST_CASE("Transposed convolutions give Keras's outputs and gradients for recorded rows") {
  CHECK(checkRows("layers.jsonl", [](const std::string &name) { return name.ends_with("DTranspose"); }) == 15);
}

TEST_CASE("Depthwise and separable convolutions give Keras's outputs and gradients for recorded rows") {
  CHECK(checkRows("layers.jsonl", [](const std::string &name) {
          return name.starts_with("Depthwise") || name.starts_with("Separable");
        }) == 23);
}

TEST_CASE("Pooling gives Keras's outputs and gradients for recorded rows") {
  CHECK(checkRows("layers.jsonl", [](const std::string &name) {
          return name.starts_with("MaxPooling") || name.starts_with("AveragePooling");
        }) == 24);
}
