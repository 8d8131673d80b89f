// Pictures of models: layers and their connections, as SVG or as Graphviz's DOT.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Version.h"
#include <string>

namespace halftone {

class Model;

struct PlotModelArgs { // keras.utils.plot_model, whose `dpi` a picture of lines does not need
  bool show_shapes = false;
  bool show_dtype = false;
  bool show_layer_names = false;
  std::string rankdir = "TB"; // the direction from inputs to outputs: "TB", "BT", "LR" or "RL"
  bool expand_nested = false; // nested models become boxes around their layers
  bool show_layer_activations = false;
  bool show_trainable = false;
};
/// Draws `model` into "<name>.svg" or "<name>.dot". A model without a graph, such as a struct of the user's, is drawn as
/// its layers without connections, and the picture says so. value_error for another ending or another rankdir; io_error,
/// and no file changes, if the file cannot be written.
HALFTONE_API void plot_model(const Model &model, const std::string &to_file, const PlotModelArgs &args = {});

} // namespace halftone
