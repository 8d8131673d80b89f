// Creates inputs, classifiers and models of architectures.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/applications/Classifier.h"
#include "frontend/graph/Graph.h"
#include "halftone/Error.h"
#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace halftone::applications {

Value imagesOf(const ApplicationArgs &args, int64_t defaultSize) {
  const Shape shape = args.input_shape   ? *args.input_shape
                      : args.include_top ? Shape{defaultSize, defaultSize, 3}
                                         : Shape{none, none, 3};
  constexpr int64_t least = 32;
  const auto refuse = [&](const std::string &expected) {
    throw Error(ErrorKind::value_error, fmt::format("{}; Received: input_shape={}", expected, shape.str()));
  };
  if (shape.rank() != 3)
    refuse("`input_shape` must be a tuple of three integers");
  for (int64_t axis = 0; axis < 2; ++axis)
    if (shape[axis] >= 0 && shape[axis] < least)
      refuse(fmt::format("Input size must be at least {}x{}", least, least));
  if (args.include_top && std::ranges::any_of(shape.dims(), [](int64_t extent) { return extent < 0; }))
    refuse("If `include_top` is True, you should specify a static `input_shape`");
  return args.input_tensor ? *args.input_tensor : layers::Input(shape);
}

Value pooledFeatures(const Value &features, const ApplicationArgs &args, const ClassifierNames &names) {
  if (args.include_top || args.pooling == FeaturePooling::avg)
    return layers::GlobalAveragePooling2D({.name = names.average})(features);
  return args.pooling == FeaturePooling::max ? layers::GlobalMaxPooling2D({.name = names.maximum})(features) : features;
}

Model modelOf(const Value &images, const Value &output, const std::string &name) {
  std::vector<Value> inputs;
  std::set<const void *> known;
  for (const std::shared_ptr<detail::Call> &call : detail::callsInOrder({images}))
    for (const Value &input : call->inputs)
      if (!input.node()->call && known.insert(input.node().get()).second)
        inputs.push_back(input);
  if (inputs.empty())
    inputs.push_back(images);
  return Model(inputs, output, {.name = name});
}

Margins marginsFor(const Value &images, int64_t kernelSize) {
  const int64_t height = images.shape()[1], width = images.shape()[2], after = kernelSize / 2;
  const auto before = [&](int64_t extent) { return after - (height < 0 ? 1 : 1 - extent % 2); };
  return {{before(height), after}, {before(width), after}};
}

int64_t divisibleFilters(double filters) {
  constexpr int64_t divisor = 8;
  const int64_t rounded = std::max(divisor, static_cast<int64_t>(filters + divisor / 2.0) / divisor * divisor);
  return static_cast<double>(rounded) < 0.9 * filters ? rounded + divisor : rounded;
}

} // namespace halftone::applications
