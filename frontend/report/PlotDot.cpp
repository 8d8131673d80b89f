// Writes nodes with HTML labels, clusters and edges in DOT.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/report/PlotDot.h"
#include "frontend/report/Markup.h"
#include "frontend/report/PlotSvg.h"
#include <fmt/format.h>

namespace halftone::detail {

namespace {

/// The nodes at which edges into and out of a subgraph end. DOT connects only nodes; an edge is clipped at the
/// cluster's border.
struct Anchor {
  std::string first, last; // nodes
  std::string cluster;     // "" if the node is not a cluster
};

class DotText {
public:
  explicit DotText(const PlotModelArgs &args) : args_(args) {}

  std::string write(const ModelGraph &graph) {
    text_ = fmt::format("digraph {{\n  rankdir={}; compound=true; label=<{}>; labelloc=t; fontname=\"sans-serif\";\n"
                        "  node [shape=box, style=rounded, fontname=\"sans-serif\"];\n",
                        args_.rankdir, markup(graph.note.empty() ? graph.name : graph.name + ": " + graph.note));
    layers(graph);
    return text_ + "}\n";
  }

private:
  /// Escapes text for DOT's HTML labels, where a line break is an element.
  static std::string markup(const std::string &text) {
    std::string result;
    for (char c : escaped(text))
      result += c == '\n' ? std::string("<br/>") : std::string(1, c);
    return result;
  }
  std::string labelText(const ModelGraph::Node &node) const {
    const NodeLabel label = labelOf(node, args_);
    std::string text = "<b>" + markup(label.title) + "</b>";
    for (const std::string &line : label.lines)
      text += "<br/>" + markup(line);
    return text;
  }

  /// Writes the layers of one model and returns the nodes that represent it.
  Anchor layers(const ModelGraph &graph) {
    std::vector<Anchor> anchors;
    for (const ModelGraph::Node &node : graph.nodes) {
      if (!node.inside) {
        const std::string id = fmt::format("n{}", nodes_++);
        text_ += fmt::format("  {} [label=<{}>];\n", id, labelText(node));
        anchors.push_back({id, id, ""});
        continue;
      }
      const std::string cluster = fmt::format("cluster_{}", clusters_++);
      text_ += fmt::format("  subgraph {} {{ label=<{}>;\n", cluster, labelText(node));
      anchors.push_back(layers(*node.inside));
      anchors.back().cluster = cluster;
      text_ += "  }\n";
    }
    for (const auto &[from, to] : graph.edges) {
      text_ += fmt::format("  {} -> {}", anchors[from].last, anchors[to].first);
      if (!anchors[from].cluster.empty() || !anchors[to].cluster.empty())
        text_ += fmt::format(" [ltail=\"{}\", lhead=\"{}\"]", anchors[from].cluster, anchors[to].cluster);
      text_ += ";\n";
    }
    return anchors.empty() ? Anchor() : Anchor{anchors.front().first, anchors.back().last, ""};
  }

  const PlotModelArgs &args_;
  std::string text_;
  int64_t nodes_ = 0, clusters_ = 0;
};

} // namespace

std::string graphDot(const ModelGraph &graph, const PlotModelArgs &args) { return DotText(args).write(graph); }

} // namespace halftone::detail
