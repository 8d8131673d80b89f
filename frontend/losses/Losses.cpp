// The Loss handle: names, casting, weights and reduction.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Losses.h"
#include "frontend/base/ClassRegistry.h"
#include "frontend/base/ConfigFields.h"
#include "frontend/base/UniqueNames.h"
#include "frontend/graph/Graph.h"
#include "frontend/graph/Promotion.h"
#include "frontend/graph/SharedBatch.h"
#include "frontend/losses/LossImpl.h"
#include "frontend/ops/Masks.h"
#include "frontend/ops/Operations.h"
#include "halftone/Ops.h"
#include "runtime/TensorAccess.h"
#include "runtime/base/ForkGate.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>

namespace halftone {
using namespace detail;

namespace {

struct Named {
  std::array<std::string_view, 4> names;
  Loss (*make)();
};
constexpr Named registry[] = {
    {{"mse", "MSE", "mean_squared_error", "MeanSquaredError"}, [] { return Loss(losses::MeanSquaredError()); }},
    {{"mae", "MAE", "mean_absolute_error", "MeanAbsoluteError"}, [] { return Loss(losses::MeanAbsoluteError()); }},
    {{"mape", "MAPE", "mean_absolute_percentage_error", "MeanAbsolutePercentageError"},
     [] { return Loss(losses::MeanAbsolutePercentageError()); }},
    {{"msle", "MSLE", "mean_squared_logarithmic_error", "MeanSquaredLogarithmicError"},
     [] { return Loss(losses::MeanSquaredLogarithmicError()); }},
    {{"huber", "Huber"}, [] { return Loss(losses::Huber()); }},
    {{"log_cosh", "LogCosh"}, [] { return Loss(losses::LogCosh()); }},
    {{"poisson", "Poisson"}, [] { return Loss(losses::Poisson()); }},
    {{"hinge", "Hinge"}, [] { return Loss(losses::Hinge()); }},
    {{"squared_hinge", "SquaredHinge"}, [] { return Loss(losses::SquaredHinge()); }},
    {{"categorical_hinge", "CategoricalHinge"}, [] { return Loss(losses::CategoricalHinge()); }},
    {{"kld", "KLD", "kl_divergence", "KLDivergence"}, [] { return Loss(losses::KLDivergence()); }},
    {{"cosine_similarity", "CosineSimilarity"}, [] { return Loss(losses::CosineSimilarity()); }},
    {{"bce", "BCE", "binary_crossentropy", "BinaryCrossentropy"}, [] { return Loss(losses::BinaryCrossentropy()); }},
    {{"binary_focal_crossentropy", "BinaryFocalCrossentropy"}, [] { return Loss(losses::BinaryFocalCrossentropy()); }},
    {{"categorical_focal_crossentropy", "CategoricalFocalCrossentropy"},
     [] { return Loss(losses::CategoricalFocalCrossentropy()); }},
    {{"dice", "Dice"}, [] { return Loss(losses::Dice()); }},
    {{"tversky", "Tversky"}, [] { return Loss(losses::Tversky()); }},
    {{"circle", "Circle"}, [] { return Loss(losses::Circle()); }},
    {{"categorical_crossentropy", "CategoricalCrossentropy"}, [] { return Loss(losses::CategoricalCrossentropy()); }},
    {{"sparse_categorical_crossentropy", "SparseCategoricalCrossentropy"},
     [] { return Loss(losses::SparseCategoricalCrossentropy()); }},
};

/// The weights of the entries: 0 for invalid entries; the others are scaled up so that a mean is over valid entries
/// only.
Value weightOf(const LossImpl &loss, const LossEntries &entries, const Value &sampleWeight, bool isPart) {
  if (!entries.valid.defined())
    return sampleWeight;
  Value mask = asDtype(entries.valid, entries.values.dtype(), "loss");
  if (loss.reduction == Reduction::mean || loss.reduction == Reduction::sum_over_batch_size) {
    Value valid = ops::sum(mask), total = scalarLike(mask.shape().elements(), valid);
    mask = mask * (isPart ? ops::divide_no_nan(sumOfRows(total), sumOfRows(valid)) : ops::divide_no_nan(total, valid));
  }
  if (!sampleWeight.defined())
    return mask;
  Value weight = sampleWeight;
  matchWeight(mask, weight);
  return mask * weight;
}

/// Reduces the entries. Sums use float32 at least: a float16 sum overflows long before the mean does.
Value reduceEntries(const LossImpl &loss, LossEntries entries, Value sampleWeight, bool isPart) {
  DType wide = itemsize(loss.dtype) < 4 ? DType::float32 : loss.dtype;
  entries.values = asDtype(entries.values, wide, "loss");
  if (sampleWeight.defined())
    sampleWeight = asDtype(sampleWeight, wide, "loss");
  Value weight = weightOf(loss, entries, sampleWeight, isPart), values = entries.values;
  if (weight.defined()) {
    matchWeight(values, weight);
    values = values * weight;
  }
  if (loss.reduction == Reduction::none || values.rank() == 0)
    return asDtype(isPart ? partOfMean(values) : values, loss.dtype, "loss");
  Value total = ops::sum(values);
  bool isSum = loss.reduction == Reduction::sum;
  bool byWeight = loss.reduction == Reduction::mean_with_sample_weight && weight.defined();
  if (byWeight)
    total = ops::divide_no_nan(total, isPart ? sumOfRows(ops::sum(weight)) : ops::sum(weight));
  else if (double count = static_cast<double>(values.shape().elements()); !isSum && count > 0)
    total = total / count;
  if (isPart)
    total = isSum || byWeight ? partOfSum(total) : partOfMean(total);
  return asDtype(total, loss.dtype, "loss");
}

/// Evaluates a loss. If it joins rows, each process computes it from the rows of all processes.
Value evaluate(const LossImpl &loss, std::vector<Value> v, bool isPart = false) {
  Value mask = asMask(maskOf(v[1]));
  const auto values = [&](const std::vector<Value> &w) { return lossEntries(loss, w[0], w[1], loss.dtype).values; };
  if (isPart && (loss.joinsRows || joinsRows({v[0], v[1]}, values))) {
    std::ranges::transform(v, v.begin(), joinedRows);
    mask = joinedRows(mask);
    isPart = false;
  }
  LossEntries entries = lossEntries(loss, v[0], v[1], loss.dtype);
  entries.valid = bothMasks(entries.valid, mask);
  return reduceEntries(loss, std::move(entries), v.size() > 2 ? v[2] : Value(), isPart);
}

const LossImpl &madeOf(const std::shared_ptr<const LossImpl> &impl) {
  if (!impl)
    throw Error(ErrorKind::value_error, "no loss: the Loss was constructed without a name, object or function");
  return *impl;
}

/// The index of the first of `count` labels that is not a class, and that label in `label`; -1 if there is none.
template <class T>
int64_t firstBadLabel(const std::byte *data, int64_t count, int64_t classes, std::optional<int64_t> ignored,
                      double &label) {
  const T *labels = reinterpret_cast<const T *>(data);
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_integral_v<T>) {
      bool inside = labels[i] >= T(0) && static_cast<uint64_t>(labels[i]) < static_cast<uint64_t>(classes);
      if (inside || (ignored && static_cast<int64_t>(labels[i]) == *ignored))
        continue;
      label = static_cast<double>(labels[i]);
    } else {
      label = std::trunc(static_cast<double>(labels[i])); // truncated as by a cast to integer
      if ((label >= 0 && label < static_cast<double>(classes)) || (ignored && label == static_cast<double>(*ignored)))
        continue;
    }
    return i;
  }
  return -1;
}

} // namespace

namespace detail {

DType dtypeOfArgument(const PolicyArg &argument, const std::string &what) {
  DType dtype = argument.empty() ? floatxDtype() : argument.get().compute_dtype();
  if (!is_float(dtype))
    throw Error(ErrorKind::value_error,
                fmt::format("`{}` requires a float dtype. Received: dtype={}", what, name(dtype)));
  return dtype;
}

void matchRanks(Value &a, Value &b) {
  auto match = [](Value &longer, Value &shorter) {
    if (longer.rank() != shorter.rank() + 1 || longer.shape()[-1] != 1)
      return;
    if (shorter.rank() == 1)
      shorter = ops::expand_dims(shorter, -1);
    else
      longer = ops::squeeze(longer, -1);
  };
  match(a, b);
  match(b, a);
}

void requireSameShape(const std::string &what, const Value &yTrue, const Value &yPred) {
  if (yTrue.shape() != yPred.shape())
    throw Error(ErrorKind::value_error,
                fmt::format("{}: arguments `y_true` and `y_pred` must have the same shape. Received: "
                            "y_true.shape={}, y_pred.shape={}",
                            what, yTrue.shape().str(), yPred.shape().str()));
}

Value positivePart(const Value &x) { return ops::maximum(x, ops::zeros_like(x)); }

void matchWeight(Value &values, Value &weight) {
  matchRanks(values, weight);
  std::vector<int64_t> dims = weight.shape().dims(), all = values.shape().dims();
  if (dims.size() < all.size() && std::equal(dims.begin(), dims.end(), all.begin())) {
    dims.resize(all.size(), 1);
    weight = ops::reshape(weight, Shape(dims));
  }
  broadcastShape("sample_weight", values.shape(), weight.shape());
}

LossEntries lossEntries(const LossImpl &loss, const Value &yTrue, const Value &yPred, DType dtype) {
  bool keep = loss.classLabels && !is_float(yTrue.dtype());
  return loss.formula(keep ? yTrue : asDtype(yTrue, dtype, "loss"), asDtype(yPred, dtype, "loss"));
}

static Value applyLoss(const Loss &loss, const Value &yTrue, const Value &yPred, const Value &sampleWeight,
                       bool isPart) {
  const LossImpl &impl = madeOf(loss.impl());
  std::vector<Value> inputs{yTrue, yPred};
  if (sampleWeight.defined())
    inputs.push_back(sampleWeight);
  return applyOne(impl.name, inputs,
                  [loss, isPart](const std::vector<Value> &v) { return evaluate(*loss.impl(), v, isPart); });
}
Value lossValue(const Loss &loss, const Value &yTrue, const Value &yPred, const Value &sampleWeight) {
  return applyLoss(loss, yTrue, yPred, sampleWeight, false);
}
Value lossPart(const Loss &loss, const Value &yTrue, const Value &yPred, const Value &sampleWeight) {
  return applyLoss(loss, yTrue, yPred, sampleWeight, tracing().sharedBatch.has_value());
}

Status checkLabels(const Loss &loss, const Tensor &yTrue, int64_t classes) {
  const LossImpl &impl = madeOf(loss.impl());
  if (!impl.classLabels || !yTrue.defined())
    return Status::ok();
  const Tensor host = TensorAccess::onHost(yTrue);
  const std::byte *data = TensorAccess::data(host);
  double label = 0;
  auto find = [&]<class T>(T) { return firstBadLabel<T>(data, yTrue.size(), classes, impl.ignoreClass, label); };
  int64_t bad = -1;
  switch (yTrue.dtype()) {
  case DType::uint8:
    bad = find(uint8_t());
    break;
  case DType::int8:
    bad = find(int8_t());
    break;
  case DType::uint16:
    bad = find(uint16_t());
    break;
  case DType::int16:
    bad = find(int16_t());
    break;
  case DType::uint32:
    bad = find(uint32_t());
    break;
  case DType::int32:
    bad = find(int32_t());
    break;
  case DType::uint64:
    bad = find(uint64_t());
    break;
  case DType::int64:
    bad = find(int64_t());
    break;
  case DType::float32:
    bad = find(float());
    break;
  case DType::float64:
    bad = find(double());
    break;
  default: {
    Tensor wide = host.astype(DType::float32);
    bad = firstBadLabel<float>(TensorAccess::data(wide), wide.size(), classes, impl.ignoreClass, label);
  }
  }
  if (bad < 0)
    return Status::ok();
  Shape shape = yTrue.shape();
  int64_t row = shape.rank() == 0 ? 0 : bad / std::max<int64_t>(yTrue.size() / shape[0], 1);
  std::string ignored = impl.ignoreClass ? fmt::format(", and ignore_class={}", *impl.ignoreClass) : "";
  return Status(ErrorKind::value_error,
                fmt::format("{}: received a label value of {} in row {}, which is outside the valid range of [0, {}){}",
                            impl.name, label, row, classes, ignored));
}

} // namespace detail

Loss detail::lossOf(const LossArgs &args, const char *name, std::function<Value(const Value &, const Value &)> samples,
                    std::function<void(Config &)> addConfig) {
  auto impl = std::make_shared<LossImpl>();
  impl->name = args.name.empty() ? name : args.name;
  requireNameInUtf8("The name of a loss", impl->name);
  impl->kind = name;
  impl->reduction = args.reduction;
  impl->dtype = dtypeOfArgument(args.dtype, impl->name);
  impl->formula = [samples = std::move(samples), what = impl->name](const Value &yTrue, const Value &yPred) {
    Value t = yTrue, p = yPred;
    matchRanks(t, p);
    requireSameShape(what, t, p);
    return LossEntries{samples(t, p), {}};
  };
  impl->addConfig = std::move(addConfig);
  return Loss(std::shared_ptr<const LossImpl>(std::move(impl)));
}

Loss::Loss() noexcept = default;
Loss::Loss(const Loss &) = default;
Loss::Loss(Loss &&) noexcept = default;
Loss &Loss::operator=(const Loss &) & = default;
Loss &Loss::operator=(Loss &&) & noexcept = default;
Loss::~Loss() = default;
Loss::Loss(std::shared_ptr<const LossImpl> impl) : impl_(std::move(impl)) {}
Loss::Loss(const char *name) : Loss(std::string(name)) {}
/// The row with that name; nullptr if there is none.
static const Named *rowNamed(std::string_view name) {
  const auto found = std::ranges::find_if(registry, [name](const Named &row) {
    return !name.empty() && std::ranges::find(row.names, name) != row.names.end();
  });
  return found == std::end(registry) ? nullptr : &*found;
}
bool detail::isNameOfLoss(std::string_view name) { return rowNamed(name) != nullptr; }

Loss::Loss(const std::string &name) {
  if (const Named *row = rowNamed(name)) {
    impl_ = row->make().impl();
    return;
  }
  if (const std::optional<Loss> ofUser = functionsOf<Loss>().find(name)) {
    *this = *ofUser;
    return;
  }
  std::vector<std::string> known;
  for (const Named &row : registry)
    for (const std::string_view each : row.names)
      if (!each.empty())
        known.emplace_back(each);
  std::ranges::copy(functionsOf<Loss>().names(), std::back_inserter(known));
  throw Error(ErrorKind::value_error,
              fmt::format("Could not interpret loss identifier: {0}. Known: {1}. Before loading a file that names your "
                          "own function, register it with register_loss(\"{0}\", f)",
                          name, fmt::join(known, ", ")));
}

std::shared_ptr<LossImpl> detail::lossOfUser(Loss::Function f, const LossArgs &args) {
  if (!f)
    throw Error(ErrorKind::value_error, "a Loss was created from an empty function");
  auto impl = std::make_shared<LossImpl>();
  impl->name = args.name.empty() ? "loss" : args.name;
  requireNameInUtf8("The name of a loss", impl->name);
  impl->reduction = args.reduction;
  impl->dtype = dtypeOfArgument(args.dtype, impl->name);
  impl->formula = [f = std::move(f)](const Value &yTrue, const Value &yPred) {
    Value t = yTrue, p = yPred;
    matchRanks(t, p);
    return LossEntries{f(t, p), {}};
  };
  return impl;
}
Loss::Loss(Function f, const LossArgs &args) : impl_(lossOfUser(std::move(f), args)) {}

Value Loss::operator()(const Value &yTrue, const Value &yPred, const Value &sampleWeight) const {
  return lossValue(*this, yTrue, yPred, sampleWeight);
}
Tensor Loss::operator()(const Tensor &yTrue, const Tensor &yPred, const Tensor &sampleWeight) const {
  const LossImpl &loss = madeOf(impl_);
  const std::shared_ptr<const LossImpl> held = impl_; // the formula is user code, which may destroy this handle
  std::vector<Tensor> feeds{yTrue, yPred};
  if (sampleWeight.defined())
    feeds.push_back(sampleWeight);
  if (loss.classLabels && yTrue.defined() && yPred.defined() && yPred.shape().rank() > 0)
    checkLabels(*this, yTrue, yPred.shape()[normalizeAxis(loss.name, loss.axis, yPred.shape().rank())]).orThrow();
  CompiledFunction *function = nullptr;
  {
    const ForkSafeLock lock(loss.mutex);
    if (!loss.onData)
      loss.onData = std::make_unique<CompiledFunction>(
          FunctionOptions{.name = loss.name}, std::vector<std::string>{"y_true", "y_pred", "sample_weight"},
          [&loss](Trace &, const std::vector<Value> &values, const FeedLayout &) {
            return std::vector<CompiledFunction::Named>{{"loss", evaluate(loss, values)}};
          });
    function = loss.onData.get();
  }
  return function->run(feeds).front();
}
std::string Loss::name() const { return impl_ ? impl_->name : ""; }
DType Loss::dtype() const { return madeOf(impl_).dtype; }
Config Loss::get_config() const {
  const LossImpl &loss = madeOf(impl_);
  Config config;
  config.set("name", loss.name);
  setField(config, "reduction", loss.reduction);
  if (loss.addConfig)
    loss.addConfig(config);
  return config;
}

} // namespace halftone
