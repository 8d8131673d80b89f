// Writes the sections about a model's layers and its training.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/report/ModelSections.h"
#include "frontend/base/ReportWords.h"
#include "frontend/layers/LayerImpl.h"
#include "frontend/report/LineChart.h"
#include "frontend/report/Markup.h"
#include "frontend/report/PlotSvg.h"
#include "runtime/policy/PolicyRep.h"
#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace halftone::detail {

namespace {

std::string codeText(std::string_view text) { return "<code>" + escaped(text) + "</code>"; }

/// A policy map and the layers of a model that use it.
struct SharedMap {
  DTypePolicyMap map;
  std::map<std::string, int64_t> layersByKey; // "" for the default
};

class MapsOfModel {
public:
  /// Collects the maps, ordered by the first layer that uses each. A layer that occurs twice in the model counts once.
  explicit MapsOfModel(const Layer &model) {
    for (const Layer &layer : computingLayers(model))
      count(layer);
  }
  std::vector<SharedMap> maps;
  std::map<std::string, int64_t> layersByPolicy; // of layers without a map

private:
  void count(const Layer &layer) {
    const std::optional<DTypePolicyMap> map = layer.dtype_policy().as_map();
    if (!map) {
      ++layersByPolicy[layer.impl()->resolvedPolicy().name()];
      return;
    }
    const auto [known, isFirst] = placesByMap_.emplace(PolicyAccess::rep(*map).identity(), 0);
    if (isFirst) { // serializes a map shared by many layers only once
      const auto [found, isNew] = placesByConfig_.emplace(map->get_config().dump(), maps.size());
      if (isNew)
        maps.push_back({*map, {}});
      known->second = found->second;
    }
    ++maps[known->second].layersByKey[layer.impl()->policyKey()];
  }
  std::map<std::string, size_t> placesByMap_, placesByConfig_; // indices into `maps`
};

std::string mapMarkup(const SharedMap &shared) {
  const auto layersOf = [&](const std::string &key) {
    const auto found = shared.layersByKey.find(key);
    return found == shared.layersByKey.end() ? 0 : found->second;
  };
  std::vector<std::vector<Cell>> rows{{Cell("<span class=\"faint\">every other layer</span>", " "),
                                       Cell::text(shared.map.default_policy().name()), Cell::count(layersOf(""))}};
  std::vector<std::string> unused;
  for (const auto &[key, policy] : shared.map.items()) {
    rows.push_back({codeText(key), Cell::text(policy.name()), Cell::count(layersOf(key))});
    if (layersOf(key) == 0)
      unused.push_back(codeText(key));
  }
  return tableMarkup({{"Key"}, {"Policy"}, {"Layers", true}}, rows) +
         (unused.empty() ? "<p class=\"lead\">Every key is used.</p>\n"
                         : fmt::format("<p class=\"lead\">Unused keys: {}.</p>\n", fmt::join(unused, ", ")));
}

LineChart::Line lineOf(const History::Rep &history, size_t key) {
  LineChart::Line line{history.values[key].first, {}};
  const std::vector<double> &values = history.values[key].second;
  for (size_t i = 0; i < values.size(); ++i)
    line.points.emplace_back(static_cast<double>(history.epochsOfValues[key][i] + 1), values[i]);
  return line;
}

} // namespace

Section curvesSection(const History::Rep *history) {
  Section section{"curves", "Learning curves", "", ""};
  if (!history || history->epochs.empty()) {
    section.lead = "There are none: fit() has not finished an epoch of this model.";
    return section;
  }
  section.lead =
      fmt::format("The last fit(): {} epochs. Dashed lines show the validation data.", history->epochs.size());
  std::map<std::string, LineChart::Line> validation; // keyed by metric
  std::vector<LineChart> charts;
  for (size_t key = 0; key < history->values.size(); ++key) {
    const std::string &name = history->values[key].first;
    if (name.starts_with("val_"))
      validation[name.substr(4)] = lineOf(*history, key);
    else
      charts.push_back({name, "epoch", {lineOf(*history, key)}});
  }
  if (const auto loss = std::ranges::find(charts, "loss", &LineChart::title); loss != charts.end())
    std::rotate(charts.begin(), loss, loss + 1);
  section.body = "<div class=\"charts\">\n";
  for (size_t i = 0; i < charts.size(); ++i) {
    charts[i].lines[0].color = static_cast<int64_t>(i);
    if (auto line = validation.extract(charts[i].title)) {
      line.mapped().dashed = true;
      line.mapped().color = static_cast<int64_t>(i);
      charts[i].lines.push_back(std::move(line.mapped()));
    }
    section.body += chartSvg(charts[i]);
  }
  for (const auto &[name, line] : validation)
    section.body += chartSvg({line.name, "epoch", {line}});
  section.body += "</div>\n";
  return section;
}

Section graphSection(const Model &model) {
  const ModelGraph graph = modelGraph(model, true);
  const auto again = [](const auto &edge) { return edge.second <= edge.first; };
  Section section{"graph", "Graph", "", ""};
  if (graph.nodes.empty()) {
    section.lead = graph.note.empty() ? "The model has no layers." : escaped(graph.note);
    return section;
  }
  section.lead =
      "From the inputs at the top to the outputs. The bar at the left of a layer shows the dtype in which it "
      "computes; frames are nested models, and boxes with dashed borders are operations.";
  if (std::ranges::any_of(graph.edges, again))
    section.lead += " Dashed edges lead back to a layer that is called again.";
  section.body = "<p class=\"legend\">";
  for (const char *dtype : {"float32", "bfloat16", "float16", "float8", "others"})
    section.body += fmt::format("<span><svg viewBox=\"0 0 12 12\"><rect class=\"dtype {}\" width=\"12\" height=\"12\" "
                                "rx=\"3\"/></svg>{}</span>\n",
                                std::string_view(dtype) == "float8" ? "float8_e4m3fn" : dtype, dtype);
  section.body += "</p>\n<div class=\"picture\">" +
                  graphSvg(graph, {.show_shapes = true, .show_layer_names = true, .show_layer_activations = true}) +
                  "</div>\n";
  return section;
}

Section layersSection(const SummaryReport &summary) {
  Section section{"layers", "Layers", "", ""};
  if (summary.rows.empty()) {
    section.lead = "The model has no layers.";
    return section;
  }
  int64_t rows = 0;
  std::vector<std::vector<Cell>> cells;
  for (const SummaryReport::Row &row : summary.rows) {
    const bool built = row.output_shape != "?";
    cells.push_back({Cell::count(++rows),
                     {codeText(row.path), escaped(row.path)},
                     Cell::text(row.class_name),
                     built ? Cell::text(row.output_shape) : Cell("<span class=\"faint\">not built</span>"),
                     Cell::count(row.params),
                     Cell::text(row.policy),
                     Cell::text(name(row.compute_dtype)),
                     Cell::text(name(row.variable_dtype)),
                     row.rule.empty() ? Cell("") : Cell(codeText(row.rule)),
                     Cell::text(row.connected_to)});
  }
  section.lead = fmt::format("{} layers, those of nested models below their model. A click on a title sorts the table.",
                             withCommas(rows));
  std::vector<Column> columns{{"#", true}, {"Layer"},   {"Class"},    {"Output shape"}, {"Parameters", true},
                              {"Policy"},  {"Compute"}, {"Variable"}, {"Key"},          {"Connected to"}};
  for (size_t column : {9UL, 8UL}) { // drops columns without information
    if (!std::ranges::all_of(cells, [&](const auto &row) { return row[column].markup.empty(); }))
      continue;
    columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(column));
    for (std::vector<Cell> &row : cells)
      row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
  }
  section.body = tableMarkup(columns, cells);
  return section;
}

Section policiesSection(const Model &model) {
  const MapsOfModel found(model);
  Section section{"policies", "Policies", "", ""};
  if (!found.layersByPolicy.empty()) {
    std::vector<std::string> policies;
    for (const auto &[policy, layers] : found.layersByPolicy)
      policies.push_back(fmt::format("{} ({} {})", codeText(policy), layers, layers == 1 ? "layer" : "layers"));
    section.lead = fmt::format("Policies set on layers directly: {}.", fmt::join(policies, ", "));
  }
  if (found.maps.empty())
    section.lead += section.lead.empty() ? "No layer has a policy." : " No layer has a policy map.";
  for (const SharedMap &map : found.maps)
    section.body += mapMarkup(map);
  return section;
}

} // namespace halftone::detail
