// Draws boxes, their text and the paths between them.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/report/PlotSvg.h"
#include "frontend/report/GraphLayout.h"
#include "frontend/report/Markup.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::detail {

namespace {

constexpr double titleHeight = 24, lineHeight = 17, padding = 12, framePadding = 10;
constexpr size_t maxCharacters = 44; // per line; the box's tooltip has the full text

bool isContinuation(char c) { return (static_cast<uint8_t>(c) & 0xc0) == 0x80; }

/// `text`, truncated with an ellipsis if it is long.
std::string shortened(const std::string &text) {
  size_t characters = 0;
  for (size_t i = 0; i < text.size(); ++i)
    if (!isContinuation(text[i]) && ++characters > maxCharacters)
      return text.substr(0, i) + "…";
  return text;
}

/// The approximate width of `text` in pixels, for an average letter width of `letter`.
double widthOf(const std::string &text, double letter) {
  double width = 0;
  for (char c : text)
    if (!isContinuation(c))
      width += static_cast<uint8_t>(c) < 0xe0 ? letter : 2 * letter; // most wide characters have three bytes or more
  return width;
}

std::string path(const std::vector<Point> &points) {
  std::string d = fmt::format("M{:.1f} {:.1f}", points[0].x, points[0].y);
  for (size_t i = 1; i + 2 < points.size(); i += 3)
    d += fmt::format("C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}", points[i].x, points[i].y, points[i + 1].x,
                     points[i + 1].y, points[i + 2].x, points[i + 2].y);
  return d;
}

class Picture {
public:
  explicit Picture(const PlotModelArgs &args) : args_(args), direction_(directionOf(args.rankdir)) {}

  std::string draw(const ModelGraph &graph) {
    const Drawn drawn = layers(graph);
    const double noteHeight = graph.note.empty() ? 0 : 28;
    const double width = std::max(drawn.size.width, widthOf(graph.note, 7) + 20);
    std::string svg = fmt::format(
        "<svg class=\"model\" xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
        "viewBox=\"0 0 {0:.0f} {1:.0f}\">\n<title>{2}</title>\n<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" "
        "refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0.5L8 4L0 "
        "7.5z\"/></marker></defs>"
        "\n",
        width, drawn.size.height + noteHeight, escaped(graph.name));
    if (!graph.note.empty())
      svg += fmt::format("<text class=\"faint\" x=\"8\" y=\"18\">{}</text>\n", escaped(graph.note));
    return svg +
           fmt::format("<g transform=\"translate({:.1f} {:.1f})\">\n", (width - drawn.size.width) / 2, noteHeight) +
           drawn.markup + "</g>\n</svg>\n";
  }

private:
  struct Drawn {
    std::string markup;
    BoxSize size;
  };

  /// Draws the layers of one model. Nested models are drawn first, since their sizes are needed for their boxes.
  Drawn layers(const ModelGraph &graph) {
    std::vector<Drawn> boxes;
    for (const ModelGraph::Node &node : graph.nodes)
      boxes.push_back(node.inside ? frame(node) : box(node));
    std::vector<BoxSize> sizes;
    for (const Drawn &box : boxes)
      sizes.push_back(box.size);
    const GraphLayout layout = layoutGraph(sizes, graph.edges, direction_);
    Drawn drawn{"", layout.size};
    for (size_t i = 0; i < boxes.size(); ++i)
      drawn.markup += fmt::format("<g transform=\"translate({:.1f} {:.1f})\">{}</g>\n", layout.corners[i].x,
                                  layout.corners[i].y, boxes[i].markup);
    for (const GraphLayout::Route &route : layout.routes)
      drawn.markup += fmt::format("<path class=\"way{}\" d=\"{}\" marker-end=\"url(#tip)\"/>\n",
                                  route.isBackward ? " back" : "", path(route.points));
    return drawn;
  }

  Drawn box(const ModelGraph::Node &node) {
    const NodeLabel label = labelOf(node, args_);
    double width = widthOf(shortened(label.title), 8.3);
    for (const std::string &line : label.lines)
      width = std::max(width, widthOf(shortened(line), 6.6));
    const BoxSize size{std::max(72.0, width + 2 * padding + 4),
                       titleHeight + lineHeight * static_cast<double>(label.lines.size()) + 8};
    std::string markup = tooltip(node);
    markup += fmt::format("<rect class=\"box{}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"6\"/>",
                          node.isOperation ? " operation" : "", size.width, size.height);
    markup += fmt::format("<rect class=\"dtype {}\" y=\"6\" width=\"4\" height=\"{:.1f}\"/>",
                          escaped(node.computeDtype), size.height - 12);
    markup += fmt::format("<text class=\"title\" x=\"{:.0f}\" y=\"20\">{}</text>", padding + 2,
                          escaped(shortened(label.title)));
    double y = 20;
    for (const std::string &line : label.lines)
      markup += fmt::format("<text class=\"faint\" x=\"{:.0f}\" y=\"{:.0f}\">{}</text>", padding + 2, y += lineHeight,
                            escaped(shortened(line)));
    return {std::move(markup), size};
  }

  Drawn frame(const ModelGraph::Node &node) {
    const Drawn inside = layers(*node.inside);
    const NodeLabel label = labelOf(node, args_);
    std::string text = label.title;
    for (const std::string &line : label.lines)
      text += "  ·  " + line;
    const BoxSize size{std::max(inside.size.width, widthOf(shortened(text), 8.3)) + 2 * framePadding,
                       inside.size.height + titleHeight + 2 * framePadding};
    std::string markup = tooltip(node);
    markup +=
        fmt::format("<rect class=\"frame\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"9\"/>", size.width, size.height);
    markup += fmt::format("<text class=\"title\" x=\"{:.0f}\" y=\"22\">{}</text>\n", padding, escaped(shortened(text)));
    markup += fmt::format("<g transform=\"translate({:.1f} {:.1f})\">\n{}</g>", (size.width - inside.size.width) / 2,
                          titleHeight + framePadding, inside.markup);
    return {std::move(markup), size};
  }

  std::string tooltip(const ModelGraph::Node &node) const {
    return fmt::format("<title>{} ({}): {} → {}, {}</title>", escaped(node.path), escaped(node.className),
                       escaped(node.inputShape), escaped(node.outputShape), escaped(node.computeDtype));
  }

  const PlotModelArgs &args_;
  Direction direction_;
};

} // namespace

NodeLabel labelOf(const ModelGraph::Node &node, const PlotModelArgs &args) {
  NodeLabel label{args.show_layer_names ? node.name : node.className, {}};
  std::string kind = args.show_layer_names && node.name != node.className ? node.className : "";
  if (args.show_layer_activations && !node.activation.empty())
    kind += (kind.empty() ? "" : " · ") + node.activation;
  if (!kind.empty())
    label.lines.push_back(kind);
  if (args.show_shapes)
    label.lines.push_back(node.outputShape == "?"               ? "shape not known"
                          : node.inputShape == node.outputShape ? node.outputShape
                                                                : node.inputShape + " → " + node.outputShape);
  if (args.show_dtype)
    label.lines.push_back(node.computeDtype);
  if (args.show_trainable && node.trainable != "-")
    label.lines.emplace_back(node.trainable == "Y" ? "trainable" : "not trainable");
  return label;
}

const std::string_view pictureStyle = R"(svg{--paper:#fff;--ink:#1d2129;--faint:#667085;--line:#c9ced8;--way:#8a93a3;
--box:#fbfbfd;--frame:#eef1f6;--c0:#3d6fd6;--c1:#d9822b;--c2:#2f9e77;--c3:#b04cc4;--c4:#c8443c;--c5:#5b8aa6;
font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;font-size:12px}
@media (prefers-color-scheme:dark){svg{--paper:#14171c;--ink:#e6e8ec;--faint:#98a2b3;--line:#3a414d;--way:#7b8494;
--box:#1d2229;--frame:#191d24;--c0:#7ea6ff;--c1:#f0a860;--c2:#5cc9a0;--c3:#d28be2;--c4:#f07f77;--c5:#8fbbd4}}
svg text{fill:var(--ink)}svg text.title{font-size:13px;font-weight:600}svg text.faint{fill:var(--faint)}
.box{fill:var(--box);stroke:var(--line)}.operation{stroke-dasharray:4 3}.frame{fill:var(--frame);stroke:var(--line)}
.way{fill:none;stroke:var(--way);stroke-width:1.3}.back{stroke-dasharray:5 4}marker path{fill:var(--way)}
.dtype{fill:var(--c5)}.float32,.float64{fill:var(--c0)}.bfloat16{fill:var(--c1)}.float16{fill:var(--c2)}
.float8_e4m3fn,.float8_e5m2{fill:var(--c3)}.paper{fill:var(--paper)}
.grid{stroke:var(--line);fill:none}.line path{fill:none;stroke-width:1.8;stroke-linejoin:round}.dashed path{stroke-dasharray:5 4}
.k0 path{stroke:var(--c0)}.k0 circle{fill:var(--c0)}.k1 path{stroke:var(--c1)}.k1 circle{fill:var(--c1)}
.k2 path{stroke:var(--c2)}.k2 circle{fill:var(--c2)}.k3 path{stroke:var(--c3)}.k3 circle{fill:var(--c3)}
.k4 path{stroke:var(--c4)}.k4 circle{fill:var(--c4)}.k5 path{stroke:var(--c5)}.k5 circle{fill:var(--c5)}
.span{stroke:var(--paper);stroke-width:.6;fill-opacity:.8}.span:not([class*=loat]){fill:var(--c5)}.span:hover{fill-opacity:1}
)";

std::string pictureFile(std::string svg) {
  svg.insert(
      svg.find('>') + 1,
      fmt::format("\n<style>\n{}</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>", pictureStyle));
  return svg;
}

std::string graphSvg(const ModelGraph &graph, const PlotModelArgs &args) { return Picture(args).draw(graph); }

} // namespace halftone::detail
