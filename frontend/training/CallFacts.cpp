// Converts arguments, models and settings to facts.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/training/CallFacts.h"
#include "compiler/codegen/KernelCache.h"
#include "frontend/base/DatasetAccess.h"
#include "frontend/layers/VocabularyState.h"
#include "frontend/losses/LossImpl.h"
#include "frontend/metrics/MetricImpl.h"
#include "frontend/optimizers/OptimizerImpl.h"
#include "frontend/training/ArgFields.h"
#include "frontend/training/ModelState.h"
#include "halftone/Callbacks.h"
#include "runtime/base/ConfigAccess.h"
#include <fmt/format.h>
#include <map>

namespace halftone::detail {

namespace {

// Overloads for list elements precede the template for lists.
std::string textOf(const Loss &loss);
std::string textOf(const Metric &metric);

std::string textOf(bool value) { return value ? "true" : "false"; }
std::string textOf(const std::string &value) { return fmt::format("'{}'", value); }
template <class T>
  requires(std::is_arithmetic_v<T> && !std::same_as<T, bool>)
std::string textOf(T value) {
  return fmt::format("{}", value);
}
template <class T>
  requires std::is_enum_v<T>
std::string textOf(T value) {
  return fmt::format("number {}", static_cast<int64_t>(value));
}
template <class E> std::string textOf(const Choice<E> &value) { return textOf(std::string(value.word())); }
std::string textOf(Numerics numerics) { return numerics == Numerics::strict ? "strict" : "fast"; }
/// Omits the index of a GPU, since processes on one machine have one GPU each.
std::string textOf(const Device &device) { return device.kind() == Device::Kind::cpu ? "the CPU" : "a GPU"; }

template <class A, class B> std::string textOf(const std::pair<A, B> &pair) {
  return fmt::format("{}: {}", textOf(pair.first), textOf(pair.second));
}
template <class T> std::string textOf(const std::optional<T> &value) { return value ? textOf(*value) : "none"; }
template <class T> std::string textOf(const std::vector<T> &values) {
  std::string text;
  for (const T &value : values)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", textOf(value));
  return fmt::format("[{}]", text);
}

std::string textOf(const Tensor &tensor) {
  return tensor.defined() ? fmt::format("{} {}", tensor.shape().str(), name(tensor.dtype())) : "undefined";
}
std::string textOf(const Tensors &tensors) {
  std::string text;
  for (size_t i = 0; i < tensors.size(); ++i)
    text += fmt::format("{}{}{}", i > 0 ? ", " : "", i < tensors.names().size() ? tensors.names()[i] + ": " : "",
                        textOf(tensors[i]));
  return fmt::format("[{}]", text);
}
std::string textOf(const Dataset &dataset) {
  if (DatasetAccess::isEndless(dataset))
    return "an infinite dataset";
  const std::optional<int64_t> count = dataset.cardinality();
  return count ? fmt::format("a dataset of {} batches", *count) : "a dataset of unknown length";
}
std::string textOf(const ValidationData &data) {
  if (!data.defined())
    return "none";
  if (data.dataset())
    return textOf(*data.dataset());
  return fmt::format("x {}, y {}, sample_weight {}", textOf(data.arrays().x), textOf(data.arrays().y),
                     textOf(data.arrays().sample_weight));
}

/// Describes a loss. A loss or metric that is a user function has no class.
std::string textOf(const Loss &loss) {
  if (!loss.defined())
    return "none";
  return fmt::format("{} {} in {}", loss.impl()->kind.empty() ? "a function" : loss.impl()->kind,
                     loss.get_config().dump(), name(loss.dtype()));
}
std::string textOf(const Metric &metric) {
  const MetricImpl &impl = *metric.impl();
  return fmt::format("{}{} {}", impl.className.empty() && impl.identifier.empty() ? "a function" : impl.className,
                     impl.identifier, metric.get_config().dump());
}
/// `names` is empty, or has the names of the outputs.
template <class T> std::string textOfEach(const std::vector<std::string> &names, const std::vector<T> &values) {
  return names.empty() ? textOf(values) : fmt::format("{} for the outputs {}", textOf(values), textOf(names));
}
std::string textOf(const LossSpec &spec) { return textOfEach(spec.names(), spec.losses()); }
std::string textOf(const MetricSpec &spec) { return textOfEach(spec.names(), spec.metrics()); }

template <class Args> std::string fieldTexts(const Args &args) {
  std::string text;
  eachField(args, [&](std::string_view name, const auto &field) {
    if (!mayDiffer(name))
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, textOf(field));
  });
  return text;
}

} // namespace

/// Reads the arguments of the library's callbacks.
struct CallbackFacts {
  /// "" for a user callback, whose effects are compared when they occur, and for one that only reports.
  static std::string of(const Callback &callback) {
    using namespace callbacks;
    if (const auto *stopping = dynamic_cast<const EarlyStopping *>(&callback))
      return fmt::format("EarlyStopping({})", fieldTexts(stopping->args_));
    if (const auto *checkpoint = dynamic_cast<const ModelCheckpoint *>(&callback))
      return fmt::format("ModelCheckpoint('{}', {})", checkpoint->filepath_, fieldTexts(checkpoint->args_));
    if (const auto *backup = dynamic_cast<const BackupAndRestore *>(&callback))
      return fmt::format("BackupAndRestore('{}', {})", backup->backup_dir_, fieldTexts(backup->args_));
    if (const auto *swap = dynamic_cast<const SwapEMAWeights *>(&callback))
      return fmt::format("SwapEMAWeights({})", swap->swap_on_epoch_);
    if (const auto *terminate = dynamic_cast<const TerminateOnNaN *>(&callback))
      return fmt::format("TerminateOnNaN({})", terminate->raise_error_);
    if (dynamic_cast<const LearningRateScheduler *>(&callback))
      return "LearningRateScheduler";
    if (const auto *plateau = dynamic_cast<const ReduceLROnPlateau *>(&callback))
      return fmt::format("ReduceLROnPlateau({})", fieldTexts(plateau->args_));
    return "";
  }
};

namespace {

std::string textOf(const std::vector<CallbackArg> &callbacks) {
  std::vector<std::string> texts;
  for (const CallbackArg &callback : callbacks)
    if (std::string text = CallbackFacts::of(*callback); !text.empty())
      texts.push_back(std::move(text));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

/// For the fields of CompileArgs, each field of the optimizer is a separate fact.
template <class Args> void addFields(const std::string &owner, const Args &args, std::vector<Fact> &facts) {
  eachField(args, [&](std::string_view name, const auto &field) {
    if constexpr (std::same_as<std::remove_cvref_t<decltype(field)>, Optimizer>)
      addConfig(fmt::format("optimizer {}", field.impl()->className), field.get_config(), facts);
    else if (!mayDiffer(name))
      facts.emplace_back(owner + std::string(name), textOf(field));
  });
}

/// The calls of a graph: each has a number, and its inputs are outputs of earlier calls, or Inputs.
void addCalls(const std::string &caller, const ModelState &state, std::vector<Fact> &facts) {
  std::map<const Call *, size_t> numbers;
  const auto textOfValue = [&](const Value &value) {
    const std::shared_ptr<Call> &call = value.node()->call;
    return call ? fmt::format("output {} of call {}", value.node()->index, numbers[call.get()])
                : fmt::format("input '{}' {}", value.node()->name, value.shape().str());
  };
  const auto textOfValues = [&](const std::vector<Value> &values) {
    std::vector<std::string> texts;
    for (const Value &value : values)
      texts.push_back(textOfValue(value));
    return fmt::format("{}", fmt::join(texts, ", "));
  };
  for (const std::shared_ptr<Call> &call : callsInOrder(state.outputs)) {
    const size_t number = numbers.emplace(call.get(), numbers.size()).first->second;
    facts.emplace_back(fmt::format("{}: call {}", caller, number),
                       fmt::format("of {} on {}, {} {} {}", call->name, textOfValues(call->inputs),
                                   call->form.className, call->form.config.dump(), call->form.arguments.dump()));
  }
  facts.emplace_back(caller + ": outputs", textOfValues(state.outputs));
}

} // namespace

void addConfig(const std::string &owner, const Config &config, std::vector<Fact> &facts) {
  for (const auto &[key, value] : ConfigAccess::json(config).items())
    facts.emplace_back(fmt::format("{}: {}", owner, key), value.dump());
}

static void addLayer(const Layer &layer, std::vector<Fact> &facts) {
  const LayerImpl &impl = *layer.impl();
  const std::string caller = fmt::format("layer '{}'", impl.path.empty() ? impl.name : impl.path);
  facts.emplace_back(caller, fmt::format("of class {} with policy {}", impl.className, impl.resolvedPolicy().name()));
  facts.emplace_back(caller + ": trainable", textOf(impl.trainable));
  if (impl.model)
    for (const auto &[hook, name] :
         {std::pair(LayerBody::Hook::train_step, "train_step"), std::pair(LayerBody::Hook::test_step, "test_step"),
          std::pair(LayerBody::Hook::compute_loss, "compute_loss")})
      facts.emplace_back(fmt::format("{}: {}()", caller, name), impl.body->has(hook) ? "its own" : "none");
  if (!impl.transparent)
    try {
      addConfig(caller, layer.get_config(), facts);
    } catch (const Error &) { // from a user's get_config(): programFacts() compares the layer's computation
    }
  if (const auto *state = dynamic_cast<const VocabularyState *>(impl.body.get()))
    facts.emplace_back(caller + ": terms of the vocabulary", state->summary());
  if (impl.model && !impl.model->outputs.empty())
    addCalls(caller, *impl.model, facts);
}

void addModel(const Layer &model, std::vector<Fact> &facts) {
  addLayer(model, facts);
  for (const Layer &layer : layersBelow(*model.impl()))
    addLayer(layer, facts);
}

void addArgs(const FitArgs &args, std::vector<Fact> &facts) { addFields("", args, facts); }
void addArgs(const EvaluateArgs &args, std::vector<Fact> &facts) { addFields("", args, facts); }
void addArgs(const PredictArgs &args, std::vector<Fact> &facts) { addFields("", args, facts); }
void addArgs(const BatchArgs &args, std::vector<Fact> &facts) { addFields("", args, facts); }

void addData(const Batch &arrays, std::vector<Fact> &facts) {
  facts.emplace_back("x", textOf(arrays.x));
  facts.emplace_back("y", textOf(arrays.y));
}
void addData(const Dataset &dataset, std::vector<Fact> &facts) { facts.emplace_back("data", textOf(dataset)); }

void addSettings(std::vector<Fact> &facts) {
  facts.emplace_back("library build", compiler::buildId());
  if (const auto parallel = distribution::distribution())
    addFields("distribution: ", parallel->args(), facts);
  facts.emplace_back("floatx", config::floatx());
  facts.emplace_back("epsilon", textOf(config::epsilon()));
}

void addCompiled(const CompiledModel *compiled, std::vector<Fact> &facts) {
  facts.emplace_back("compile()", compiled ? "was called" : "was not called");
  if (!compiled)
    return;
  addFields("", compiled->args, facts);
  if (isLossScaleOptimizer(compiled->optimizer))
    addConfig("loss scale", compiled->optimizer.get_config(), facts);
}

} // namespace halftone::detail
