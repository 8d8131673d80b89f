// Matches optimizer states of checkpoints with optimizers, and keeps states whose optimizer does not exist yet.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/io/OptimizerStates.h"
#include "frontend/optimizers/OptimizerImpl.h"
#include "runtime/TensorAccess.h"
#include <charconv>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <utility>

namespace halftone::detail {

namespace {

constexpr std::string_view ownKind = "own_optimizer/"; // prefix of a place, before the number: "own_optimizer/0/..."

std::string nameOfState(int64_t number) {
  return number == 0 ? "own_optimizer" : fmt::format("own_optimizer_{}", number);
}
std::string ownName(int64_t number, const std::string &name) { return fmt::format("{}/{}", nameOfState(number), name); }
std::string ownPlace(int64_t number, const std::string &place) {
  return fmt::format("{}{}/{}", ownKind, number, place);
}

/// The text after `prefix`; the whole text if it does not begin with `prefix`.
std::string after(const std::string &prefix, const std::string &text) {
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

/// The number of the own optimizer to which a place belongs; nullopt if it belongs to none.
std::optional<int64_t> numberIn(const std::string &place) {
  if (!place.starts_with(ownKind))
    return std::nullopt;
  int64_t number = -1;
  const char *const end = place.data() + place.size();
  const auto [rest, error] = std::from_chars(place.data() + ownKind.size(), end, number);
  if (error != std::errc() || number < 0 || rest == end || *rest != '/')
    return std::nullopt;
  return number;
}

/// A part of a checkpoint, with its tensors renamed to the names and places of compile()'s optimizer.
class StateOfFile final : public AwaitedState {
public:
  StateOfFile(std::string file, int64_t number) : file_(std::move(file)), number_(number) {}

  void add(const Safetensors &all, const NamedTensor &tensor) {
    const auto &[name, value] = tensor;
    const std::string own = after(nameOfState(number_) + "/", name), prefix = ownPlace(number_, "");
    contents_.tensors.emplace_back(own, TensorAccess::copy(value));
    contents_.metadata.emplace(classPathKey(own), after(prefix, textIn(all, classPathKey(name))));
    contents_.metadata.emplace(placeKey(own), after(prefix, textIn(all, placeKey(name))));
  }
  void write(int64_t number, Safetensors &all) const {
    for (const auto &[name, value] : contents_.tensors) {
      const std::string own = ownName(number, name);
      all.tensors.emplace_back(own, value);
      all.metadata.emplace(classPathKey(own), ownPlace(number, textIn(contents_, classPathKey(name))));
      all.metadata.emplace(placeKey(own), ownPlace(number, textIn(contents_, placeKey(name))));
    }
  }

  FileState valuesFor(const Layer &model, const Optimizer &optimizer) const override {
    FileState state = stateIn(contents_, savedOptimizer(model, optimizer), &optimizer);
    for (std::string &line : state.converted)
      line = ownName(number_, line);
    return state;
  }
  bool hasPlacesOf(const Layer &model, const Optimizer &optimizer) const override {
    std::set<std::string> own, others;
    for (const SavedVariable &saved : savedOptimizer(model, optimizer))
      if (saved.kind != SavedKind::loss_scale)
        own.insert(saved.place);
    for (const auto &[name, value] : contents_.tensors)
      if (kindIn(contents_, name) != SavedKind::loss_scale)
        others.insert(textIn(contents_, placeKey(name)));
    return own == others;
  }
  std::string refusal(const Layer &model, const Optimizer &optimizer) const override {
    return fmt::format(
        "the optimizer '{}' ({}) of the step does not match the state {} in the file, which is of the optimizer {}: {}",
        optimizer.name(), optimizer.impl()->className, quotedName(nameOfState(number_)), className(),
        listed(valuesFor(model, optimizer).problems));
  }
  std::string file() const override { return file_; }

private:
  /// The class of the optimizer inside a loss scale.
  std::string className() const {
    constexpr std::string_view kind = "optimizer/";
    for (const auto &[name, value] : contents_.tensors)
      if (const std::string place = textIn(contents_, placeKey(name)); place.starts_with(kind))
        return place.substr(kind.size(), place.find('/', kind.size()) - kind.size());
    return "of no class";
  }

  std::string file_;
  int64_t number_;
  Safetensors contents_;
};

/// Adds the initial values of a new loss scale to those of the file.
void beginLossScale(const SavedVariable &saved, const Optimizer &optimizer, FileState &state) {
  for (const auto &[variable, value] : initialLossScale(asLossScaleOptimizer(optimizer)))
    if (variable.impl() == saved.variable.impl()) {
      state.variables.push_back(variable.impl()->memory);
      state.values.push_back(value);
      state.converted.push_back(fmt::format("{}: reinitialized, since the file has none", saved.name));
    }
}

} // namespace

FileState stateIn(const Safetensors &contents, const std::vector<SavedVariable> &variables,
                  const Optimizer *optimizer) {
  const MatchedValues matched = matchValues(contents, variables);
  FileState state;
  for (size_t i = 0; i < variables.size(); ++i) {
    const SavedVariable &saved = variables[i];
    const NamedTensor *value = matched.values[i];
    if (!value && saved.kind == SavedKind::loss_scale) {
      beginLossScale(saved, *optimizer, state);
      continue;
    }
    if (!value && saved.isOfDraws) {
      state.converted.push_back(fmt::format("{}: unchanged, since the file has none", saved.name));
      continue;
    }
    const std::string problem =
        value ? mismatch(saved, *value) : fmt::format("the file has no value for {}", quotedName(saved.name));
    if (!problem.empty()) {
      state.problems.push_back(problem);
      continue;
    }
    state.variables.push_back(saved.variable.impl()->memory);
    state.values.push_back(fitted(saved, *value, state.converted));
  }
  for (const NamedTensor *value : matched.left)
    if (kindIn(contents, value->first) == SavedKind::loss_scale)
      state.converted.push_back(
          fmt::format("{}: not used, since the model's optimizer does not scale the loss", value->first));
    else
      state.problems.push_back(fmt::format("the model has no variable for {}{}", quotedName(value->first),
                                           optimizer ? "" : ", since it is not compiled"));
  return state;
}

std::vector<SavedVariable> savedOwnOptimizer(const Layer &model, const Optimizer &optimizer, int64_t number) {
  std::vector<SavedVariable> all = savedOptimizer(model, optimizer);
  for (SavedVariable &saved : all) {
    saved.name = ownName(number, saved.name);
    saved.classPath = ownPlace(number, saved.classPath);
    saved.place = ownPlace(number, saved.place);
    saved.kind = SavedKind::own_optimizer;
  }
  return all;
}

AwaitedStates takeStates(Safetensors &contents, const std::string &path) {
  std::map<int64_t, std::shared_ptr<StateOfFile>> states;
  std::vector<NamedTensor> others;
  for (NamedTensor &tensor : contents.tensors) {
    const std::optional<int64_t> number = numberIn(textIn(contents, placeKey(tensor.first)));
    if (!number) {
      others.push_back(std::move(tensor));
      continue;
    }
    std::shared_ptr<StateOfFile> &state = states[*number];
    if (!state)
      state = std::make_shared<StateOfFile>(path, *number);
    state->add(contents, tensor);
  }
  contents.tensors = std::move(others);
  return {states.begin(), states.end()};
}

void addStates(const AwaitedStates &states, int64_t first, Safetensors &contents) {
  for (const auto &[number, state] : states)
    static_cast<const StateOfFile &>(*state).write(first++, contents);
}

} // namespace halftone::detail
