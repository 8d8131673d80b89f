// Keys of tensors: views along axis 0, copies for other keys, rows, and keys that fit no axis.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Error.h"
#include "halftone/Tensor.h"
#include "runtime/devices/Registry.h"
#include "tests/runtime/devices/FarDevice.h"
#include <algorithm>
#include <catch2/catch.hpp>

using namespace halftone;
using Catch::Contains;
using Ints = std::vector<int32_t>;

namespace {
template <class Function> std::string errorOf(Function function) {
  try {
    function();
  } catch (const Error &error) {
    return error.what();
  }
  return "no error";
}
Tensor counted(const Shape &shape) {
  Ints numbers(static_cast<size_t>(shape.elements()));
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<int32_t>(i);
  return Tensor(std::move(numbers), shape);
}
Ints elements(const Tensor &tensor) { return tensor.to_vector<int32_t>(); }
} // namespace

TEST_CASE("A place or a slice of axis 0 alone is a view, and any other key a copy") {
  Tensor t = counted({3, 2});
  for (Tensor view : {t[1], t[-2], t[Slice(1, 2)], t[{1}], t[{Slice(1, none)}], t[Slice(1, none, 1)]}) {
    CHECK(view.span<int32_t>().data() == t.span<int32_t>().data() + 2);
    CHECK(view.shape()[-1] == 2);
  }
  CHECK(t[1].shape() == Shape{2});
  const Tensor all = t[Slice()];
  CHECK(all.span<int32_t>().data() == t.span<int32_t>().data());
  Tensor row = t[1];
  row.mutable_span<int32_t>()[0] = 20;
  CHECK(elements(t) == Ints{0, 1, 20, 3, 4, 5});
  for (Tensor copy :
       {t[{1, Slice()}], t[{1, ellipsis}], t[ellipsis], t[{newaxis, 1}], t[Slice(none, none, 2)], t[{}]}) {
    copy.mutable_span<int32_t>()[0] = 77;
    CHECK(elements(t) == Ints{0, 1, 20, 3, 4, 5});
  }
}

TEST_CASE("Keys of a tensor take the elements that NumPy's do") {
  const Tensor t = counted({2, 3, 4});
  const auto check = [](const Tensor &found, const Shape &shape, const Ints &expected) {
    CHECK(found.shape() == shape);
    CHECK(elements(found) == expected);
  };
  check(t[{1, 2, 3}], {}, {23});
  check(t[{Slice(), 0}], {2, 4}, {0, 1, 2, 3, 12, 13, 14, 15});
  check(t[{ellipsis, -1}], {2, 3}, {3, 7, 11, 15, 19, 23});
  check(t[{0, Slice(1, none), Slice(none, none, 2)}], {2, 2}, {4, 6, 8, 10});
  check(t[{Slice(none, none, -1), 0, Slice(none, -2)}], {2, 2}, {12, 13, 0, 1});
  check(t[{1, newaxis, Slice(none, none, -2), newaxis, 0}], {1, 2, 1}, {20, 12});
  check(t[{0, 0, Slice(-1, 0, -1)}], {3}, {3, 2, 1});
  check(t[{0, 0, Slice(-100, 100)}], {4}, {0, 1, 2, 3});
  check(t[{0, 0, Slice(100, -100, -3)}], {2}, {3, 0});
  check(t[{0, 0, Slice(1, none, INT64_MAX)}], {1}, {1});
  check(t[{0, 0, Slice(none, none, INT64_MIN)}], {1}, {3});
  check(t[{Slice(), Slice(2, 1)}], {2, 0, 4}, {});
  check(t[Slice(2, 2)], {0, 3, 4}, {});
  check(t[Slice(5, 1, -1)], {0, 3, 4}, {});
  check(counted({0, 3})[{Slice(), 1}], {0}, {});
  check(counted({0, INT64_MAX})[{Slice(), Slice(none, none, 2)}], {0, int64_t(1) << 62}, {});
  check(counted({0, INT64_MAX})[{Slice(), Slice(INT64_MAX, none, INT64_MIN)}], {0, 1}, {});
  check(counted({3, 0})[1], {0}, {});
  check(counted({})[ellipsis], {}, {0});
  check(counted({})[newaxis], {1}, {0});
  check(counted({})[{}], {}, {0});
  const Tensor flags({{1, 0, 1}, {0, 0, 1}}, bool_), wide({{1, 2, 3}, {4, 5, 6}}, float64);
  CHECK(flags[{Slice(), 2}].to_vector<bool>() == std::vector<bool>{true, true});
  CHECK(wide[{Slice(), Slice(none, none, -2)}].to_vector<double>() == std::vector<double>{3, 1, 6, 4});
}

TEST_CASE("Keys that fit no axis are value errors that say what was expected") {
  const Tensor t = counted({2, 3});
  CHECK_THAT(errorOf([&] { (void)t[2]; }), Contains("ValueError: index 2 is out of bounds for axis 0 of shape (2, 3)"));
  CHECK_THAT(errorOf([&] { (void)t[{0, -4}]; }), Contains("index -4 is out of bounds for axis 1 of shape (2, 3)"));
  CHECK_THAT(errorOf([&] { (void)t[INT64_MIN]; }), Contains("out of bounds"));
  CHECK_THAT(errorOf([&] { (void)t[{0, 0, 0}]; }),
             Contains("the key [0, 0, 0] has 3 items for axes, but the shape (2, 3) has 2 axes"));
  CHECK_THAT(errorOf([&] { (void)t[{0, newaxis, Slice(1, none, -2), ellipsis, Slice()}]; }),
             Contains("the key [0, None, 1::-2, ..., :] has 3 items"));
  CHECK_THAT(errorOf([&] { (void)t[{ellipsis, 0, ellipsis}]; }),
             Contains("the key [..., 0, ...] has more than one ellipsis"));
  CHECK_THAT(errorOf([&] { (void)t[Slice(none, none, 0)]; }), Contains("ValueError: slice step cannot be zero"));
  CHECK_THAT(errorOf([&] { (void)t[uint64_t(INT64_MAX) + 1]; }), Contains("ValueError: an index of a key is"));
  CHECK_THAT(errorOf([&] { (void)t[Slice(0, uint64_t(INT64_MAX) + 1)]; }),
             Contains("ValueError: a bound of a slice is"));
  CHECK_THAT(errorOf([] { (void)counted({})[0]; }), Contains("the shape () has 0 axes"));
  CHECK_THAT(errorOf([] { (void)counted({0})[0]; }), Contains("out of bounds for axis 0"));
  CHECK_THAT(errorOf([] { (void)Tensor()[0]; }), Contains("ValueError: The tensor is undefined"));
  Tensor gone = counted({2});
  const Tensor taken = std::move(gone);
  CHECK_THAT(errorOf([&] { (void)gone[0]; }), Contains("ValueError: The tensor is undefined"));
}

TEST_CASE("A tensor is the range of its rows") {
  Tensor t = counted({3, 2});
  std::vector<Ints> rows;
  for (const Tensor &row : t)
    rows.push_back(elements(row));
  CHECK(rows == std::vector<Ints>{{0, 1}, {2, 3}, {4, 5}});
  for (Tensor row : t) // rows are views
    row.mutable_span<int32_t>()[1] = 9;
  CHECK(elements(t) == Ints{0, 9, 2, 9, 4, 9});
  int count = 0;
  for (const Tensor &row : counted({2, 3}).reshape({3, 2})) // a temporary
    count += static_cast<int>(row.size());
  CHECK(count == 6);
  for (const Tensor &row : t) { // the range is unchanged when the handle gets other data
    t = Tensor();
    count += static_cast<int>(row.size());
  }
  CHECK(count == 12);
  CHECK(std::input_iterator<Tensor::iterator>);
  CHECK(std::ranges::distance(counted({0, 2})) == 0);
  for (const Tensor &element : counted({2}))
    CHECK(element.shape() == Shape{});
  CHECK_THAT(errorOf([] {
               for (const Tensor &row : counted({}))
                 (void)row;
             }),
             Contains("ValueError") && Contains("rank 0"));
  CHECK_THAT(errorOf([] {
               for (const Tensor &row : Tensor())
                 (void)row;
             }),
             Contains("ValueError: The tensor is undefined"));
  CHECK_THAT(errorOf([] { (void)*Tensor::iterator(); }), Contains("ValueError: The tensor is undefined"));
  CHECK_THAT(errorOf([] { (void)*counted({2}).end(); }), Contains("ValueError: index 2 is out of bounds"));
}

TEST_CASE("On a device keys give views, and no copies") {
  const auto far = test::FarDevice::create("cuda:92");
  REQUIRE(addDevice(far).isOk());
  const Device device = Device::cuda(92);
  const Tensor t = counted({3, 2}).to(device);
  CHECK(t[1].device() == device);
  CHECK(elements(t[1]) == Ints{2, 3});
  CHECK(elements(t[Slice(-2, none)]) == Ints{2, 3, 4, 5});
  int rows = 0;
  for (const Tensor &row : t)
    rows += row.device() == device ? 1 : 0;
  CHECK(rows == 3);
  CHECK_THAT(errorOf([&] { (void)t[{0, 1}]; }), Contains("DeviceError") && Contains("to(Device::cpu())"));
  CHECK_THAT(errorOf([&] { (void)t[{0, 2}]; }), Contains("ValueError")); // the key first
  removeDevice("cuda:92");
}

TEST_CASE("Strings have keys, rows and views as numbers have") {
  using Words = std::vector<std::string>;
  const Tensor t(Words{"a", "b", "c", "d", "e", "f"}, {2, 3});
  CHECK(t[1].to_vector<std::string>() == Words{"d", "e", "f"});
  CHECK(t[{0, 2}].to_vector<std::string>() == Words{"c"});
  CHECK(t[{Slice(), Slice(none, none, -2)}].to_vector<std::string>() == Words{"c", "a", "f", "d"});
  CHECK(t[{Slice(), Slice(1, 1)}].shape() == Shape{2, 0});
  Words rows;
  for (const Tensor &row : t)
    rows.push_back(row.to_vector<std::string>()[0]);
  CHECK(rows == Words{"a", "d"});
  CHECK(t.reshape({3, none})[1].to_vector<std::string>() == Words{"c", "d"});
  CHECK(t.slice(1, 2)[0][2].to_vector<std::string>() == Words{"f"});
}
