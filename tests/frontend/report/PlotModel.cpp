// Drawings of models as SVG and as DOT.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/report/ModelGraph.h"
#include "tests/TemporaryFolder.h"
#include "tests/frontend/report/Parsed.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <halftone/Halftone.h>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;

namespace {

/// Two inputs, a layer that is called twice, an operation, a nested model and two outputs.
Model branched() {
  Input left({4}, {.name = "left"}), right({4}, {.name = "right"});
  Dense shared(8, {.activation = "relu", .name = "shared"});
  Value h = ops::relu(Add({.name = "add"})({shared(left), shared(right)}));
  Sequential inner({Input({8}), Dense(5, {.name = "deep"}), Dense(6, {.name = "deeper"})}, {.name = "inner"});
  return Model({left, right}, {inner(h), Dense(3, {.trainable = false, .name = "kind"})(h)}, {.name = "branched"});
}

struct Holding {
  Dense dense{3, {.name = "held"}};
  Value call(const Value &x) { return dense(x); }
};

std::string plotted(const Model &model, const std::string &name, const PlotModelArgs &args = {}) {
  const TemporaryFolder folder;
  plot_model(model, folder / name, args);
  return readFile(folder / name);
}

} // namespace

TEST_CASE("a picture of a model is XML and has a box for each layer and a way for each connection") {
  const std::string svg = plotted(branched(), "model.svg", {.show_layer_names = true});
  const XmlFacts facts = parseXml(svg);
  CHECK(facts.attributes.contains("viewBox"));
  for (const char *name : {">left<", ">right<", ">shared<", ">add<", ">inner<", ">kind<"})
    CHECK_THAT(svg, Contains(name));
  CHECK_THAT(svg, !Contains(">deep<")); // inside a nested model, which is not expanded
  CHECK(countOf(svg, "class=\"box") == 7);
  CHECK(countOf(svg, "class=\"way") == 6); // both inputs, shared to add, add to relu, relu to inner and kind
  CHECK_THAT(svg, Contains("prefers-color-scheme:dark"));
}

TEST_CASE("each argument of plot_model adds its fact to SVG and to DOT") {
  const Model model = branched();
  for (const char *file : {"model.svg", "model.dot"}) {
    CAPTURE(file);
    const auto with = [&](const PlotModelArgs &args) {
      std::string text = plotted(model, file, args);
      for (size_t at; (at = text.find("<title>")) != std::string::npos;) // tooltips contain all facts
        text.erase(at, text.find("</title>") - at + 8);
      return text;
    };
    CHECK_THAT(with({}), !Contains("shared") && Contains("Dense") && !Contains("(None, 8)") && !Contains(">float32"));
    CHECK_THAT(with({.show_shapes = true}), Contains("(None, 4) → (None, 8)"));
    CHECK_THAT(with({.show_dtype = true}), Contains(">float32"));
    CHECK_THAT(with({.show_layer_names = true}), Contains("shared"));
    CHECK_THAT(with({.show_layer_activations = true}), Contains(">relu"));
    CHECK_THAT(with({.show_trainable = true}), Contains(">not trainable") && Contains(">trainable"));
    CHECK_THAT(with({.show_layer_names = true, .expand_nested = true}), Contains("deeper"));
  }
  CHECK_THAT(plotted(model, "model.dot", {.rankdir = "LR"}), Contains("rankdir=LR"));
  CHECK(plotted(model, "a.svg", {.rankdir = "LR"}) != plotted(model, "a.svg", {.rankdir = "RL"}));
}

TEST_CASE("a nested model becomes a cluster of DOT at which edges end") {
  const std::string dot = plotted(branched(), "model.dot", {.show_layer_names = true, .expand_nested = true});
  CHECK(dot.starts_with("digraph {"));
  CHECK_THAT(dot, Contains("subgraph cluster_0 { label=<<b>inner</b>") && Contains("lhead=\"cluster_0\""));
  CHECK(countOf(dot, "{") == countOf(dot, "}"));
}

TEST_CASE("names with characters of markup are escaped in pictures") {
  Sequential model({Input({2}), Dense(1, {.name = "a<b>&\"c\" Ünïcode 層"})}, {.name = "]]><script>"});
  const std::string svg = plotted(model, "m.svg", {.show_layer_names = true});
  parseXml(svg);
  CHECK_THAT(svg, Contains("a&lt;b&gt;&amp;&quot;c&quot; Ünïcode 層") && !Contains("<script>"));
  CHECK_THAT(plotted(model, "m.dot", {.show_layer_names = true}),
             Contains("<b>a&lt;b&gt;&amp;&quot;c&quot; Ünïcode 層</b>") && !Contains("<script>"));
}

TEST_CASE("models without a graph are drawn as their layers, with the reason") {
  Model custom(Holding{}, {.name = "own"});
  CHECK_THAT(plotted(custom, "m.svg"), Contains("not been called yet"));
  static_cast<void>(custom(Tensor::zeros(Shape{{2, 4}})));
  const std::string svg = plotted(custom, "m.svg", {.show_layer_names = true});
  parseXml(svg);
  CHECK_THAT(svg, Contains(">held<") && Contains("it has no graph of connections"));
  CHECK_THAT(plotted(custom, "m.dot"), Contains("it has no graph of connections"));
  const std::string empty = plotted(Sequential({}, {.name = "empty"}), "m.svg");
  parseXml(empty);
  CHECK(countOf(empty, "class=\"box") == 0);
  const std::string unbuilt = plotted(Sequential({Dense(2), Dense(1)}), "m.svg", {.show_shapes = true});
  CHECK(countOf(unbuilt, "class=\"box") == 2);
  CHECK(countOf(unbuilt, "class=\"way") == 1);
  CHECK_THAT(unbuilt, Contains("shape not known"));
}

TEST_CASE("a layer that is called again on its own result has a way that leads back") {
  Input x({4}, {.name = "x"});
  Dense twice(4, {.name = "twice"}), between(4, {.name = "between"});
  Model model({x}, {twice(between(twice(x)))});
  const std::string svg = plotted(model, "m.svg", {.show_layer_names = true});
  parseXml(svg);
  CHECK(countOf(svg, "class=\"box") == 3);
  CHECK(countOf(svg, "class=\"way back\"") == 1);
}

TEST_CASE("plot_model refuses other endings and directions, and leaves no file") {
  const TemporaryFolder folder;
  const Sequential model({Input({2}), Dense(1)});
  CHECK_THROWS_WITH(plot_model(model, folder / "m.png"),
                    Contains("must end with .svg or .dot, got") && Contains("m.png"));
  CHECK_THROWS_WITH(plot_model(model, folder / "m.svg", {.rankdir = "XY"}),
                    Contains("`rankdir`") && Contains("\"XY\""));
  CHECK_THROWS_WITH(plot_model(model, folder / "none/m.svg"), Contains("none/m.svg"));
  CHECK(folder.entries() == 0);
}

TEST_CASE("a picture of 800 layers with long connections has ways of bounded length each") {
  Input x({4});
  Value h = x;
  for (int i = 0; i < 400; ++i)
    h = Add()({h, Dense(4)(h)});
  const std::string svg = plotted(Model({x}, {h}), "m.svg");
  parseXml(svg);
  CHECK(countOf(svg, "class=\"box") == 801);
  CHECK(countOf(svg, "class=\"way") == 1200);
  CHECK(svg.size() < 801 * 1000);
}

TEST_CASE("charts stand side by side, with gaps for points that are not finite and ticks inside the range") {
  const TemporaryFolder folder;
  const double nan = std::nan("");
  plot_charts({{"loss <a>", "minutes", {{"bf16", {{0, 2}, {1, nan}, {2, 0.5}, {3, 9}}, true, 7}}, std::pair(0.0, 4.0)},
               {"one point", "epoch", {{"x", {{3, 5}}}}},
               {"nothing", "epoch", {{"x", {{0, nan}}}}},
               {"extremes", "step", {{"x", {{0, -1e308}, {1, 1e308}, {2, 5e-324}, {3, 1e299}}, false, -1}}}},
              folder / "c.svg");
  const std::string svg = readFile(folder / "c.svg");
  parseXml(svg);
  CHECK_THAT(svg, Contains("loss &lt;a&gt;") && Contains("x=\"470\"") && Contains("x=\"1410\"") && !Contains("nan"));
  CHECK_THAT(svg, !Contains("=\"inf") && Contains("no finite value") && Contains("class=\"line k1 dashed\"") &&
                      Contains("class=\"line k5\""));
  CHECK_THAT(svg, Contains("M66.0 130.0M318.0 202.0L444.0 34.0")); // a gap; the last value is at the edge
  CHECK_THROWS_WITH(plot_charts({}, folder / "c.png"), Contains("must end with .svg"));
  plot_charts({}, folder / "none.svg");
  parseXml(readFile(folder / "none.svg"));
}
