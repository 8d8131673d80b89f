// Hashing and HashedCrossing: maps strings and integers to bins with TensorFlow's hashes, on the host.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/HostSteps.h"
#include "frontend/graph/Promotion.h"
#include "frontend/layers/FieldsPreprocessing.h"
#include "frontend/layers/HostBody.h"
#include "frontend/layers/HostEncoding.h"
#include "frontend/layers/StringHashes.h"
#include "runtime/TensorAccess.h"
#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>

namespace halftone::layers {
using namespace detail;

namespace {

/// A body that computes one tensor of bins from all its inputs.
template <class Options> class BinBody : public BodyOf<Options>, public HostBody {
public:
  BinBody(const Options &options, std::string caller, DType dtype)
      : BodyOf<Options>(options), caller_(std::move(caller)),
        encoding_{.mode = options.output_mode, .depth = options.numBins, .dtype = dtype} {}
  Values call(const Values &inputs, const CallContext &) override {
    return hostStep({.caller = caller_,
                     .inputs = {inputs.begin(), inputs.end()},
                     .result = specOf(specsOf({inputs.begin(), inputs.end()})),
                     .compute = computation(),
                     .owner = this});
  }
  std::optional<Tensor> onHost(const std::vector<Tensor> &inputs) const override { return computation()(inputs); }
  DType inputDType() const override { return DType::string; }

protected:
  virtual ValueSpec specOf(const std::vector<ValueSpec> &inputs) const = 0;
  virtual HostFunction computation() const = 0;
  std::string caller_;
  HostEncoding encoding_;
};

/// Calls `take` with each element in the form that TensorFlow hashes: strings, or the digits of integers. Floats are
/// truncated.
template <class F> void forEachHashed(const Tensor &tensor, F take) {
  if (tensor.dtype() == DType::string) {
    std::ranges::for_each(TensorAccess::strings(tensor), take);
    return;
  }
  const Tensor integers = TensorAccess::onHost(tensor).astype(DType::int64);
  std::array<char, 20> digits; // enough for INT64_MIN
  for (const int64_t value : integers.span<int64_t>())
    take(std::string_view(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr));
}

/// An immutable function from text to bin.
struct Binning {
  uint64_t bins = 1;
  std::optional<std::array<uint64_t, 2>> salt;
  std::optional<std::string> mask; // whose bin is 0
  int64_t operator()(std::string_view text) const {
    if (mask && text == *mask)
      return 0;
    const uint64_t hash = salt ? sipHash64(text, *salt) : fingerprint64(text);
    return static_cast<int64_t>(hash % bins) + mask.has_value();
  }
};

class HashingBody final : public BinBody<HashingOptions> {
public:
  using BinBody::BinBody;

private:
  ValueSpec specOf(const std::vector<ValueSpec> &inputs) const override {
    return encoding_.specOf(caller_, inputs[0].shape);
  }
  HostFunction computation() const override {
    Binning binning{static_cast<uint64_t>(options_.numBins), {}, {}};
    if (options_.mask_value && options_.numBins > 1) {
      binning.mask = std::holds_alternative<std::string>(*options_.mask_value)
                         ? std::get<std::string>(*options_.mask_value)
                         : fmt::format("{}", std::get<int64_t>(*options_.mask_value));
      --binning.bins;
    }
    if (options_.salt) {
      const std::vector<int64_t> words = options_.salt->list();
      binning.salt = {static_cast<uint64_t>(words.front()), static_cast<uint64_t>(words.back())};
    }
    const bool isOfStrings = options_.mask_value && std::holds_alternative<std::string>(*options_.mask_value);
    const bool isOfIntegers = options_.mask_value && !isOfStrings;
    return [binning, isOfStrings, isOfIntegers, encoding = encoding_,
            caller = caller_](const std::vector<Tensor> &inputs) {
      const bool areStrings = inputs[0].dtype() == DType::string;
      if (areStrings ? isOfIntegers : isOfStrings)
        throw Error(ErrorKind::type_error,
                    fmt::format("`mask_value` must be of the inputs' kind, and they are {}", name(inputs[0].dtype())));
      std::vector<int64_t> bins;
      forEachHashed(inputs[0], [&](std::string_view text) { bins.push_back(binning(text)); });
      return encoding.of(caller, bins, inputs[0].shape());
    };
  }
};

class CrossingBody final : public BinBody<HashedCrossingOptions> {
public:
  using BinBody::BinBody;

private:
  ValueSpec specOf(const std::vector<ValueSpec> &inputs) const override {
    requireAlike(inputs);
    return encoding_.specOf(caller_, inputs[0].shape);
  }
  static void requireAlike(const std::vector<ValueSpec> &inputs) {
    if (inputs.size() < 2)
      throw Error(
          ErrorKind::value_error,
          fmt::format("`HashedCrossing` should be called on at least two inputs. Received: {} inputs", inputs.size()));
    const Shape &first = inputs[0].shape;
    if (first.rank() > 2 || (first.rank() == 2 && first[1] != 1))
      throw Error(ErrorKind::value_error,
                  fmt::format("All `HashedCrossing` inputs should have shape `()`, `(batch_size)` or "
                              "`(batch_size, 1)`. Received: {}",
                              first.str()));
    for (const ValueSpec &input : inputs) {
      if (input.shape != first)
        throw Error(ErrorKind::value_error,
                    fmt::format("All `HashedCrossing` inputs should have equal shape. Received: {} "
                                "and {}",
                                first.str(), input.shape.str()));
      if (is_float(input.dtype))
        throw Error(ErrorKind::value_error, fmt::format("All `HashedCrossing` inputs should have an integer or string "
                                                        "dtype. Received: {}",
                                                        name(input.dtype)));
    }
  }
  HostFunction computation() const override {
    return [bins = static_cast<uint64_t>(options_.numBins), encoding = encoding_,
            caller = caller_](const std::vector<Tensor> &inputs) {
      std::vector<ValueSpec> specs;
      for (const Tensor &input : inputs)
        specs.push_back({input.shape(), input.dtype()});
      requireAlike(specs);
      constexpr uint64_t key = 0xdecafcaffe; // TensorFlow's
      std::vector<uint64_t> hashes(static_cast<size_t>(inputs[0].size()), key);
      for (const Tensor &input : inputs)
        cross(input, hashes);
      std::vector<int64_t> indices;
      for (const uint64_t hash : hashes)
        indices.push_back(static_cast<int64_t>(hash % bins));
      return encoding.of(caller, indices, inputs[0].shape());
    };
  }
  /// Combines the fingerprint of a string, or an integer itself, with each hash.
  static void cross(const Tensor &input, std::vector<uint64_t> &hashes) {
    if (input.dtype() == DType::string) {
      const std::span<const std::string> strings = TensorAccess::strings(input);
      for (size_t i = 0; i < hashes.size(); ++i)
        hashes[i] = joinedFingerprint(hashes[i], fingerprint64(strings[i]));
      return;
    }
    const Tensor integers = TensorAccess::onHost(input).astype(DType::int64);
    const std::span<const int64_t> values = integers.span<int64_t>();
    for (size_t i = 0; i < hashes.size(); ++i)
      hashes[i] = joinedFingerprint(hashes[i], static_cast<uint64_t>(values[i]));
  }
};

/// The policy of Hashing: int64 if it returns integers and no policy is given.
PolicyArg hashingPolicy(const HashingArgs &args) {
  if (!args.dtype.empty())
    return args.dtype;
  return args.output_mode == OutputMode::int_ ? DType::int64 : floatxDtype();
}
PolicyArg crossingPolicy(const HashedCrossingArgs &args) {
  return args.dtype.empty() && args.output_mode == OutputMode::int_ ? PolicyArg(DType::int64) : args.dtype;
}

/// value_error unless there are bins, and the mode is supported by the layer.
void requireBins(const Layer &layer, int64_t bins, bool hasMode, OutputMode mode, Where where) {
  if (bins <= 0)
    throw Error(ErrorKind::value_error,
                fmt::format("The `num_bins` for `{}` cannot be `None` or non-positive values. Received: num_bins={}.",
                            layer.class_name(), bins),
                layer.name(), where);
  if (!hasMode)
    throw Error(ErrorKind::value_error,
                fmt::format("Invalid value for argument `output_mode` of {}. Received: output_mode={}",
                            layer.class_name(), Choice<OutputMode>(mode).word()),
                layer.name(), where);
}

} // namespace

Hashing::Hashing(int64_t num_bins, const HashingArgs &args, Where where)
    : Layer(std::make_unique<HashingBody>(HashingOptions{args, num_bins}, "Hashing",
                                          hashingPolicy(args).get().variable_dtype()),
            "Hashing",
            {.trainable = args.trainable, .dtype = hashingPolicy(args), .autocast = false, .name = args.name}, where) {
  requireBins(*this, num_bins, args.output_mode != OutputMode::tf_idf, args.output_mode, where);
  const DType dtype = variable_dtype();
  if (args.output_mode == OutputMode::int_ && dtype != DType::int32 && dtype != DType::int64)
    throw Error(
        ErrorKind::value_error,
        fmt::format("When `output_mode=\"int\"`, `dtype` should be an integer type, 'int32' or 'int64'. Received: "
                    "dtype={}",
                    halftone::name(dtype)),
        name(), where);
  if (args.salt && args.salt->list().size() != 1 && args.salt->list().size() != 2)
    throw Error(
        ErrorKind::value_error,
        fmt::format("The `salt` argument for `Hashing` can only be a tuple of size 2 integers, or a single integer. "
                    "Received: {} integers",
                    args.salt->list().size()),
        name(), where);
}

HashedCrossing::HashedCrossing(int64_t num_bins, const HashedCrossingArgs &args, Where where)
    : Layer(std::make_unique<CrossingBody>(HashedCrossingOptions{args, num_bins}, "HashedCrossing",
                                           crossingPolicy(args).get().variable_dtype()),
            "HashedCrossing",
            {.trainable = args.trainable, .dtype = crossingPolicy(args), .autocast = false, .name = args.name}, where) {
  const bool hasMode = args.output_mode == OutputMode::int_ || args.output_mode == OutputMode::one_hot;
  requireBins(*this, num_bins, hasMode, args.output_mode, where);
}

} // namespace halftone::layers
