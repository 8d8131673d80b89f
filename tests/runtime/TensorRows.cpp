// Tensors of braced rows, of vectors of each type, and of tensors concatenated along an axis.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Error.h"
#include "halftone/Tensor.h"
#include "runtime/devices/Registry.h"
#include "tests/runtime/devices/FarDevice.h"
#include <catch2/catch.hpp>
#include <limits>
#include <sstream>

using namespace halftone;
using Catch::Contains;

namespace {
template <class Function> std::string errorOf(Function function) {
  try {
    function();
  } catch (const Error &error) {
    return error.what();
  }
  return "no error";
}
template <class T> std::vector<T> elements(const Tensor &tensor) { return tensor.to_vector<T>(); }
/// 0, 1, 2, ...
Tensor counted(const Shape &shape) {
  std::vector<int32_t> numbers(static_cast<size_t>(shape.elements()));
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<int32_t>(i);
  return Tensor(std::move(numbers), shape);
}
using Floats = std::vector<float>;
using Ints = std::vector<int32_t>;
template <class Argument> constexpr bool takesNumbers = requires(void (*f)(Argument)) { f({{0, 0}, {0, 1}}); };
} // namespace

TEST_CASE("Numbers in braces are float32 rows, of any depth") {
  const Tensor two{{1, 2}, {3, 4}}, one({1, 2, 3}), reals{1.0, 2.5}, deep({{{1}, {2}}, {{3}, {4}}}), single({{1}});
  CHECK(two.shape() == Shape{2, 2});
  CHECK(two.dtype() == float32);
  CHECK(elements<float>(two) == Floats{1, 2, 3, 4});
  CHECK(one.shape() == Shape{3});
  CHECK(elements<float>(reals) == Floats{1, 2.5});
  CHECK(deep.shape() == Shape{2, 2, 1});
  CHECK(elements<float>(deep) == Floats{1, 2, 3, 4});
  CHECK(single.shape() == Shape{1, 1});
  CHECK(Tensor({1, 2, 3, 4}, {2, 2}).shape() == Shape{2, 2}); // data and shape
  CHECK(Tensor({{}, {}}, int32).shape() == Shape{2, 0});
  CHECK(elements<float>(Tensor({true, 2U, -3L, 0.5F})) == Floats{1, 2, -3, 0.5});
  CHECK_FALSE(Tensor{}.defined());
}

TEST_CASE("Numbers in braces are exact in the dtype that is named") {
  const int64_t large = (int64_t(1) << 53) + 1;
  CHECK(elements<int64_t>(Tensor({{large}, {-large}}, DType::int64)) == std::vector<int64_t>{large, -large});
  CHECK(elements<uint64_t>(Tensor({UINT64_MAX, uint64_t(0)}, DType::uint64)) == std::vector<uint64_t>{UINT64_MAX, 0});
  CHECK(elements<int64_t>(Tensor({INT64_MIN, INT64_MAX}, DType::int64)) == std::vector<int64_t>{INT64_MIN, INT64_MAX});
  CHECK(elements<bool>(Tensor({1, 0, 0.5}, bool_)) == std::vector<bool>{true, false, true});
  CHECK(elements<int32_t>(Tensor({2.0, -1.0}, int32)) == Ints{2, -1});
  CHECK(elements<double>(Tensor({0.1, 1e300}, float64)) == std::vector<double>{0.1, 1e300});
  CHECK(Tensor({0.1}, bfloat16).item() == static_cast<double>(static_cast<float>(bfloat16_t(0.1F))));
  CHECK(Tensor({0.1}, float8_e5m2).item() == 0.09375);
  CHECK(Tensor({large}, float32).item() == 0x1p53);
}

TEST_CASE("Rows in braces that differ, and numbers that the dtype does not hold, are value errors") {
  CHECK_THAT(errorOf([] { (void)Tensor({{1, 2}, {3}}); }),
             Contains("ValueError") && Contains("[1] has 1 elements; expected 2"));
  CHECK_THAT(errorOf([] { (void)Tensor({{{1}, {2}}, {{3}, {4, 5}}}); }), Contains("[1][1] has 2 elements; expected 1"));
  CHECK_THAT(errorOf([] { (void)Tensor({{1, 2}, 3}); }), Contains("[1] is a number; expected a row"));
  CHECK_THAT(errorOf([] { (void)Tensor({1, {2}}); }), Contains("[1] is a row; expected a number"));
  CHECK_THAT(errorOf([] { (void)Tensor({{}, {1}}); }), Contains("[1] has 1 elements; expected 0"));
  const auto refused = [](std::initializer_list<Rows> rows, DType dtype, const char *number) {
    CHECK_THAT(errorOf([&] { (void)Tensor(rows, dtype); }),
               Contains("ValueError") && Contains(std::string(name(dtype)) + " cannot represent " + number));
  };
  refused({0, 256}, uint8, "256");
  refused({-1}, DType::uint64, "-1");
  refused({UINT64_MAX}, DType::int64, "18446744073709551615");
  refused({1.5}, int32, "1.5");
  refused({std::numeric_limits<double>::quiet_NaN()}, int32, "nan");
  refused({std::numeric_limits<double>::infinity()}, int8, "inf");
  CHECK_THAT(errorOf([] { (void)Tensor({1, 2}, DType::string); }), Contains("TypeError"));
}

TEST_CASE("Rows in braces are no argument that is a Tensor: a list of lists there means several tensors") {
  CHECK_FALSE(takesNumbers<Tensor>);
  CHECK_FALSE(takesNumbers<Tensors>);
  CHECK_FALSE(std::convertible_to<std::vector<float>, Tensor>);
}

TEST_CASE("A vector of each arithmetic type is a tensor of its dtype, of one axis without a shape") {
  const auto check = [](auto vector, DType dtype) {
    const size_t size = vector.size();
    const Tensor tensor(vector), shaped(vector, {size, 1});
    CHECK(tensor.dtype() == dtype);
    CHECK(tensor.shape() == Shape{size});
    CHECK(shaped.shape() == Shape{size, 1});
    CHECK(tensor.to_vector<typename decltype(vector)::value_type>() == vector);
  };
  check(std::vector<float>{1, 2}, float32);
  check(std::vector<double>{1, 2}, float64);
  check(std::vector<signed char>{1, -2}, int8);
  check(std::vector<unsigned char>{1, 255}, uint8);
  check(std::vector<short>{1, -2}, int16);
  check(std::vector<unsigned short>{1, 65535}, uint16);
  check(std::vector<int>{1, -2}, int32);
  check(std::vector<unsigned>{1, UINT32_MAX}, uint32);
  check(std::vector<long>{1, INT64_MIN}, DType::int64);
  check(std::vector<unsigned long>{1, UINT64_MAX}, DType::uint64);
  check(std::vector<long long>{1, -2}, DType::int64);
  check(std::vector<unsigned long long>{1, 2}, DType::uint64);
  check(std::vector<size_t>{}, DType::uint64);
  check(std::vector<bool>{true, false, true}, bool_);
  check(std::vector<bool>{}, bool_);
  CHECK(Tensor(std::vector<float16_t>{float16_t(0.1F)}).dtype() == float16);
  CHECK(Tensor(std::vector<bfloat16_t>{bfloat16_t(0.1F)}).dtype() == bfloat16);
  CHECK_THAT(errorOf([] { (void)Tensor(std::vector<bool>{true}, {2}); }), Contains("ValueError"));
}

TEST_CASE("item() is the one element as a number, of each dtype") {
  for (const DType dtype : {bool_, uint8, uint16, uint32, DType::uint64, int8, int16, int32, DType::int64, float16,
                            bfloat16, float32, float64, float8_e4m3fn, float8_e5m2})
    CHECK(Tensor::ones({1, 1}, dtype).item() == 1.0);
  CHECK(Tensor({-2.5}, float8_e4m3fn).item() == -2.5);
  CHECK(Tensor::scalar(int64_t(-7)).item() == -7.0);
  CHECK_THAT(errorOf([] { (void)Tensor({1, 2}).item(); }), Contains("ValueError") && Contains("(2,)"));
  CHECK_THAT(errorOf([] { (void)Tensor::zeros({0}).item(); }), Contains("ValueError"));
  CHECK_THAT(errorOf([] { (void)Tensor().item(); }), Contains("ValueError") && Contains("undefined"));
}

TEST_CASE("concatenate and stack copy tensors of one dtype along an axis") {
  const Tensor a = counted({2, 2}), b = counted({2, 1}) * 10.0;
  const Tensor c = b.astype(int32);
  CHECK(elements<int32_t>(Tensor::concatenate({a, c}, 1)) == Ints{0, 1, 0, 2, 3, 10});
  CHECK(elements<int32_t>(Tensor::concatenate({a, c}, -1)) == Ints{0, 1, 0, 2, 3, 10});
  CHECK(elements<int32_t>(Tensor::concatenate({a, a})) == Ints{0, 1, 2, 3, 0, 1, 2, 3});
  CHECK(Tensor::concatenate({a, a}).shape() == Shape{4, 2});
  Tensor alone = Tensor::concatenate({a});
  alone.mutable_span<int32_t>()[0] = 9;
  CHECK(a[{0, 0}].item() == 0); // a copy
  CHECK(Tensor::concatenate({counted({2, 0}), a}, 1).shape() == Shape{2, 2});
  CHECK(Tensor::concatenate({counted({0, 3}), counted({0, 2})}, 1).shape() == Shape{0, 5});
  CHECK(elements<int32_t>(Tensor::stack({a, a + a})) == Ints{0, 1, 2, 3, 0, 2, 4, 6});
  CHECK(elements<int32_t>(Tensor::stack({a, a + a}, 1)) == Ints{0, 1, 0, 2, 2, 3, 4, 6});
  CHECK(elements<int32_t>(Tensor::stack({a, a + a}, -1)) == Ints{0, 0, 1, 2, 2, 4, 3, 6});
  CHECK(Tensor::stack({Tensor::scalar(1.0F), Tensor::scalar(2.0F)}).shape() == Shape{2});
  CHECK(Tensor::stack({counted({0, 2})}, 1).shape() == Shape{0, 1, 2});
  CHECK(elements<bool>(Tensor::concatenate({Tensor({1, 0}, bool_), Tensor({1}, bool_)})) ==
        std::vector<bool>{true, false, true});
}

TEST_CASE("concatenate and stack refuse tensors that do not fit together") {
  const Tensor a = counted({2, 2});
  CHECK_THAT(errorOf([] { (void)Tensor::concatenate({}); }), Contains("ValueError: concatenate needs at least one"));
  CHECK_THAT(errorOf([] { (void)Tensor::stack({}); }), Contains("ValueError: stack needs at least one"));
  CHECK_THAT(errorOf([&] { (void)Tensor::concatenate({a, a}, 2); }), Contains("ValueError") && Contains("axis 2"));
  CHECK_THAT(errorOf([&] { (void)Tensor::stack({a, a}, -4); }), Contains("ValueError") && Contains("axis -4"));
  CHECK_THAT(errorOf([&] { (void)Tensor::concatenate({a, counted({3, 3})}); }), Contains("(2, 2) and (3, 3)"));
  CHECK_THAT(errorOf([&] { (void)Tensor::concatenate({a, counted({2})}); }), Contains("(2, 2) and (2,)"));
  CHECK_THAT(errorOf([&] { (void)Tensor::stack({a, counted({2, 1})}); }), Contains("(2, 2) and (2, 1)"));
  CHECK_THAT(errorOf([] { (void)Tensor::concatenate({Tensor::scalar(1.0F)}); }), Contains("ValueError"));
  CHECK_THAT(errorOf([&] { (void)Tensor::concatenate({a, a.astype(float32)}); }),
             Contains("TypeError") && Contains("int32 and float32"));
  CHECK_THAT(errorOf([&] { (void)Tensor::concatenate({a, Tensor()}); }),
             Contains("ValueError") && Contains("undefined"));
}

TEST_CASE("A tensor in a device's memory is joined on the host alone, and item() reads it from there") {
  const auto far = test::FarDevice::create("cuda:91");
  REQUIRE(addDevice(far).isOk());
  const Tensor t = counted({2, 2}).to(Device::cuda(91));
  CHECK_THAT(errorOf([&] { (void)Tensor::concatenate({t, t}); }), Contains("DeviceError") && Contains("cuda:91"));
  CHECK(t[{Slice(1, none)}][0][1].item() == 3);
  CHECK(far->counters().downloadedBytes == 4);
  removeDevice("cuda:91");
}

TEST_CASE("Strings are joined and stacked, and not with numbers") {
  const Tensor a(std::vector<std::string>{"a", "b", "c", "d"}, {2, 2}), b(std::vector<std::string>{"x", "y"}, {2, 1});
  CHECK(Tensor::concatenate({a, b}, 1).to_vector<std::string>() ==
        std::vector<std::string>{"a", "b", "x", "c", "d", "y"});
  CHECK(Tensor::concatenate({a, a.slice(0, 0)}).shape() == Shape{2, 2});
  CHECK(Tensor::stack({b, b}).to_vector<std::string>() == std::vector<std::string>{"x", "y", "x", "y"});
  CHECK_THAT(errorOf([&] { (void)Tensor::concatenate({a, counted({2, 2})}); }), Contains("TypeError"));
}

TEST_CASE("A tensor prints its elements") {
  std::ostringstream text;
  text << Tensor({{1, 2}, {3, 4}}, int32) << '\n'
       << Tensor() << '\n'
       << Shape{none, 3} << ' ' << bfloat16 << ' ' << Device::cpu();
  CHECK(text.str() == "[[1, 2],\n [3, 4]]\nTensor(shape=(2, 2), dtype=int32)\nTensor(undefined)\n(None, 3) bfloat16 " +
                          Device::cpu().str());
}
