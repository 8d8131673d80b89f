// Matches weights files with models, and reads them completely or not at all.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/io/KerasWeights.h"
#include "frontend/base/PlacedError.h"
#include "frontend/base/ProgressBar.h"
#include "frontend/graph/CallTransaction.h"
#include "frontend/io/SavedGroups.h"
#include "frontend/layers/LayerImpl.h"
#include "frontend/optimizers/OptimizerParts.h"
#include "frontend/training/Trainer.h"
#include "halftone/Error.h"
#include "runtime/base/FileLimits.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <iterator>
#include <set>

namespace halftone::detail {

namespace {

std::string datasetOf(const SavedGroup &group, size_t index) {
  return fmt::format("{}{}vars/{}", group.path(), group.path().empty() ? "" : "/", index);
}
int64_t countOf(const H5File &file, const SavedGroup &group) {
  return file.count(group.path().empty() ? "vars" : group.path() + "/vars");
}

/// The reason why the dataset cannot be the variable's value; "" if it can.
std::string mismatch(const H5Array &array, const Variable &variable) {
  if (array.shape != variable.shape())
    return fmt::format("The shape of the target variable and the shape of the target value in "
                       "`variable.assign(value)` must match. variable.shape={}, Received: value.shape={}. Target "
                       "variable: {}",
                       variable.shape().str(), array.shape.str(), variable.path());
  return array.dtype ? "" : fmt::format("{} is stored in a type that Keras does not write", variable.path());
}

/// The reason why the group cannot be read; "" if it can.
std::string mismatch(const SavedGroup &group, const H5File &file) {
  const int64_t count = countOf(file, group);
  if (count != std::ssize(group.variables)) {
    std::vector<std::string> names;
    for (const Variable &variable : group.variables)
      names.push_back(fmt::format("'{}'", variable.name()));
    return fmt::format("Layer '{}' expected {} variables, but received {} variables during loading. Expected: [{}]",
                       group.name, group.variables.size(), count, fmt::join(names, ", "));
  }
  for (size_t i = 0; i < group.variables.size(); ++i)
    if (std::string why = mismatch(*file.find(datasetOf(group, i)), group.variables[i]); !why.empty())
      return why;
  return "";
}

/// Gives a GPTQ or AWQ kernel the layout that it has in the file, where kernel and scales follow the bias, if any.
void layOutAsStored(const SavedGroup &group, const H5File &file) {
  const size_t kernel = group.variables.size() - group.calibrated->variables().size();
  if (countOf(file, group) == std::ssize(group.variables))
    group.calibrated->layOutAs(file.find(datasetOf(group, kernel))->shape,
                               file.find(datasetOf(group, kernel + 1))->shape);
}

constexpr const char *idfWeights = "vars/idf_weights";
std::string idfPath(const SavedGroup &group) {
  return fmt::format("{}{}{}", group.path(), group.path().empty() ? "" : "/", idfWeights);
}

struct Reading {
  std::vector<VariableHandle> variables;
  std::vector<Tensor> values;

  void add(const SavedGroup &group, const H5File &file) {
    for (size_t i = 0; i < group.variables.size(); ++i) {
      const VariableImpl &variable = *group.variables[i].impl();
      const Tensor value = file.read(datasetOf(group, i));
      variables.push_back(variable.memory);
      values.push_back(value.dtype() == variable.dtype ? value : value.astype(variable.dtype));
    }
    if (group.adapted)
      restart(group.adapted->delta());
  }
  void write() const { writeTogether(variables, values).orThrow(); }

private:
  /// Resets LoRA, since the weight in the file includes the delta.
  void restart(const LowRankDelta &delta) {
    auto [a, b] = delta.fresh();
    variables.insert(variables.end(), {delta.a().impl()->memory, delta.b().impl()->memory});
    values.insert(values.end(), {std::move(a), std::move(b)});
  }
};

std::string objectOf(const SavedGroup &group) { return fmt::format("<{} name={}>", group.className, group.name); }

/// Returns true if `has` holds for the path of every required group under one naming.
bool findsAll(const std::vector<SavedGroup> &groups, Naming naming,
              const std::function<bool(const std::string &)> &has) {
  return std::ranges::all_of(groups, [&](const SavedGroup &group) {
    return group.variables.empty() || group.isRandomState || has(group.paths[static_cast<size_t>(naming)]);
  });
}
/// The names of layers whose paths differ between two namings, as a comma-separated list; "" if there are none.
std::string difference(const std::vector<SavedGroup> &groups, Naming a, Naming b) {
  std::set<std::string> names;
  for (const SavedGroup &group : groups)
    if (group.paths[static_cast<size_t>(a)] != group.paths[static_cast<size_t>(b)])
      names.insert(fmt::format("'{}'", group.name));
  return fmt::format("{}", fmt::join(names, ", "));
}

/// The naming under which the file has all groups; the first if there is none. value_error if both apply but select
/// different groups: the names of some layers look automatic and may denote other layers.
Naming namingOf(const std::vector<SavedGroup> &groups, const H5File &file) {
  const std::string doubtful = difference(groups, Naming::given, Naming::placed);
  const auto has = [&](const std::string &path) { return file.count(path.empty() ? "vars" : path + "/vars") > 0; };
  if (doubtful.empty() || !findsAll(groups, Naming::placed, has))
    return Naming::given;
  if (findsAll(groups, Naming::given, has))
    throw Error(ErrorKind::value_error,
                fmt::format("{}: the names of the layers {} look like automatic ones, but the file uses them for other "
                            "layers, counted by class: rename the layers",
                            file.name(), doubtful));
  return Naming::placed;
}

} // namespace

/// The term weights of a layer in the file; undefined if there are none.
static Tensor idfOf(const SavedGroup &group, const H5File &file) {
  const std::string path = idfPath(group);
  return group.state && !group.isCopy && file.find(path) ? file.read(path) : Tensor();
}
/// Reads the term weights of all layers, or of none if a layer rejects its weights.
static void readTermWeights(const std::vector<SavedGroup> &groups, const H5File &file) {
  std::vector<std::pair<VocabularyState *, Tensor>> before;
  try {
    for (const SavedGroup &group : groups)
      if (const Tensor weights = idfOf(group, file); weights.defined()) {
        const Tensor old = group.state->idfWeights();
        group.state->restore(weights, std::nullopt);
        before.emplace_back(group.state, old);
      }
  } catch (...) {
    for (const auto &[state, weights] : before)
      state->restore(weights, std::nullopt);
    throw;
  }
}
static std::string assetOf(const SavedGroup &group) {
  return fmt::format("assets/{}{}vocabulary.txt", group.path(), group.path().empty() ? "" : "/");
}

/// Warns about weights in the file that no layer of a struct's model has: the struct may lack a layer of the Python
/// class. Scalars are the states of metrics.
static void warnOfUnreadWeights(const std::vector<SavedGroup> &groups, const H5File &file) {
  std::set<std::string> known, unread;
  for (const SavedGroup &group : groups)
    known.insert(group.path().empty() ? "vars" : group.path() + "/vars");
  for (const auto &[path, array] : file.arrays()) {
    const std::string group = path.substr(0, path.rfind('/'));
    if (!path.starts_with("optimizer/") && array.dtype && is_float(*array.dtype) && array.shape.rank() > 0 &&
        !known.contains(group))
      unread.insert(group);
  }
  if (!unread.empty())
    writeOutput(fmt::format("warning: {}: no layer of the model has the weights of: {}\n", file.name(),
                            fmt::join(unread, ", ")));
}

void readWeights(const Layer &model, const H5File &file, bool skipMismatch) {
  std::vector<std::pair<const SavedGroup *, std::string>> failed;
  Reading reading;
  CallTransaction transaction;
  std::vector<SavedGroup> groups =
      savedGroups(model, [&](const std::string &path) { return file.count(path + "/vars") > 0; });
  const Naming naming = namingOf(groups, file);
  for (SavedGroup &group : groups)
    group.paths.front() = group.paths[static_cast<size_t>(naming)];
  std::vector<const SavedGroup *> right;
  for (SavedGroup &group : groups) {
    if (group.state)
      continue;
    if (group.calibrated)
      layOutAsStored(group, file);
    if (group.isRandomState && countOf(file, group) == 0)
      continue;
    if (std::string why = mismatch(group, file); !why.empty())
      failed.emplace_back(&group, std::move(why));
    else
      right.push_back(&group);
  }
  if (!failed.empty()) {
    std::vector<std::string> objects;
    for (const auto &[group, why] : failed)
      objects.push_back(objectOf(*group));
    const std::string message = fmt::format(
        "A total of {} objects could not be loaded. Example error message for object {}:\n\n{}\n\nList of objects that "
        "could not be loaded:\n[{}]",
        failed.size(), objects.front(), failed.front().second, fmt::join(objects, ", "));
    if (!skipMismatch)
      throw Error(ErrorKind::value_error, fmt::format("{}: {}", file.name(), message));
    writeOutput(fmt::format("warning: {}: {}\n", file.name(), message));
  }
  for (const SavedGroup *group : right)
    reading.add(*group, file);
  readTermWeights(groups, file);
  reading.write();
  transaction.commit();
  if (!model.impl()->transparent)
    warnOfUnreadWeights(groups, file);
}

void readVocabularies(const Layer &model, const H5File *file, const std::string &archive,
                      const std::function<std::string(const std::string &member)> &assetText) {
  for (const SavedGroup &group : savedGroups(model)) {
    if (!group.state || group.isCopy || !group.state->readsVocabulary())
      continue;
    const std::string member = assetOf(group), text = assetText(member);
    try {
      group.state->restore(file ? idfOf(group, *file) : Tensor(), text);
    } catch (const Error &error) {
      rethrowAt(fmt::format("{}: {}", archive, member), error);
    }
  }
}

std::vector<std::pair<std::string, std::string>> vocabularyFiles(const Layer &model) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const SavedGroup &group : savedGroups(model))
    if (std::optional<std::string> text = group.state ? group.state->vocabularyText() : std::nullopt) {
      if (std::ssize(*text) > maxJsonBytes)
        throw Error(ErrorKind::value_error,
                    fmt::format("the vocabulary of the layer '{}' has {} bytes; a file holds at most {} MiB of it",
                                group.name, text->size(), maxJsonBytes >> 20));
      files.emplace_back(assetOf(group), *std::move(text));
    }
  return files;
}

bool readOptimizer(const Optimizer &optimizer, const H5File &file) {
  const std::vector<SavedGroup> own = savedGroups(optimizer);
  SavedGroup plain = own.back(); // without the loss scale
  const int64_t outer = file.count("optimizer/vars"), inner = file.count("optimizer/inner_optimizer/vars");
  plain.paths.front() = inner > 0 ? "optimizer/inner_optimizer" : "optimizer";
  const SavedGroup &group = own.size() > 1 && inner > 0 ? own.front() : plain;
  if (outer == 0)
    return false;
  if (const std::string why = mismatch(group, file); !why.empty()) {
    if ((inner > 0 ? inner : outer) <= 2) // never trained: only the update count, 0, and the config's learning rate
      return false;
    writeOutput(
        fmt::format("warning: Skipping variable loading for optimizer '{}', because it has {} variables whereas "
                    "the saved optimizer has {} variables. {}\n",
                    optimizer.name(), group.variables.size(), countOf(file, group), why));
    return false;
  }
  Reading reading;
  reading.add(group, file);
  reading.write();
  return true;
}

/// A consistent snapshot of the variables of these groups, in the form that files hold. Slot variables divided among
/// processes are made whole; `parts` may be null.
static WeightValues valuesOf(const std::vector<SavedGroup> &groups, const OptimizerParts *parts) {
  std::vector<Variable> variables;
  for (const SavedGroup &group : groups) {
    variables.insert(variables.end(), group.variables.begin(), group.variables.end());
    if (group.adapted)
      variables.insert(variables.end(), {group.adapted->delta().a(), group.adapted->delta().b()});
  }
  std::vector<VariableHandle> handles;
  for (const Variable &variable : variables)
    handles.push_back(variable.impl()->memory);
  std::vector<Tensor> tensors = readTogether(handles).valueOrThrow();
  WeightValues values;
  for (size_t i = 0; i < variables.size(); ++i)
    values.insert_or_assign(variables[i].impl().get(), parts ? parts->whole(variables[i], tensors[i]) : tensors[i]);
  for (const SavedGroup &group : groups)
    if (group.adapted && !group.adapted->delta().isZero(values)) // requantized integers may differ
      group.adapted->merge(values);
  return values;
}

static std::vector<H5Entry> entriesOf(const std::vector<SavedGroup> &groups, const OptimizerParts *parts) {
  const WeightValues values = valuesOf(groups, parts);
  std::vector<H5Entry> entries;
  for (const SavedGroup &group : groups) {
    entries.push_back({.path = group.path().empty() ? "vars" : group.path() + "/vars", .name = group.name});
    for (size_t i = 0; i < group.variables.size(); ++i)
      entries.push_back({.path = datasetOf(group, i), .numbers = values.at(group.variables[i].impl().get())});
    if (const Tensor weights = group.state ? group.state->idfWeights() : Tensor(); weights.defined())
      entries.push_back({.path = idfPath(group), .numbers = weights});
  }
  return entries;
}

/// Rejects given names that equal another layer's class and number, since namingOf() could not read the file.
static void refuseDoubt(const std::vector<SavedGroup> &groups, const std::string &file) {
  std::set<std::string> paths;
  for (const SavedGroup &group : groups)
    paths.insert(group.path());
  const std::string doubtful = difference(groups, Naming::given, Naming::placed);
  if (!doubtful.empty() &&
      findsAll(groups, Naming::placed, [&](const std::string &path) { return paths.contains(path); }))
    throw Error(ErrorKind::value_error,
                fmt::format("cannot write {}: the names of the layers {} look like automatic ones, but not in the "
                            "order of the layers' calls: rename the layers",
                            file, doubtful));
}

H5Image weightsImage(const Model &model, const std::string &name) {
  std::vector<SavedGroup> groups = savedGroups(model);
  refuseDoubt(groups, name);
  const std::shared_ptr<CompiledModel> compiled = compiledIfAny(model);
  if (compiled)
    std::ranges::move(savedGroups(compiled->optimizer), std::back_inserter(groups));
  return H5Image(entriesOf(groups, compiled ? &compiled->optimizer.impl()->parts() : nullptr), name);
}

} // namespace halftone::detail
