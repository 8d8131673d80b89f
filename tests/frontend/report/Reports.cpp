// The table of summary(), in the layout of Keras 3.15.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <sstream>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;

namespace {

std::vector<std::string> connections(const SummaryReport &report) {
  std::vector<std::string> found;
  for (const SummaryReport::Row &row : report.rows)
    found.push_back(row.connected_to);
  return found;
}
using Strings = std::vector<std::string>;

struct Holding {
  Dense dense{3, {.name = "dense"}};
  Value call(const Value &x) { return dense(x); }
};
struct Pair {
  Dense inner{3, {.name = "inner"}};
  Values call(const Values &x, const CallContext &) { return {inner(x[0]), x[0]}; }
};

} // namespace

TEST_CASE("the summary of a graph that is no chain says which layers are connected") {
  Input left({4}, {.name = "left"}), right({4}, {.name = "right"});
  Dense shared(8, {.name = "shared"});
  Value h = Add({.name = "add"})({shared(left), shared(right)});
  Model model({left, right}, {Dense(1, {.name = "amount"})(h), Dense(3, {.name = "kind"})(ops::relu(h) + h)},
              {.name = "tickets"});
  SummaryReport report = model.summary({.show_policy = false});
  CHECK(connections(report) ==
        Strings{"-", "-", "left[0][0], right[0][0]", "shared[0][0], shared[1][0]", "add[0][0]", "add[0][0]"});
  CHECK_THAT(report.text(),
             Contains("┃ Layer (type)       ┃ Output Shape ┃ Param # ┃ Connected to               ┃\n") &&
                 Contains("│ shared (Dense)     │ (None, 8)    │      40 │ left[0][0], right[0][0]    │\n") &&
                 Contains("│ left (InputLayer)  │ (None, 4)    │       0 │ -                          │\n"));
  CHECK_THAT(report.json(), Contains("\"connected_to\":\"shared[0][0], shared[1][0]\""));
  // The second output of a layer. A layer called in another graph continues to count its calls.
  Input x({4}, {.name = "x"});
  Values both = Custom(Pair{}, {.name = "pair"}).outputs(x);
  Model two({x}, {Concatenate(-1, {.name = "cat"})({both[1], shared(both[1]), both[0]})});
  CHECK(connections(two.summary()) == Strings{"-", "x[0][0]", "pair[0][1]", "pair[0][1], shared[2][0], pair[0][0]"});
  CHECK(two.summary().rows[1].output_shape == "[(None, 3), (None, 4)]");
}

TEST_CASE("the summary of a chain has no column of connections") {
  Input x({4});
  Model chain({x}, {Dense(1)(Dense(2)(x))});
  CHECK(connections(chain.summary()) == Strings{"", "", ""});
  CHECK_THAT(chain.summary().text(), !Contains("Connected to"));
  CHECK_THAT(Sequential({Input({4}), Dense(1)}).summary().text(), !Contains("Connected to"));
  Dense twice(4, {.name = "twice"});
  Model shared({x}, {twice(twice(x))});
  CHECK(connections(shared.summary())[1].ends_with("[0][0], twice[0][0]"));
}

TEST_CASE("nested models are indented, bytes stand beside counts") {
  Sequential inner({Input({4}), Dense(8, {.name = "a"}), BatchNormalization({.name = "bn"})}, {.name = "inner"});
  Sequential middle({inner, Dense(2, {.name = "deep"})}, {.name = "middle"});
  Sequential outer({Input({4}), middle, Dense(1, {.name = "out"})}, {.name = "outer"});
  std::string text = outer.summary({.expand_nested = true, .show_policy = false}).text();
  CHECK_THAT(text, Contains("│ middle (Sequential)             │ (None, 2)    │      90 │\n") &&
                       Contains("│    └ inner (Sequential)         │ (None, 8)    │      72 │\n") &&
                       Contains("│       └ a (Dense)               │ (None, 8)    │      40 │\n") &&
                       Contains("│       └ bn (BatchNormalization) │ (None, 8)    │      32 │\n") &&
                       Contains("│    └ deep (Dense)               │ (None, 2)    │      18 │\n") &&
                       Contains("│ out (Dense)                     │ (None, 1)    │       3 │\n"));
  CHECK_THAT(text, Contains(" Total params: 93 (372.00 B)\n Trainable params: 77 (308.00 B)\n Non-trainable params: 16 "
                            "(64.00 B)\n"));
  CHECK_THAT(outer.summary().text(), !Contains("└ "));

  outer.compile({.optimizer = "adam", .loss = "mse"});
  CHECK_THAT(outer.summary().text(), !Contains("Optimizer params")); // it has no slot variables yet
  CHECK_THAT(outer.summary().text(), !Contains("Training step"));
  outer.fit(Tensor::ones({4, 4}), Tensor::ones({4, 1}), {.verbose = 0});
  SummaryReport report = outer.summary();
  CHECK_THAT(report.text(),
             Contains(" Total params: 249 (996.00 B)\n") && Contains(" Optimizer params: 156 (624.00 B)\n"));
  CHECK(report.bytes == 996);
  CHECK(report.trainable_bytes == 308);
  CHECK(report.optimizer_bytes == 624);
  CHECK_THAT(outer.ir(Stage::plan, {.program = Program::train, .batch_size = 4}),
             Contains("arena " + std::to_string(report.training_step_bytes) + " bytes"));
  CHECK_THAT(report.text(), Contains(" Training step: ") && Contains(" besides variables and data\n"));
  CHECK_THAT(report.json(), Contains("\"training_step_bytes\":" + std::to_string(report.training_step_bytes)));
  PolicyScope scope("float16");
  CHECK_THAT(Sequential({Input({2}), Dense(3)}).summary().text(), Contains("Trainable params: 9 (18.00 B)"));
}

TEST_CASE("unknown extents read None, known batches their size") {
  Input x({none, 4}, {.batch_size = 8});
  Model model({x}, {Custom(Holding{}, {.name = "custom"})(x)});
  SummaryReport report = model.summary({.expand_nested = true});
  CHECK(report.rows[0].output_shape == "(8, None, 4)");
  CHECK(report.rows[1].output_shape == "(8, None, 3)");
  CHECK(report.rows.back().output_shape == "(None, None, 3)");
  Sequential unbuilt({Dense(3)});
  CHECK_THAT(unbuilt.summary().text(), Contains("│ ?            │ 0 (unbuilt) │"));
}

namespace {

Sequential net() {
  layers::Dense frozen(3, {.name = "frozen"});
  Sequential model({layers::Input({4}), layers::Dense(8, {.name = "a_layer_with_a_long_name_über"}), frozen,
                    layers::ReLU({.name = "relu"})},
                   {.name = "net"});
  frozen.set_trainable(false);
  return model;
}
std::vector<std::string> tableOf(const std::string &text) { // without the lines before and after the table
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    if (!line.starts_with(" ") && !line.starts_with("Model"))
      lines.push_back(line);
  return lines;
}
int64_t columns(const std::string &line) {
  return std::ranges::count_if(line, [](char c) { return (c & 0xC0) != 0x80; });
}
/// The text in the cells of a table, without rules, blanks and line breaks.
std::string letters(const std::vector<std::string> &table) {
  std::string all;
  for (const std::string &line : table)
    for (char c : line)
      if (static_cast<signed char>(c) > ' ')
        all += c;
  std::ranges::sort(all);
  return all;
}

} // namespace

TEST_CASE("show_trainable says of each layer with weights whether they train") {
  Sequential model = net();
  CHECK_THAT(model.summary().text(), !Contains("Trainable ┃"));
  SummaryReport report = model.summary({.show_trainable = true});
  std::vector<std::string> flags;
  for (const SummaryReport::Row &row : report.rows)
    flags.push_back(row.trainable);
  CHECK(flags == std::vector<std::string>{"Y", "N", "-"});
  CHECK_THAT(report.text(), Contains("┃ Trainable ┃") && Contains("│ Y         │") && Contains("│ N         │") &&
                                Contains("│ -         │"));
}

TEST_CASE("line_length is how wide the table is; what is wider goes on in the next line") {
  Sequential model = net();
  const std::vector<std::string> natural = tableOf(model.summary().text());
  for (int64_t length : {60, 72, 100, 140}) {
    INFO(length);
    const std::vector<std::string> table = tableOf(model.summary({.line_length = length}).text());
    for (const std::string &line : table)
      CHECK(columns(line) == length);
    CHECK(letters(table) == letters(natural));
    CHECK((table.size() > natural.size()) == (length < columns(natural[0])));
  }
  const std::string narrow = model.summary({.line_length = 40, .show_policy = false}).text();
  CHECK_THAT(narrow, Contains("│ (Dense)     │") && Contains("│ a_layer_wit │"));
  CHECK_THROWS_WITH(model.summary({.line_length = 20}).text(),
                    Contains("ValueError: Insufficient console width to print summary. Received: line_length=20"));
}

TEST_CASE("show_policy adds and removes its columns") {
  Sequential model = net();
  CHECK_THAT(model.summary().text(), Contains("Policy") && Contains("Compute") && Contains("Variable"));
  CHECK_THAT(model.summary({.show_policy = false}).text(), !Contains("Policy"));
}
