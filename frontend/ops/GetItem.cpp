// Slices, single indices and new axes: first a slice of full rank, then axes are removed and added.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/ops/GetItem.h"
#include "frontend/graph/Graph.h"
#include "frontend/graph/Promotion.h"
#include "halftone/Error.h"
#include "halftone/Ops.h"
#include "runtime/base/Extents.h"
#include <fmt/format.h>

namespace halftone::detail {

using Json = nlohmann::ordered_json;

static bool isKind(const Json &item, const char *kind) {
  return item.is_object() && item.contains("class_name") && item["class_name"] == kind;
}

static Slice sliceOf(const Json &item) {
  const Json config = item.value("config", Json::object());
  if (!config.is_object())
    throw Error(ErrorKind::not_implemented_error,
                fmt::format("a slice has the config {}; expected an object", config.dump()));
  const auto bound = [&](const char *key) -> Slice::Bound {
    const Json found = config.value(key, Json());
    if (found.is_null())
      return none;
    if (!found.is_number_integer())
      throw Error(ErrorKind::not_implemented_error,
                  fmt::format("a slice has `{}` = {}; expected an integer or null", key, found.dump()));
    return found.is_number_unsigned() ? Slice::Bound(found.get<uint64_t>()) : Slice::Bound(found.get<int64_t>());
  };
  return {bound("start"), bound("stop"), bound("step")};
}

static Index indexOf(const Json &item, const Json &key) {
  if (item.is_null())
    return newaxis;
  if (item.is_number_unsigned())
    return item.get<uint64_t>();
  if (item.is_number_integer())
    return item.get<int64_t>();
  if (isKind(item, "__slice__"))
    return sliceOf(item);
  if (isKind(item, "__ellipsis__"))
    return ellipsis;
  throw Error(ErrorKind::not_implemented_error,
              fmt::format("the key {} has an item that is not an integer, slice, ellipsis or null", key.dump()));
}

std::vector<Index> keyOf(const Json &key) {
  std::vector<Index> items;
  for (const Json &item : key.is_array() ? key : Json::array({key}))
    items.push_back(indexOf(item, key));
  return items;
}

static Json jsonOf(const Slice::Bound &bound) { return bound.given() ? Json(bound.place()) : Json(); }
static Json jsonOf(const Index &item) {
  switch (item.kind()) {
  case Index::Kind::place:
    return item.place();
  case Index::Kind::newaxis:
    return {};
  case Index::Kind::ellipsis:
    return {{"class_name", "__ellipsis__"}, {"config", Json::object()}};
  case Index::Kind::slice:
    break;
  }
  Json config;
  config["start"] = jsonOf(item.slice().start());
  config["stop"] = jsonOf(item.slice().stop());
  config["step"] = jsonOf(item.slice().step());
  return {{"class_name", "__slice__"}, {"config", std::move(config)}};
}

Json jsonOf(std::span<const Index> key) {
  if (key.size() == 1 && key[0].kind() == Index::Kind::place)
    return jsonOf(key[0]);
  Json items = Json::array();
  for (const Index &item : key)
    items.push_back(jsonOf(item));
  return items;
}

KeyRanges rangesOf(std::span<const Index> key, const Value &x) {
  return halftone::rangesOf(key, x.shape(), inferringShapes() ? isNonePlaceholder : nullptr);
}

/// Every `step`-th element of an axis, possibly backward.
static Value strided(const Value &x, const AxisRange &range, int64_t axis) {
  const int64_t stop = extentSum(range.start, extentProduct(range.step, range.count));
  return ops::take(x, ops::arange(range.start, stop, range.step, indexDtype(x.shape()[axis])), axis);
}

Value elementsAt(const Value &x, const std::vector<AxisRange> &axes) {
  std::vector<int64_t> start, extent; // of the slice, which includes axes with steps whole
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    const AxisRange &along = axes[axis];
    start.push_back(along.step == 1 ? along.start : 0);
    extent.push_back(along.step == 1 ? along.count : x.shape()[static_cast<int64_t>(axis)]);
  }
  Value y = ops::slice(x, Shape(std::move(start)), Shape(std::move(extent)));
  for (size_t axis = 0; axis < axes.size(); ++axis)
    if (axes[axis].step != 1)
      y = strided(y, axes[axis], static_cast<int64_t>(axis));
  return y;
}

Value getItem(const Value &x, std::span<const Index> key) {
  const KeyRanges ranges = rangesOf(key, x);
  return ops::reshape(elementsAt(x, ranges.axes), ranges.result());
}

} // namespace halftone::detail
