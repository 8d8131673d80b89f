// Names variables for files, and matches a file's tensors with them.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/io/SavedVariables.h"
#include "frontend/base/ProcessRun.h"
#include "frontend/graph/Devices.h"
#include "frontend/io/SavedGroups.h"
#include "frontend/layers/LayerImpl.h"
#include "frontend/layers/Registered.h"
#include "frontend/layers/SeedState.h"
#include "frontend/optimizers/OptimizerImpl.h"
#include "frontend/optimizers/OptimizerParts.h"
#include "frontend/training/OwnOptimizers.h"
#include "halftone/Error.h"
#include "runtime/TensorAccess.h"
#include "runtime/base/Convert.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <set>

namespace halftone::detail {

namespace {

constexpr std::array<std::string_view, 5> kindNames = {"layer", "seed", "optimizer", "loss_scale", "own_optimizer"};
std::string_view nameOf(SavedKind kind) { return kindNames[static_cast<size_t>(kind)]; }

/// Makes texts unique, in call order: "Dense", then "Dense_1".
class Numbered {
public:
  std::string operator()(const std::string &text, const char *separator, int64_t first) {
    const int64_t count = counts_[text]++;
    return count == 0 ? text : fmt::format("{}{}{}", text, separator, count + first - 1);
  }

private:
  std::map<std::string, int64_t> counts_;
};

/// The class path and the place, without the kind, of every variable of a model.
class Paths {
public:
  explicit Paths(LayerImpl &model) { visit(model, model.className, ""); }
  struct Pair {
    std::string byClass, place;
  };
  Pair of(const Variable &variable) const {
    const auto found = paths_.find(variable.impl().get());
    return found == paths_.end() ? Pair{variable.path(), variable.path()} : found->second;
  }
  /// The place of a slot variable, named "net_dense_kernel_momentum" for a variable "net/dense/kernel"; nullopt if its
  /// variable is not in this model.
  std::optional<std::string> ofSlot(const std::string &name) const {
    for (size_t end = name.rfind('_'); end != name.npos && end > 0; end = name.rfind('_', end - 1))
      if (const auto found = places_.find(name.substr(0, end)); found != places_.end())
        return fmt::format("{}/{}", found->second, name.substr(end + 1));
    return std::nullopt;
  }
  /// The layer at a place such as "" or "dense_1/"; null if there is none.
  LayerImpl *layerAt(const std::string &place) const {
    const auto found = layers_.find(place);
    return found == layers_.end() ? nullptr : found->second;
  }
  bool isOfDraws(const Variable &variable) const { return draws_.contains(variable.impl().get()); }

private:
  void visit(LayerImpl &layer, const std::string &byClass, const std::string &place) {
    if (!visited_.insert(&layer).second)
      return;
    layers_.emplace(place, &layer);
    const bool isOfUser = !isLayerOfKeras(layer.className);
    Numbered names, classes;
    for (const Variable &variable : layer.weights) {
      const std::string name = names(variable.name(), "#", 2);
      std::string flat = variable.path();
      std::ranges::replace(flat, '/', '_');
      const std::string ownPlace = place + name;
      places_.emplace(std::move(flat), ownPlace);
      if (isOfUser && variable.impl()->role == VariableRole::seed)
        draws_.insert(variable.impl().get());
      paths_.emplace(variable.impl().get(), Pair{fmt::format("{}/{}", byClass, name), ownPlace});
    }
    const std::vector<std::string> parts = namesByPlace(layer);
    for (size_t i = 0; i < parts.size(); ++i)
      visit(*layer.children[i].impl(), byClass + "/" + classes(layer.children[i].class_name(), "_", 1),
            fmt::format("{}{}/", place, parts[i]));
  }

  std::map<const VariableImpl *, Pair> paths_;
  std::map<std::string, std::string> places_; // keyed by variable path with '_' for '/', the prefix of slot names
  std::map<std::string, LayerImpl *> layers_; // by place
  std::set<const VariableImpl *> draws_;
  std::set<const LayerImpl *> visited_;
};

SavedVariable saved(const Variable &variable, SavedKind kind, const Paths::Pair &paths) {
  return {variable.path(), fmt::format("{}/{}", nameOf(kind), paths.byClass),
          fmt::format("{}/{}", nameOf(kind), paths.place), variable, kind};
}

void addLayers(const Paths &paths, const std::vector<Variable> &variables, std::vector<SavedVariable> &all) {
  for (const Variable &variable : variables) {
    const bool isSeed = variable.impl()->role == VariableRole::seed;
    all.push_back(saved(variable, isSeed ? SavedKind::seed : SavedKind::layer, paths.of(variable)));
    all.back().isOfDraws = paths.isOfDraws(variable);
  }
}

/// Adds the inner optimizer's variables(), and the loss scale and its counters. The wrapper's own learning rate and
/// update count never change, and a schedule's rates are functions of the update count.
void addOptimizer(const Paths &paths, const Optimizer &optimizer, std::vector<SavedVariable> &all) {
  if (isLossScaleOptimizer(optimizer)) {
    for (const Variable &variable : optimizer.impl()->allVariables())
      if (variable.impl()->role == VariableRole::loss_scale)
        all.push_back(saved(variable, SavedKind::loss_scale, {variable.name(), variable.name()}));
    return addOptimizer(paths, asLossScaleOptimizer(optimizer).inner_optimizer(), all);
  }
  size_t number = 0;
  const std::string &className = optimizer.impl()->className;
  for (const Variable &variable : optimizer.variables()) {
    const std::string place = paths.ofSlot(variable.name()).value_or(variable.name());
    const Paths::Pair own{fmt::format("{}/{}", className, number++), fmt::format("{}/{}", className, place)};
    all.emplace_back(saved(variable, SavedKind::optimizer, own)).parts = &optimizer.impl()->parts();
  }
}

void distinguish(std::vector<SavedVariable> &variables) {
  Numbered names, places;
  for (SavedVariable &variable : variables) {
    variable.name = names(variable.name, "#", 2);
    variable.place = places(variable.place, "#", 2);
  }
}

/// The number of infinities and NaNs.
int64_t notFinite(const Tensor &tensor) {
  const Tensor host = TensorAccess::onHost(tensor);
  int64_t count = 0;
  for (int64_t i = 0; i < host.size(); ++i)
    count += !std::isfinite(elementAsDouble(host.dtype(), TensorAccess::data(host), i));
  return count;
}

/// Matches variables with tensors whose texts, given by `wanted` and `given`, are equal.
template <class Wanted, class Given>
MatchedValues matchBy(const Safetensors &contents, const std::vector<SavedVariable> &variables, Wanted wanted,
                      Given given) {
  std::map<std::string, const NamedTensor *> values;
  for (const NamedTensor &tensor : contents.tensors)
    values.emplace(given(tensor.first), &tensor);
  MatchedValues matched;
  std::set<const NamedTensor *> taken;
  for (const SavedVariable &variable : variables) {
    const auto found = values.find(wanted(variable));
    matched.values.push_back(found == values.end() ? nullptr : found->second);
    taken.insert(matched.values.back());
  }
  for (const NamedTensor &tensor : contents.tensors)
    if (!taken.contains(&tensor))
      matched.left.push_back(&tensor);
  return matched;
}

} // namespace

void requireBuilt(const Layer &model, const char *task) {
  if (!model.built())
    throw Error(
        ErrorKind::value_error,
        fmt::format("{} needs a built model: call '{}' on data, or give it an Input, so that it creates its variables",
                    task, model.name()),
        model.name(), model.impl()->where);
}

std::vector<SavedVariable> savedWeights(const Layer &model) {
  std::vector<SavedVariable> all;
  addLayers(Paths(*model.impl()), model.weights(), all);
  distinguish(all);
  return all;
}

std::vector<SavedVariable> savedState(const Layer &model, const CompiledModel *compiled) {
  std::vector<SavedVariable> all;
  const Paths paths(*model.impl());
  addLayers(paths, model.variables(), all);
  if (compiled) {
    const DeviceScope device(*compiled->args.device);
    compiled->optimizer.impl()->build(model.trainable_variables());
    addOptimizer(paths, compiled->optimizer, all);
  }
  distinguish(all);
  return all;
}

std::vector<SavedVariable> savedOptimizer(const Layer &model, const Optimizer &optimizer) {
  std::vector<SavedVariable> all;
  addOptimizer(Paths(*model.impl()), optimizer, all);
  distinguish(all);
  return all;
}

std::string classPathKey(const std::string &name) { return "class_path:" + name; }
std::string placeKey(const std::string &name) { return "place:" + name; }

void addValues(const std::vector<SavedVariable> &variables, Safetensors &contents) {
  std::vector<VariableHandle> handles;
  for (const SavedVariable &saved : variables)
    handles.push_back(saved.variable.impl()->memory);
  std::vector<Tensor> values = readTogether(handles).valueOrThrow();
  for (size_t i = 0; i < variables.size(); ++i) {
    contents.metadata.emplace(classPathKey(variables[i].name), variables[i].classPath);
    contents.metadata.emplace(placeKey(variables[i].name), variables[i].place);
    const OptimizerParts *const parts = variables[i].parts;
    contents.tensors.emplace_back(variables[i].name,
                                  parts ? parts->whole(variables[i].variable, values[i]) : std::move(values[i]));
  }
}

bool isStateSplit(const Layer &model) {
  const std::shared_ptr<CompiledModel> compiled = compiledIfAny(model);
  const auto isSplit = [](const Optimizer &optimizer) { return optimizer.impl()->parts().areSplit(); };
  return compiled &&
         (isSplit(compiled->optimizer) || std::ranges::any_of(ownOptimizers(model, compiled.get()).known, isSplit));
}
void writeState(const Layer &model, const std::function<void()> &write) {
  isStateSplit(model) ? writeInFirst(write) : write();
}

std::string textIn(const Safetensors &contents, const std::string &key) {
  const auto found = contents.metadata.find(key);
  return found == contents.metadata.end() ? "" : found->second;
}

SavedKind kindIn(const Safetensors &contents, const std::string &name) {
  const std::string path = textIn(contents, classPathKey(name));
  const auto found = std::find(kindNames.begin(), kindNames.end(), std::string_view(path).substr(0, path.find('/')));
  return found == kindNames.end() ? SavedKind::layer : static_cast<SavedKind>(found - kindNames.begin());
}

void awaitSeedStates(const Layer &model, const Safetensors &contents) {
  std::map<std::string, int64_t> counts; // number of states, keyed by the place of their layer
  const std::string kind = fmt::format("{}/", nameOf(SavedKind::seed));
  for (const auto &[name, tensor] : contents.tensors)
    if (const std::string place = textIn(contents, placeKey(name)); place.starts_with(kind))
      ++counts[place.substr(kind.size(), place.rfind('/') + 1 - kind.size())];
  const Paths paths(*model.impl());
  for (const auto &[place, count] : counts)
    if (LayerImpl *layer = paths.layerAt(place); layer && !isLayerOfKeras(layer->className))
      for (int64_t missing = count - countSeedStates(*layer); missing > 0; --missing)
        awaitSeedState(*layer);
}

/// Returns true if every variable other than those of a loss scale and of users' draws has a value.
static bool isWhole(const MatchedValues &matched, const std::vector<SavedVariable> &variables) {
  for (size_t i = 0; i < variables.size(); ++i)
    if (!matched.values[i] && variables[i].kind != SavedKind::loss_scale && !variables[i].isOfDraws)
      return false;
  return true;
}

MatchedValues matchValues(const Safetensors &contents, const std::vector<SavedVariable> &variables) {
  MatchedValues byPlace = matchBy(
      contents, variables, [](const SavedVariable &variable) { return variable.place; },
      [&](const std::string &name) { return textIn(contents, placeKey(name)); });
  if (isWhole(byPlace, variables))
    return byPlace;
  MatchedValues byName = matchBy(
      contents, variables, [](const SavedVariable &variable) { return variable.name; },
      [](const std::string &name) { return name; });
  if (isWhole(byName, variables))
    return byName;
  MatchedValues byClass = matchBy(
      contents, variables, [](const SavedVariable &variable) { return variable.classPath; },
      [&](const std::string &name) { return textIn(contents, classPathKey(name)); });
  MatchedValues &closest = byPlace.left.size() <= byName.left.size() ? byPlace : byName;
  return byClass.left.size() < closest.left.size() ? byClass : closest;
}

std::string mismatch(const SavedVariable &variable, const NamedTensor &value) {
  const auto &[name, tensor] = value;
  const Shape shape = variable.parts ? variable.parts->wholeShape(variable.variable) : variable.variable.shape();
  const DType dtype = variable.variable.impl()->dtype;
  const bool converts = is_float(dtype) && is_float(tensor.dtype());
  if (tensor.shape() == shape && (tensor.dtype() == dtype || converts))
    return "";
  return fmt::format("{} is {} in {}, the model's variable {} in {}", quotedName(name), tensor.shape().str(),
                     halftone::name(tensor.dtype()), shape.str(), halftone::name(dtype));
}

Tensor fitted(const SavedVariable &variable, const NamedTensor &value, std::vector<std::string> &converted) {
  const DType from = value.second.dtype(), to = variable.variable.impl()->dtype;
  const auto cut = [&](const Tensor &whole) {
    return variable.parts ? variable.parts->cutFor(variable.variable, whole) : whole;
  };
  if (from == to)
    return cut(value.second);
  Tensor tensor = value.second.astype(to);
  const int64_t overflows = notFinite(tensor) - notFinite(value.second);
  converted.push_back(fmt::format("{}: {} -> {}{}", variable.name, name(from), name(to),
                                  overflows > 0 ? fmt::format(", {} values are no longer finite", overflows) : ""));
  return cut(tensor);
}

std::string listed(const std::vector<std::string> &problems) {
  constexpr size_t most = 10;
  const std::vector<std::string> first(problems.begin(),
                                       problems.begin() + static_cast<int64_t>(std::min(most, problems.size())));
  return fmt::format("{}{}", fmt::join(first, "; "),
                     problems.size() > most ? fmt::format("; and {} more", problems.size() - most) : "");
}

} // namespace halftone::detail
