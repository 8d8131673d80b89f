// StackedRNNCells: the output of each cell is the input of the next.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/StackedCells.h"
#include "frontend/layers/FieldsRecurrent.h"
#include "frontend/layers/Wrapped.h"
#include <fmt/format.h>

namespace halftone::detail {

namespace {

Shape withBatch(const Shape &input, const Shape &shape) {
  std::vector<int64_t> dims{input[0]};
  dims.insert(dims.end(), shape.begin(), shape.end());
  return Shape(dims);
}

class StackedBody final : public CellBody, public MaskedCell {
public:
  explicit StackedBody(std::vector<Layer> cells) : cells_(std::move(cells)) {}
  const std::vector<Layer> &cells() const { return cells_; }

  void build(BuildContext &context, const std::vector<Shape> &shapes) override {
    Shape input = shapes.at(0);
    for (const Layer &cell : cells_) {
      buildPart(context, cell, input);
      input = withBatch(input, cellOf(cell).output_shape());
    }
  }
  std::vector<Shape> state_sizes() const override {
    std::vector<Shape> sizes;
    for (const Layer &cell : cells_)
      for (const Shape &size : cellOf(cell).state_sizes())
        sizes.push_back(size);
    return sizes;
  }
  Shape output_shape() const override { return cellOf(cells_.back()).output_shape(); }
  Values initial_states(int64_t batch, DType) const override {
    std::vector<Value> states;
    for (const Layer &cell : cells_) {
      const Values own = cellOf(cell).initial_states(batch, cell.compute_dtype());
      states.insert(states.end(), own.begin(), own.end());
    }
    return Values(states);
  }
  CellMasks drawMasks(const Shape &slice, const CallContext &context) const override {
    CellMasks masks;
    Shape input = slice;
    for (const Layer &cell : cells_) {
      masks.cells.push_back(masksOf(cell, input, context));
      input = withBatch(input, cellOf(cell).output_shape());
    }
    return masks;
  }
  Values advance(const Value &x, const Values &states, const CellMasks &masks, const CallContext &) override {
    std::vector<Value> outputs{x};
    size_t next = 0;
    for (size_t i = 0; i < cells_.size(); ++i) {
      const size_t count = cellOf(cells_[i]).state_sizes().size();
      std::vector<Value> own(states.begin() + next, states.begin() + next + count);
      std::vector<Value> made = callCell(cells_[i], outputs[0], own, masks.cells[i]);
      outputs[0] = made[0];
      outputs.insert(outputs.end(), made.begin() + 1, made.end());
      next += count;
    }
    return Values(outputs);
  }
  Values call(const Values &inputs, const CallContext &context) override {
    const Values states = statesOf(*this, inputs);
    return advance(inputs[0], states, drawMasks(inputs[0].shape(), context), context);
  }
  void get_config(Config &config) const override {
    nlohmann::ordered_json cells = nlohmann::ordered_json::array();
    for (const Layer &cell : cells_)
      cells.push_back(ConfigAccess::take(layers::serialize(cell)));
    ConfigAccess::set(config, "cells", std::move(cells));
  }

private:
  std::vector<Layer> cells_;
};

const StackedBody *stackedIn(const Layer &cell) { return dynamic_cast<const StackedBody *>(cell.impl()->body.get()); }

} // namespace

size_t indexOfOutput(const Layer &cell) {
  const StackedBody *stacked = stackedIn(cell);
  if (!stacked)
    return 0;
  const Layer &last = stacked->cells().back();
  return stacked->state_sizes().size() - cellOf(last).state_sizes().size() + indexOfOutput(last);
}

nlohmann::ordered_json nestedStates(const Layer &cell, size_t first) {
  nlohmann::ordered_json form = nlohmann::ordered_json::array();
  if (const StackedBody *stacked = stackedIn(cell)) {
    for (const Layer &each : stacked->cells()) {
      form.push_back(nestedStates(each, first));
      first += cellOf(each).state_sizes().size();
    }
    return form;
  }
  for (size_t i = 0; i < cellOf(cell).state_sizes().size(); ++i)
    form.push_back({{"input", first + i}});
  return form;
}

Config cellArguments(const Layer &cell) {
  nlohmann::ordered_json arguments;
  arguments["args"] = {{{"input", 0}}, nestedStates(cell, 1)};
  arguments["kwargs"] = nlohmann::ordered_json::object();
  return ConfigAccess::make(std::move(arguments));
}

} // namespace halftone::detail

namespace halftone::layers {
using namespace detail;

StackedRNNCells::StackedRNNCells(const std::vector<Layer> &cells, const LayerArgs &args, Where where)
    : Layer(std::make_unique<StackedBody>(cells), "StackedRNNCells", args, where) {
  if (cells.empty())
    throw Error(ErrorKind::value_error, "`cells` of StackedRNNCells is empty; expected at least one cell", name(),
                where);
  for (const Layer &cell : cells)
    (void)cellOf(cell);
}
std::vector<Layer> StackedRNNCells::cells() const { return stackedIn(*this)->cells(); }

} // namespace halftone::layers
