// Reports as text and JSON; summary().
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Reports.h"
#include "frontend/base/ReportWords.h"
#include "frontend/base/TextTable.h"
#include "frontend/layers/LayerImpl.h"
#include "frontend/optimizers/OptimizerImpl.h"
#include "frontend/training/Connections.h"
#include "frontend/training/ModelState.h"
#include "frontend/training/Trainer.h"
#include "runtime/base/Extents.h"
#include "runtime/base/StackRoom.h"
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>

namespace halftone {
using namespace detail;
using Json = nlohmann::ordered_json;

namespace {

int64_t bytesOf(const std::vector<Variable> &variables) {
  int64_t bytes = 0;
  for (const Variable &variable : variables)
    bytes = extentSum(bytes, extentProduct(variable.shape().elements(), itemsize(variable.impl()->dtype)));
  return bytes;
}
int64_t elementsOf(const std::vector<Variable> &variables) {
  int64_t count = 0;
  for (const Variable &variable : variables)
    count += variable.shape().elements();
  return count;
}

/// The number of weights of each layer below a model, including its sublayers. If no layer or weight is shared,
/// computing all of them takes time linear in the size of the model.
class WeightCounts {
public:
  struct Count {
    int64_t weights = 0, elements = 0;
  };

  explicit WeightCounts(const Layer &model) {
    const std::vector<Layer> layers = layersBelow(*model.impl());
    std::set<const LayerImpl *> children;
    std::set<const VariableImpl *> variables;
    for (auto layer = layers.rbegin(); layer != layers.rend() && !isShared_; ++layer) {
      const LayerImpl &impl = *layer->impl();
      Count count = countOf(impl.weights);
      for (const Variable &variable : impl.weights)
        isShared_ |= !variables.insert(variable.impl().get()).second;
      for (const Layer &child : impl.children) {
        isShared_ |= !children.insert(child.impl().get()).second;
        const Count below = counts_[child.impl().get()];
        count = {count.weights + below.weights, count.elements + below.elements};
      }
      counts_[&impl] = count;
    }
  }
  Count of(const Layer &layer) const {
    const auto found = counts_.find(layer.impl().get());
    return isShared_ || found == counts_.end() ? countOf(layer.weights()) : found->second;
  }

private:
  static Count countOf(const std::vector<Variable> &variables) {
    Count count;
    for (const Variable &variable : variables)
      if (variable.impl()->role != VariableRole::seed)
        count = {count.weights + 1, count.elements + variable.shape().elements()};
    return count;
  }

  std::map<const LayerImpl *, Count> counts_;
  bool isShared_ = false;
};

void addRows(const Layer &layer, bool expand, const WeightCounts &counts, std::vector<SummaryReport::Row> &rows,
             int64_t depth = 0) {
  requireStack("the summary");
  const std::map<const LayerImpl *, std::string> connections =
      depth ? std::map<const LayerImpl *, std::string>() : connectionsOf(layer);
  for (const Layer &child : layer.layers()) {
    const LayerImpl &impl = *child.impl();
    const WeightCounts::Count weights = counts.of(child);
    const auto connected = connections.find(&impl);
    rows.push_back({child.path().empty() ? child.name() : child.path(), child.class_name(),
                    shapesText(impl.outputSpecs), impl.resolvedPolicy().name(), child.compute_dtype(),
                    child.variable_dtype(), child.built() ? weights.elements : 0, impl.policyKey(),
                    connected == connections.end() ? "" : connected->second, depth,
                    weights.weights == 0 ? "-" : (child.trainable() ? "Y" : "N")});
    if (expand)
      addRows(child, true, counts, rows, depth + 1);
  }
}

} // namespace

SummaryReport Model::summary(const SummaryArgs &args) const {
  SummaryReport report;
  report.model = name();
  report.class_name = class_name();
  addRows(*this, args.expand_nested, WeightCounts(*this), report.rows);
  std::vector<Variable> weights;
  for (const Variable &variable : variables())
    if (variable.impl()->role != VariableRole::seed)
      weights.push_back(variable);
  report.total_params = elementsOf(weights);
  report.trainable_params = elementsOf(trainable_variables());
  report.trainable_bytes = bytesOf(trainable_variables());
  report.bytes = bytesOf(weights);
  const std::shared_ptr<CompiledModel> compiled = compiledIfAny(*this);
  if (compiled) {
    ModelState &state = stateOf(*this);
    const ForkSafeLock lock(state.mutex);
    if (const std::shared_ptr<Player> step = compiled->train.known(state.fullStepTypes, state.fullStepLayout)) {
      std::vector<TensorType> types;
      for (const Parameter &feed : step->executable().signature.feeds)
        types.push_back(feed.type);
      report.training_step_bytes = step->executable().plan.arenaBytes;
      report.training_step_shapes = shapesText(types);
    }
  }
  if (compiled && isLossScaleOptimizer(compiled->optimizer)) {
    const optimizers::LossScaleState state = asLossScaleOptimizer(compiled->optimizer).state();
    report.loss_scale = {state.scale, state.skipped_steps, state.last_fault};
  }
  if (compiled && compiled->optimizer.impl()->isBuilt()) {
    std::vector<Variable> slots = compiled->optimizer.variables();
    report.optimizer_params = elementsOf(slots);
    report.optimizer_bytes = bytesOf(slots);
    report.bytes += report.optimizer_bytes;
  }
  report.total_params += report.optimizer_params;
  report.show_policy = args.show_policy;
  report.show_trainable = args.show_trainable;
  report.line_length = args.line_length;
  return report;
}

std::string detail::withCommas(int64_t n) {
  std::string digits = std::to_string(n);
  for (int64_t i = static_cast<int64_t>(digits.size()) - 3; i > 0; i -= 3)
    digits.insert(static_cast<size_t>(i), ",");
  return digits;
}
std::string detail::sizeText(int64_t bytes) {
  const char *units[] = {"B", "KB", "MB", "GB", "TB"};
  auto size = static_cast<double>(bytes);
  size_t unit = 0;
  for (; size >= 1024.0 && unit + 1 < std::size(units); ++unit)
    size /= 1024.0;
  return fmt::format("{:.2f} {}", size, units[unit]);
}

std::string detail::shapesText(const std::vector<ValueSpec> &specs) {
  std::string text;
  for (const ValueSpec &spec : specs)
    text += (text.empty() ? "" : ", ") + spec.shape.str();
  return specs.empty() ? "?" : specs.size() == 1 ? text : "[" + text + "]";
}

std::string SummaryReport::text() const {
  std::vector<std::vector<std::string>> cells;
  cells.push_back({"Layer (type)", "Output Shape", "Param #"});
  const bool connected =
      std::any_of(rows.begin(), rows.end(), [](const Row &row) { return !row.connected_to.empty(); });
  if (connected)
    cells[0].push_back("Connected to");
  if (show_policy)
    cells[0].insert(cells[0].end(), {"Policy", "Compute", "Variable"});
  for (const Row &row : rows) {
    size_t slash = row.path.rfind('/');
    std::string shortName = slash == std::string::npos ? row.path : row.path.substr(slash + 1);
    if (row.depth)
      shortName.insert(0, "└ ").insert(0, static_cast<size_t>(3 * row.depth), ' ');
    cells.push_back({fmt::format("{} ({})", shortName, row.class_name), row.output_shape,
                     row.output_shape == "?" ? "0 (unbuilt)" : withCommas(row.params)});
    if (connected)
      cells.back().push_back(row.connected_to.empty() ? "-" : row.connected_to);
    if (show_policy)
      cells.back().insert(cells.back().end(),
                          {row.policy, std::string(name(row.compute_dtype)), std::string(name(row.variable_dtype))});
  }
  if (show_policy && std::any_of(rows.begin(), rows.end(), [](const Row &row) { return !row.rule.empty(); })) {
    cells[0].push_back("Rule");
    for (size_t i = 0; i < rows.size(); ++i)
      cells[i + 1].push_back(rows[i].rule);
  }
  if (show_trainable) {
    cells[0].push_back("Trainable");
    for (size_t i = 0; i < rows.size(); ++i)
      cells[i + 1].push_back(rows[i].trainable);
  }
  std::string text = fmt::format("Model: \"{}\"\n", model) + boxTable(cells, line_length, "Param #");
  auto count = [&](const char *what, int64_t params, int64_t size) {
    text += fmt::format(" {} params: {} ({})\n", what, withCommas(params), sizeText(size));
  };
  count("Total", total_params, bytes);
  count("Trainable", trainable_params, trainable_bytes);
  count("Non-trainable", total_params - optimizer_params - trainable_params, bytes - optimizer_bytes - trainable_bytes);
  if (optimizer_params)
    count("Optimizer", optimizer_params, optimizer_bytes);
  if (training_step_bytes)
    text += fmt::format(" Training step: {} besides variables and data\n Step's inputs and targets: {}\n",
                        sizeText(training_step_bytes), training_step_shapes);
  if (loss_scale)
    text +=
        fmt::format(" Loss scale: {}, {} steps skipped{}\n", loss_scale->scale, withCommas(loss_scale->skipped_steps),
                    loss_scale->last_fault.empty()
                        ? ""
                        : fmt::format(", the last one for the gradient of '{}'", loss_scale->last_fault));
  return text;
}
std::string SummaryReport::json() const {
  Json json{{"model", model}, {"class", class_name}, {"layers", Json::array()}};
  for (const Row &row : rows)
    json["layers"].push_back({{"path", row.path},
                              {"class", row.class_name},
                              {"output_shape", row.output_shape},
                              {"policy", row.policy},
                              {"compute", name(row.compute_dtype)},
                              {"variable", name(row.variable_dtype)},
                              {"rule", row.rule},
                              {"params", row.params},
                              {"connected_to", row.connected_to},
                              {"depth", row.depth}});
  json["total_params"] = total_params;
  json["trainable_params"] = trainable_params;
  json["optimizer_params"] = optimizer_params;
  json["bytes"] = bytes;
  json["trainable_bytes"] = trainable_bytes;
  json["optimizer_bytes"] = optimizer_bytes;
  json["training_step_bytes"] = training_step_bytes;
  json["training_step_shapes"] = training_step_shapes;
  json["loss_scale"] = loss_scale ? Json{{"scale", loss_scale->scale},
                                         {"skipped_steps", loss_scale->skipped_steps},
                                         {"last_fault", loss_scale->last_fault}}
                                  : Json();
  return json.dump();
}

const char *detail::kindName(CastLedger::Kind kind) {
  return kind == CastLedger::Kind::rounding ? "rounding" : "storage";
}

std::string CastLedger::text() const {
  std::vector<std::vector<std::string>> cells{{"Layer", "Value", "Cast", "Kind", "Fused", "Bytes", "Rule"}};
  for (const Row &row : rows)
    cells.push_back({row.path, row.value, fmt::format("{} > {}", name(row.from), name(row.to)), kindName(row.kind),
                     row.fused ? "yes" : "no", withCommas(row.bytes), row.rule});
  return boxTable(cells) +
         fmt::format(" Casts: {} fused, {} standalone, {} moved\n", fused, standalone, sizeText(bytes_moved)) +
         (shapes.empty() ? "" : fmt::format(" Shapes: {}\n", shapes));
}
std::string CastLedger::json() const {
  Json json{{"casts", Json::array()}};
  for (const Row &row : rows)
    json["casts"].push_back({{"path", row.path},
                             {"value", row.value},
                             {"from", name(row.from)},
                             {"to", name(row.to)},
                             {"kind", kindName(row.kind)},
                             {"fused", row.fused},
                             {"bytes", row.bytes},
                             {"rule", row.rule},
                             {"location", row.location}});
  json["standalone"] = standalone;
  json["fused"] = fused;
  json["bytes_moved"] = bytes_moved;
  json["shapes"] = shapes;
  return json.dump();
}

std::string PolicyReport::text() const {
  std::vector<std::vector<std::string>> cells{{"Layer", "Policy", "Key"}};
  for (const Row &row : rows)
    cells.push_back({row.path, row.policy, row.key.value_or("(default)")});
  std::string text = boxTable(cells);
  for (const std::string &key : unused_keys)
    text += fmt::format(" Unused key: {}\n", key);
  return text;
}
std::string PolicyReport::json() const {
  Json json{{"layers", Json::array()}, {"unused_keys", unused_keys}};
  for (const Row &row : rows)
    json["layers"].push_back({{"path", row.path}, {"policy", row.policy}, {"key", row.key ? Json(*row.key) : Json()}});
  return json.dump();
}

std::ostream &operator<<(std::ostream &os, const SummaryReport &report) { return os << report.text(); }
std::ostream &operator<<(std::ostream &os, const CastLedger &report) { return os << report.text(); }
std::ostream &operator<<(std::ostream &os, const PolicyReport &report) { return os << report.text(); }

} // namespace halftone
