// Slices, single places and new axes: a slice of the whole rank first, then the places' axes go and new ones come.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/ops/GetItem.h"
#include "frontend/graph/Promotion.h"
#include "halftone/Error.h"
#include "halftone/Ops.h"
#include "runtime/base/Extents.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::detail {

namespace {

using Json = nlohmann::ordered_json;

bool isKind(const Json &item, const char *kind) {
  return item.is_object() && item.contains("class_name") && item["class_name"] == kind;
}

/// The places of a slice along an axis, as Python counts them.
struct Places {
  int64_t start, count, step;
};
Places placesOf(const Json &item, int64_t extent) {
  const Json config = item.value("config", Json::object());
  if (!config.is_object())
    throw Error(ErrorKind::not_implemented_error,
                fmt::format("a slice has the config {}; expected an object", config.dump()));
  const auto part = [&](const char *key) {
    const Json found = config.value(key, Json());
    if (!found.is_null() && !found.is_number_integer())
      throw Error(ErrorKind::not_implemented_error,
                  fmt::format("a slice has `{}` = {}; expected an integer or null", key, found.dump()));
    return found;
  };
  const Json given = part("step"), first = part("start"), last = part("stop");
  // A step beyond the axis takes the first place alone, whatever its length.
  const int64_t step = given.is_null() ? 1 : std::clamp<int64_t>(given.get<int64_t>(), -extent - 1, extent + 1);
  if (step == 0)
    throw Error(ErrorKind::value_error, "slice step cannot be zero");
  const int64_t lower = step > 0 ? 0 : -1, upper = step > 0 ? extent : extent - 1;
  const auto bound = [&](const Json &place, int64_t byDefault) {
    if (place.is_null())
      return byDefault;
    const int64_t index = place.get<int64_t>();
    return std::clamp(index < 0 ? index + extent : index, lower, upper);
  };
  const int64_t start = bound(first, step > 0 ? lower : upper), stop = bound(last, step > 0 ? upper : lower);
  const int64_t span = step > 0 ? stop - start : start - stop, stride = std::abs(step);
  return {start, std::max<int64_t>(0, (span + stride - 1) / stride), step};
}

/// The items of a key, with slices of everything in place of the ellipsis and behind the last item.
std::vector<Json> itemsOf(const Json &key, int64_t rank) {
  const Json list = key.is_array() ? key : Json::array({key});
  const Json whole = {{"class_name", "__slice__"}, {"config", Json::object()}};
  const auto isEllipsis = [](const Json &item) { return isKind(item, "__ellipsis__"); };
  const auto newAxes = std::ranges::count_if(list, [](const Json &item) { return item.is_null(); });
  const auto ellipses = std::ranges::count_if(list, isEllipsis);
  const int64_t missing = rank - (static_cast<int64_t>(list.size()) - newAxes - ellipses);
  if (missing < 0 || ellipses > 1)
    throw Error(ErrorKind::value_error, fmt::format("the key {} does not fit {} axes", key.dump(), rank));
  std::vector<Json> items;
  for (const Json &item : list)
    if (isEllipsis(item))
      items.insert(items.end(), static_cast<size_t>(missing), whole);
    else
      items.push_back(item);
  if (ellipses == 0)
    items.insert(items.end(), static_cast<size_t>(missing), whole);
  return items;
}

/// Every `step`-th place of an axis, maybe backwards.
Value strided(const Value &x, const Places &places, int64_t axis) {
  const int64_t stop = extentSum(places.start, extentProduct(places.step, places.count));
  return ops::take(x, ops::arange(places.start, stop, places.step, indexDtype(x.shape()[axis])), axis);
}

} // namespace

Value getItem(const Value &x, const Json &key) {
  const Shape shape = x.shape();
  std::vector<int64_t> start, extent, kept; // of the slice, and the result's shape
  std::vector<std::pair<int64_t, Places>> steps;
  for (const Json &item : itemsOf(key, shape.rank())) {
    const auto axis = static_cast<int64_t>(start.size());
    if (item.is_null()) {
      kept.push_back(1);
    } else if (item.is_number_integer()) {
      const int64_t index = item.get<int64_t>(), from = index < 0 ? index + shape[axis] : index;
      if (from < 0 || from >= shape[axis])
        throw Error(ErrorKind::value_error,
                    fmt::format("index {} is out of bounds for axis {} of shape {}", index, axis, shape.str()));
      start.push_back(from);
      extent.push_back(1);
    } else if (isKind(item, "__slice__")) {
      const Places places = placesOf(item, shape[axis]);
      const bool isWhole = places.step != 1 && places.count > 0; // the steps come later
      if (isWhole)
        steps.emplace_back(axis, places);
      start.push_back(isWhole ? 0 : std::clamp<int64_t>(places.start, 0, shape[axis] - places.count));
      extent.push_back(isWhole ? shape[axis] : places.count);
      kept.push_back(places.count);
    } else {
      throw Error(ErrorKind::not_implemented_error,
                  fmt::format("the key {} has an item that is no integer, slice, ellipsis or null", key.dump()));
    }
  }
  Value y = ops::slice(x, Shape(start), Shape(extent));
  for (const auto &[axis, places] : steps)
    y = strided(y, places, axis);
  return ops::reshape(y, Shape(kept));
}

} // namespace halftone::detail
