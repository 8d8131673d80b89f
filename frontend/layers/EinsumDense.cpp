// EinsumDense: activation(einsum(equation, {x, kernel}) + bias).
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/ProductBody.h"
#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace halftone::layers {
using namespace detail;

namespace {

/// The extents of the labels in a layer, and the shapes of its weights.
class Analysis {
public:
  Analysis(const std::string &equation, const Shape &outputShape, const Shape &input)
      : equation(equation), labels(einsumLabels(equation)),
        elided(input.rank() - static_cast<int64_t>(labels.input.size())) {
    if (elided < 0 || (elided > 0 && labels.elided == EinsumLabels::none))
      refuse("the input has {} axes, as in {}; the equation has labels for {}", input.rank(), input.str(),
             labels.input.size());
    const int64_t before = labels.elided == EinsumLabels::left ? elided : 0; // axes before the first label
    for (size_t i = 0; i < labels.input.size(); ++i)
      inputs[labels.input[i]] = input[before + static_cast<int64_t>(i)];
    // The batch is the first axis of a leading "...", otherwise that of the first label.
    const size_t batch = before > 0 ? 0 : 1;
    // Keras also accepts extents for the axes of a trailing "...", and ignores them.
    const int64_t wanted = static_cast<int64_t>(labels.output.size() - batch);
    const int64_t ignored = labels.elided == EinsumLabels::right ? elided : 0;
    if (outputShape.rank() < wanted || outputShape.rank() > wanted + ignored)
      refuse("output_shape={} has {} extents; expected {}", outputShape.str(), outputShape.rank(), wanted);
    for (size_t i = 0; i < labels.output.size(); ++i)
      outputs[labels.output[i]] = i < batch ? input[0] : outputShape[static_cast<int64_t>(i - batch)];
    for (const auto [label, extent] : outputs) {
      const auto known = inputs.find(label);
      if (known != inputs.end() && extent >= 0 && extent != known->second)
        refuse("'{}' has extent {} in the input, {}, but extent {} in output_shape={}", label, known->second,
               input.str(), extent, outputShape.str());
      if (known == inputs.end() && labels.kernel.find(label) == std::string::npos)
        refuse("'{}' of the output is neither in the input nor in the kernel", label);
    }
  }

  Shape kernelShape() const {
    std::vector<int64_t> dims;
    for (char label : labels.kernel) {
      const auto inInput = inputs.find(label), inOutput = outputs.find(label);
      if (inInput == inputs.end() && inOutput == outputs.end())
        refuse("'{}' of the kernel is neither in the input nor in the output", label);
      dims.push_back(inInput != inputs.end() ? inInput->second : inOutput->second);
      if (dims.back() < 0)
        refuse("the extent of '{}', an axis of the kernel, is None; expected a known extent", label);
    }
    return Shape(dims);
  }

  Shape biasShape(const std::string &axes) const {
    size_t first = labels.output.size();
    for (char label : axes) {
      const size_t position = labels.output.find(label);
      if (position == std::string::npos)
        refuse("'{}' of bias_axes is not in the output", label);
      first = std::min(first, position);
    }
    std::vector<int64_t> dims;
    for (char label : labels.output.substr(first)) {
      const bool isOwn = axes.find(label) != std::string::npos;
      const auto inInput = inputs.find(label);
      dims.push_back(!isOwn ? 1 : inInput != inputs.end() ? inInput->second : outputs.at(label));
      if (dims.back() < 0)
        refuse("the extent of '{}', an axis of the bias, is None; expected a known extent", label);
    }
    if (labels.elided == EinsumLabels::right)
      dims.insert(dims.end(), static_cast<size_t>(elided), 1);
    return Shape(dims);
  }

private:
  template <class... Args> [[noreturn]] void refuse(fmt::format_string<Args...> reason, Args &&...args) const {
    throw Error(ErrorKind::value_error, fmt::format("Equation '{}' of a layer EinsumDense: {}", equation,
                                                    fmt::format(reason, std::forward<Args>(args)...)));
  }

  const std::string &equation;
  EinsumLabels labels;
  int64_t elided; // number of axes of "..."
  std::map<char, int64_t> inputs, outputs;
};

class EinsumDenseBody final : public ProductBody<EinsumDenseOptions> {
public:
  explicit EinsumDenseBody(EinsumDenseOptions options) : ProductBody("EinsumDense", std::move(options)) {}
  void build(BuildContext &context, const std::vector<Shape> &shapes) override {
    const Analysis analysis(options_.equation, options_.outputShape, shapes.at(0));
    const Shape kernel = analysis.kernelShape();
    const std::optional<Shape> bias =
        options_.bias_axes ? std::optional(analysis.biasShape(*options_.bias_axes)) : std::nullopt;
    const ProductForm form{
        .labels = einsumLabels(options_.equation), .kernelShape = kernel, .inputRank = shapes.at(0).rank()};
    buildProduct(context, form, bias);
  }
  Values call(const Values &inputs, const CallContext &context) override {
    return options_.activation(product_.call(inputs[0], context));
  }
};

EinsumDenseArgs withoutEmptyAxes(EinsumDenseArgs args) {
  if (args.bias_axes == "")
    args.bias_axes.reset();
  return args;
}

} // namespace

EinsumDense::EinsumDense(std::string_view equation, const Shape &output_shape, const EinsumDenseArgs &args, Where where)
    : Layer(std::make_unique<EinsumDenseBody>(
                EinsumDenseOptions{withoutEmptyAxes(args), std::string(equation), output_shape}),
            "EinsumDense", layerArgs(args), where) {}

} // namespace halftone::layers
