// Names the groups of weights files as keras.src.saving.saving_lib does.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/io/SavedGroups.h"
#include "frontend/base/UniqueNames.h"
#include "frontend/layers/LayerImpl.h"
#include "frontend/layers/Recurrent.h"
#include "frontend/layers/Registered.h"
#include "frontend/layers/SeedState.h"
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <set>

namespace halftone::detail {

namespace {

std::string under(const std::string &path, const std::string &name) {
  return path.empty() ? name : fmt::format("{}/{}", path, name);
}

GroupPaths under(const GroupPaths &paths, const std::string &name) {
  GroupPaths all;
  for (size_t naming = 0; naming < namings; ++naming)
    all[naming] = under(paths[naming], name);
  return all;
}

/// The attribute of Keras's layer that holds the sublayer with this name, for layers composed of layers.
std::string attributeOf(const std::string &className, const std::string &part) {
  const std::string attribute = fmt::format("{}_dense", part == "attention_output" ? "output" : part);
  const bool isPublic = className == "MultiHeadAttention" && part != "gate";
  if (className == "MultiHeadAttention" || className == "GroupedQueryAttention")
    return isPublic ? attribute : "_" + attribute;
  return part;
}
/// The path below a layer at which Keras keeps its random state. Keras's files lack the random state of a cell.
const char *randomStateOf(const std::string &className) {
  if (className == "MultiHeadAttention" || className == "GroupedQueryAttention")
    return "_dropout_layer/seed_generator";
  return isOfRandomImages(className) ? "generator" : "seed_generator";
}

bool isOfDelta(const Variable &variable, const LoraBody *adapted) {
  return adapted && (variable.impl() == adapted->delta().a().impl() || variable.impl() == adapted->delta().b().impl());
}

/// "dense", "dense_1": the class, numbered among the preceding layers.
class NumberedClasses {
public:
  std::string operator()(const Layer &layer) {
    const std::string word = snakeCase(layer.class_name());
    const int64_t count = used_[word]++;
    return count == 0 ? word : fmt::format("{}_{}", word, count);
  }

private:
  std::map<std::string, int64_t> used_;
};

/// The attribute names of the sublayers of a Keras layer that holds them as attributes or in a list; empty for other
/// layers.
std::vector<std::string> partsOf(const LayerImpl &layer) {
  if (!isLayerOfKeras(layer.className) || layer.children.empty())
    return {};
  if (dynamic_cast<const RecurrentBody *>(layer.body.get()))
    return {"cell"};
  std::vector<std::string> names;
  NumberedClasses numbers;
  if (layer.className == "Bidirectional")
    return {"forward_layer", "backward_layer"};
  if (layer.className == "TimeDistributed" || layer.className == "SpectralNormalization")
    return {"layer"};
  if (layer.className == "StackedRNNCells")
    for (const Layer &cell : layer.children)
      names.push_back("cells/" + numbers(cell));
  return names;
}

/// Returns true if HDF5 accepts the name as a group name.
bool namesGroup(const std::string &name) {
  return name != "." && name != ".." && std::ranges::all_of(name, [](unsigned char c) { return c >= ' '; });
}

/// Returns true if the name distinguishes a layer from its siblings.
bool counts(const LayerImpl &layer, Naming naming) {
  return layer.hasOwnName && (naming == Naming::given || !isAutomaticName(layer.name, layer.className));
}

std::vector<std::string> namesOfParts(const LayerImpl &layer, Naming naming) {
  if (std::vector<std::string> names = partsOf(layer); !names.empty())
    return names;
  std::vector<std::string> names(layer.children.size());
  std::set<std::string> taken;
  for (size_t i = 0; i < names.size(); ++i)
    if (const LayerImpl &child = *layer.children[i].impl();
        counts(child, naming) && namesGroup(child.name) && taken.insert(child.name).second)
      names[i] = child.name;
  NumberedClasses numbers;
  for (size_t i = 0; i < names.size(); ++i)
    while (names[i].empty())
      if (std::string name = numbers(layer.children[i]); taken.insert(name).second)
        names[i] = std::move(name);
  return names;
}

class GroupCollector {
public:
  explicit GroupCollector(const std::function<bool(const std::string &path)> &has) : has_(has) {}
  std::vector<SavedGroup> groups;

  /// A layer shared by several models is listed where it is first visited.
  void layer(LayerImpl &layer, const GroupPaths &paths) {
    if (!visited_.insert(&layer).second)
      return;
    SavedGroup own{.paths = paths, .className = layer.className, .name = layer.name};
    const auto *adaptable = dynamic_cast<const LoraBody *>(layer.body.get());
    if (auto *body = dynamic_cast<CalibratedBody *>(layer.body.get()); body && body->calibrated().isThere())
      own.calibrated = &body->calibrated();
    const bool keepsOrder = adaptable != nullptr; // kernel, which LoRA freezes, bias, scales
    if (adaptable && adaptable->delta().isOn())
      own.adapted = adaptable;
    for (const bool first : {true, false})
      for (const Variable &variable : layer.weights)
        if ((keepsOrder || variable.trainable()) == first && variable.impl()->role != VariableRole::seed &&
            !isOfDelta(variable, own.adapted))
          own.variables.push_back(variable);
    own.state = dynamic_cast<VocabularyState *>(layer.body.get());
    groups.push_back(std::move(own));
    if (VocabularyState *const state = groups.back().state)
      for (const std::string &path : state->paths())
        if (!path.empty())
          groups.push_back({.paths = under(paths, path),
                            .className = layer.className,
                            .name = layer.name,
                            .state = state,
                            .isCopy = true});
    if (layer.model && layer.transparent)
      return members(layer, under(paths, "layers"));
    randomStates(layer, paths);
    std::array<std::vector<std::string>, namings> names;
    for (size_t naming = 0; naming < namings; ++naming)
      names[naming] = namesOfParts(layer, static_cast<Naming>(naming));
    for (size_t i = 0; i < layer.children.size(); ++i) {
      GroupPaths own = paths;
      for (size_t naming = 0; naming < namings; ++naming)
        own[naming] = under(paths[naming], attributeOf(layer.className, names[naming][i]));
      this->layer(*layer.children[i].impl(), own);
    }
  }

private:
  const std::function<bool(const std::string &path)> &has_;
  std::set<const LayerImpl *> visited_;

  void randomStates(LayerImpl &layer, const GroupPaths &paths) {
    const auto pathsOf = [&](int64_t number) {
      const std::string name = randomStateOf(layer.className);
      return under(paths, number == 0 ? name : fmt::format("{}_{}", name, number));
    };
    if (has_ && !isLayerOfKeras(layer.className))
      while (std::ranges::any_of(pathsOf(countSeedStates(layer)), has_))
        awaitSeedState(layer);
    if (dynamic_cast<const MaskedCell *>(layer.body.get()))
      return;
    int64_t number = 0;
    for (const Variable &variable : layer.weights)
      if (variable.impl()->role == VariableRole::seed)
        groups.push_back({.paths = pathsOf(number++),
                          .className = "SeedGenerator",
                          .name = "seed_generator",
                          .variables = {variable},
                          .isRandomState = true});
  }

  /// The layers of a Sequential, which does not count its InputLayer, or of a functional model.
  void members(const LayerImpl &model, const GroupPaths &paths) {
    NumberedClasses numbers;
    for (const Layer &member : model.children)
      layer(*member.impl(), under(paths, numbers(member)));
  }
};

} // namespace

std::vector<std::string> namesByPlace(const LayerImpl &layer) { return namesOfParts(layer, Naming::placed); }

std::vector<SavedGroup> savedGroups(const Layer &model, const std::function<bool(const std::string &path)> &has) {
  GroupCollector collector(has);
  collector.layer(*model.impl(), {});
  return std::move(collector.groups);
}

std::vector<SavedGroup> savedGroups(const Optimizer &optimizer) {
  const auto group = [](const Optimizer &each, const char *path) {
    return SavedGroup{.paths = under(GroupPaths(), path),
                      .className = each.impl()->className,
                      .name = each.name(),
                      .variables = each.variables()};
  };
  std::vector<SavedGroup> groups{group(optimizer, "optimizer")};
  if (isLossScaleOptimizer(optimizer))
    groups.push_back(group(asLossScaleOptimizer(optimizer).inner_optimizer(), "optimizer/inner_optimizer"));
  return groups;
}

} // namespace halftone::detail
