// C++ numbers: kept exactly, representable or not in each integer dtype; integer arguments of every type.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/Number.h"
#include "halftone/Config.h"
#include "halftone/Error.h"
#include "halftone/Shape.h"
#include "halftone/Tensor.h"
#include "runtime/base/ConfigAccess.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

using namespace halftone;
using Catch::Matchers::Contains;

namespace {

constexpr DType integerDtypes[] = {DType::int8,  DType::int16,  DType::int32,  DType::int64,
                                   DType::uint8, DType::uint16, DType::uint32, DType::uint64};
struct Range {
  __int128 least, most;
};
Range rangeOf(DType dtype) {
  const auto bits = static_cast<unsigned>(itemsize(dtype)) * 8;
  const bool isUnsigned = name(dtype).starts_with("u");
  const __int128 count = __int128(1) << bits;
  return isUnsigned ? Range{0, count - 1} : Range{-(count / 2), count / 2 - 1};
}
enum Unscoped { five = 5 };

} // namespace

TEST_CASE("A dtype of integers holds the numbers of its range and no others") {
  std::vector<__int128> numbers{0, 1, -1};
  for (const DType dtype : integerDtypes)
    for (const __int128 near : {rangeOf(dtype).least, rangeOf(dtype).most})
      for (int by = -2; by <= 2; ++by)
        numbers.push_back(near + by);
  for (const __int128 number : numbers) {
    if (number < INT64_MIN || number > __int128(UINT64_MAX))
      continue;
    const Number given = number < 0 ? Number(static_cast<int64_t>(number)) : Number(static_cast<uint64_t>(number));
    INFO(numberText(given));
    for (const DType dtype : integerDtypes) {
      const auto [least, most] = rangeOf(dtype);
      INFO(name(dtype));
      CHECK(positionIn(dtype, given) == (number < least  ? RangePosition::below
                                         : number > most ? RangePosition::above
                                                         : RangePosition::inside));
      if (number < least || number > most)
        CHECK_THROWS_WITH(requireHolds("add", dtype, given), Contains("ValueError: add: " + std::string(name(dtype)) +
                                                                      " cannot represent " + numberText(given)));
      else
        CHECK_NOTHROW(requireHolds("add", dtype, given));
    }
    const Number back = ConfigAccess::number(ConfigAccess::json(given));
    CHECK((back.is_negative() == given.is_negative() && back.bits() == given.bits()));
  }
}

TEST_CASE("Reals lie in a range without their fraction, and NaN and infinities in none") {
  CHECK_NOTHROW(requireHolds("full_like", DType::int8, 127.9));
  CHECK_NOTHROW(requireHolds("full_like", DType::int8, -128.9));
  CHECK_NOTHROW(requireHolds("full_like", DType::uint8, -0.9));
  CHECK_THROWS_WITH(requireHolds("full_like", DType::int8, 128.0), Contains("int8 cannot represent 128"));
  for (const double none : {double(NAN), double(HUGE_VAL), -double(HUGE_VAL), 1e19}) {
    CHECK_THROWS(requireHolds("full_like", DType::int64, none));
    CHECK_NOTHROW(requireHolds("full_like", DType::float16, none));
    CHECK_NOTHROW(requireHolds("full_like", DType::bool_, none));
  }
}

TEST_CASE("A Number keeps what was written: its kind, its sign and all its bits") {
  CHECK(Number(true).kind() == Number::Kind::boolean);
  CHECK(Number('a').kind() == Number::Kind::integer);
  CHECK(Number(five).bits() == 5);
  CHECK(Number(UINT64_MAX).bits() == UINT64_MAX);
  CHECK(numberText(INT64_MIN) == "-9223372036854775808");
  CHECK(numberText((int64_t(1) << 53) + 1) == "9007199254740993");
  CHECK(Number(0.5F).kind() == Number::Kind::real);
  CHECK(Number(float16_t(0.5F)).real() == 0.5);
  CHECK(Number(bfloat16_t(2.0F)).kind() == Number::Kind::real);
  CHECK(isWhole(2.0));
  CHECK(!isWhole(2.5));
  CHECK(isWhole(UINT64_MAX));
}

TEST_CASE("An unsigned argument above 63 bits is refused, and never another number") {
  CHECK_THROWS_WITH((Shape{2, UINT64_MAX}), Contains("ValueError: a dimension is 18446744073709551615"));
  CHECK(Shape{size_t(3), uint8_t(4)} == Shape{3, 4});
  Config config;
  config.set("n", uint32_t(4000000000));
  CHECK(config.get_int("n") == 4000000000);
  CHECK_THROWS_WITH(config.set("n", UINT64_MAX), Contains("a number of a config is 18446744073709551615"));
  CHECK(config.get_int("n") == 4000000000);
}

TEST_CASE("Tensor::full has the integer that was given, or the nearest that the dtype holds") {
  const int64_t odd = (int64_t(1) << 53) + 1;
  CHECK(Tensor::full({}, odd, int64).item<int64_t>() == odd);
  CHECK(Tensor::full({}, UINT64_MAX, DType::uint64).astype(int64).item<int64_t>() == -1);
  CHECK(Tensor::full({}, 16777217, float32).item<float>() == 16777216.0F);
  CHECK(Tensor::full({}, 300, int8).item<int8_t>() == 127);
  CHECK(Tensor::full({}, -1, uint8).item<uint8_t>() == 0);
  CHECK(Tensor::full({}, 300.0, int8).astype(int32).item<int32_t>() == 127); // clamps, as astype() does
}
