// Writes the pages and drawings that report_in_browser.py opens: models small and large, trained and untrained.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <halftone/Halftone.h>
#include <string>

using namespace halftone;
using namespace halftone::layers;

namespace {

std::string folder;
std::string in(const std::string &name) { return folder + "/" + name; }

/// Two inputs, shared and nested layers, two outputs, a policy map with a key that decides for no layer, names that
/// need escaping; trained for some epochs.
void branched() {
  DTypePolicyMap policies("mixed_bfloat16");
  policies.insert(".*kind", DTypePolicy("float32"));
  policies.insert(".*/nobody", DTypePolicy("float16"));
  const PolicyScope scope(policies);
  Input left({16}, {.name = "left"}), right({16}, {.name = "right"});
  Dense shared(64, {.activation = "relu", .name = "shared"});
  Value h = ops::relu(Add({.name = "meet"})({shared(left), shared(right)}));
  Value skip = h;
  for (int i = 0; i < 2; ++i)
    h = Add()({h, Dense(64, {.activation = "gelu"})(Dropout(0.1)(h))});
  h = Concatenate()({h, skip});
  Sequential inner({Input({128}), Dense(48), LayerNormalization(), Dense(24, {.activation = "relu"})},
                   {.name = "encoder <inner> & \"co\""});
  const Model model({left, right}, {Dense(1, {.name = "amount"})(inner(h)), Dense(3, {.name = "kind"})(h)},
                    {.name = "Tickets & <prices>"});
  model.compile({.optimizer = "adam", .loss = {"mse", "mse"}});
  const Tensor x = Tensor::ones(Shape{{256, 16}});
  model.fit({x, x}, {Tensor::zeros(Shape{{256, 1}}), Tensor::ones(Shape{{256, 3}})},
            {.epochs = 12, .verbose = 0, .validation_split = 0.25});
  model.report(in("branched.html"));
  plot_model(model, in("branched.svg"),
             {.show_shapes = true,
              .show_dtype = true,
              .show_layer_names = true,
              .rankdir = "LR",
              .expand_nested = true,
              .show_layer_activations = true,
              .show_trainable = true});
  plot_model(model, in("branched.dot"), {.show_shapes = true, .show_layer_names = true, .expand_nested = true});
}

/// 800 layers, uncompiled.
void deep() {
  Input x({8}, {.name = "x"});
  Value h = x;
  for (int i = 0; i < 400; ++i)
    h = Add()({h, Dense(8)(h)});
  const Model model({x}, {h}, {.name = "deep"});
  model.report(in("deep.html"), {.time_kernels = false});
}

} // namespace

int main(int argc, char **argv) {
  folder = argc == 2 ? argv[1] : ".";
  try {
    branched();
    deep();
    Sequential({Dense(2), Dense(1)}, {.name = "unbuilt"}).report(in("unbuilt.html"));
  } catch (const Error &error) {
    std::fprintf(stderr, "write_reports: %s\n", error.what());
    return 1;
  }
}
