// C++ numbers as operands of integer Values: exact, or errors; comparisons with the exact number.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/ops/Operations.h"
#include "runtime/base/Number.h"
#include "tests/TemporaryFolder.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;
using List = std::vector<Value>;
using Wide = __int128;

namespace {

constexpr DType integerDtypes[] = {DType::int8,  DType::int16,  DType::int32,  DType::int64,
                                   DType::uint8, DType::uint16, DType::uint32, DType::uint64};
bool isUnsigned(DType dtype) { return name(dtype).starts_with("u"); }
Wide countOf(DType dtype) { return Wide(1) << (itemsize(dtype) * 8); }
Wide leastOf(DType dtype) { return isUnsigned(dtype) ? 0 : -(countOf(dtype) / 2); }
Wide mostOf(DType dtype) { return leastOf(dtype) + countOf(dtype) - 1; }
using Bits = unsigned __int128;
/// The number of the dtype with these lowest bits.
Wide wrapped(DType dtype, Bits bits) {
  const auto low = static_cast<Wide>(bits & static_cast<Bits>(countOf(dtype) - 1));
  return low > mostOf(dtype) ? low - countOf(dtype) : low;
}
Number numberOf(Wide wide) { return wide < 0 ? Number(static_cast<int64_t>(wide)) : static_cast<uint64_t>(wide); }

/// Numbers around the bounds of each dtype that C++ integers can represent.
std::vector<Wide> edges() {
  std::vector<Wide> numbers{0, 2, 300, -7, (Wide(1) << 53) + 1, -(Wide(1) << 53) - 1};
  for (const DType dtype : integerDtypes)
    for (const Wide bound : {leastOf(dtype), mostOf(dtype)})
      for (int by = -1; by <= 1; ++by)
        if (bound + by >= INT64_MIN && bound + by <= Wide(UINT64_MAX))
          numbers.push_back(bound + by);
  return numbers;
}

/// The elements as exact integers.
std::vector<Wide> elementsOf(const Tensor &tensor) {
  std::vector<Wide> elements;
  if (tensor.dtype() == DType::uint64) // as its low and high halves
    for (const int64_t bits : tensor.astype(int64).to_vector<int64_t>())
      elements.push_back(static_cast<uint64_t>(bits));
  else
    for (const int64_t number : tensor.astype(int64).to_vector<int64_t>())
      elements.push_back(number);
  return elements;
}
Tensor tensorOf(DType dtype, const std::vector<Wide> &elements) {
  std::vector<int64_t> bits;
  for (const Wide element : elements)
    bits.push_back(static_cast<int64_t>(element)); // conversions between integers wrap
  return Tensor(bits, {std::ssize(bits)}).astype(dtype);
}

using Apply = Value (*)(const Value &, const Number &);
struct Operator {
  const char *name;
  Apply apply;
  Bits (*exact)(Bits, Bits); // only the lowest bits count
};
const Operator operators[] = {
    {"add", [](const Value &x, const Number &n) { return x + n; }, [](Bits x, Bits n) { return x + n; }},
    {"add", [](const Value &x, const Number &n) { return n + x; }, [](Bits x, Bits n) { return n + x; }},
    {"sub", [](const Value &x, const Number &n) { return x - n; }, [](Bits x, Bits n) { return x - n; }},
    {"sub", [](const Value &x, const Number &n) { return n - x; }, [](Bits x, Bits n) { return n - x; }},
    {"mul", [](const Value &x, const Number &n) { return x * n; }, [](Bits x, Bits n) { return x * n; }},
    {"mul", [](const Value &x, const Number &n) { return n * x; }, [](Bits x, Bits n) { return n * x; }},
    {"full_like", [](const Value &x, const Number &n) { return ops::full_like(x, n); },
     [](Bits, Bits n) { return n; }}};

std::string refusal(DType dtype, std::function<Value(const Value &)> f) {
  return errorOf(
      [&] { (void)runOnce(Run::interpreted, {tensorOf(dtype, {1})}, [f](const List &v) { return List{f(v[0])}; }); });
}
Tensor one(const Tensor &x, std::function<Value(const Value &)> f) {
  return runOnce(Run::compiled, {x}, [f](const List &v) { return List{f(v[0])}; })[0];
}

} // namespace

TEST_CASE("A number that the dtype holds is exact beside its integers, whose results wrap") {
  for (const DType dtype : integerDtypes) {
    const std::vector<Wide> x{0, 1, 5, leastOf(dtype), mostOf(dtype)};
    std::vector<Wide> held;
    for (const Wide number : edges())
      if (number >= leastOf(dtype) && number <= mostOf(dtype))
        held.push_back(number);
    for (const Run run : {Run::interpreted, Run::compiled}) {
      const std::vector<Tensor> results = runOnce(run, {tensorOf(dtype, x)}, [&](const List &v) {
        List all;
        for (const Operator &op : operators)
          for (const Wide number : held)
            all.push_back(op.apply(v[0], numberOf(number)));
        return all;
      });
      size_t next = 0;
      for (const Operator &op : operators)
        for (const Wide number : held) {
          INFO(name(dtype) << " " << op.name << " " << numberText(numberOf(number)));
          const Tensor &result = results.at(next++);
          REQUIRE(result.dtype() == dtype);
          const std::vector<Wide> found = elementsOf(result);
          for (size_t i = 0; i < x.size(); ++i)
            CHECK((found[i] == wrapped(dtype, op.exact(static_cast<Bits>(x[i]), static_cast<Bits>(number)))));
        }
    }
  }
}

// policies 5.4
TEST_CASE("A number that the dtype does not hold is an error beside its integers") {
  for (const DType dtype : integerDtypes)
    for (const Wide number : edges())
      if (number < leastOf(dtype) || number > mostOf(dtype))
        for (const Operator &op : operators) {
          const Number given = numberOf(number);
          CHECK(refusal(dtype, [&](const Value &x) { return op.apply(x, given); }) ==
                std::string("ValueError: ") + op.name + ": " + std::string(name(dtype)) + " cannot represent " +
                    numberText(given));
        }
  CHECK_THAT(refusal(uint8, [](const Value &x) { return ops::clip(x, 300, 400); }),
             Contains("uint8 cannot represent 300"));
  CHECK_THAT(refusal(DType::bool_, [](const Value &x) { return x + (int64_t(1) << 40); }),
             Contains("int32 cannot represent 1099511627776"));
  const auto inJit = jit([](const Value &x) -> Value { return x * -1; });
  CHECK_THROWS_WITH(inJit(tensorOf(uint8, {1})), Contains("uint8 cannot represent -1"));
}

TEST_CASE("The kind of a number decides: reals make integers floats, a bool takes each dtype, quotients are floats") {
  CHECK(one(tensorOf(int8, {1}), [](const Value &x) { return x + 300.0; }).item<float>() == 301.0F);
  CHECK(one(tensorOf(int32, {3}), [](const Value &x) { return 2.0 * x; }).item<float>() == 6.0F);
  CHECK(one(tensorOf(int32, {9}), [](const Value &x) { return ops::clip(x, 0.0, 6.0); }).item<float>() == 6.0F);
  CHECK(one(tensorOf(bool_, {1}), [](const Value &x) { return x * true; }).dtype() == bool_);
  CHECK(one(tensorOf(int8, {1}), [](const Value &x) { return x + 0.5; }).item<float>() == 1.5F);
  CHECK(one(tensorOf(int32, {1}), [](const Value &x) { return x + 1e30; }).item<float>() == 1e30F);
  CHECK(one(tensorOf(int8, {1}), [](const Value &x) { return x / 300; }).item<float>() == 1.0F / 300.0F);
  CHECK(one(tensorOf(uint8, {7}), [](const Value &x) { return x + true; }).dtype() == uint8);
  CHECK(one(tensorOf(DType::bool_, {1}), [](const Value &x) { return x + 2; }).item<int32_t>() == 3);
  CHECK(one(Tensor({0.0F}, {1}), [](const Value &x) { return x + 16777217; }).item<float>() == 16777216.0F);
  CHECK(one(tensorOf(int8, {9}), [](const Value &x) { return ops::clip(x, -1000, 5); }).astype(int32).item<int32_t>() ==
        5);
  CHECK(
      one(tensorOf(int8, {9}), [](const Value &x) { return ops::full_like(x, -2.9); }).astype(int32).item<int32_t>() ==
      -2);
}

// policies 5.4
TEST_CASE("A comparison compares the number itself, whether the dtype holds it or not") {
  using Compare = Value (*)(const Operand &, const Operand &);
  constexpr Compare comparisons[] = {ops::equal,      ops::not_equal, ops::less,
                                     ops::less_equal, ops::greater,   ops::greater_equal};
  constexpr size_t mirrored[] = {0, 1, 4, 5, 2, 3};
  std::vector<double> reals{-0.5, 0.5, 1.0, 127.5, -128.5, 254.5, 255.5, 1e19, -1e30, HUGE_VAL, -HUGE_VAL, NAN};
  for (const DType dtype : integerDtypes) {
    const std::vector<Wide> x{0, 1, leastOf(dtype), mostOf(dtype)};
    std::vector<std::pair<Number, long double>> numbers; // long double represents 64-bit integers and doubles
    for (const Wide number : edges())
      numbers.emplace_back(numberOf(number), static_cast<long double>(number));
    for (const double number : reals)
      numbers.emplace_back(number, number);
    const std::vector<Tensor> results = runOnce(Run::compiled, {tensorOf(dtype, x)}, [&](const List &v) {
      List all;
      for (const auto &number : numbers)
        for (size_t predicate = 0; predicate < 6; ++predicate) {
          all.push_back(comparisons[predicate](v[0], number.first));
          all.push_back(comparisons[mirrored[predicate]](number.first, v[0]));
        }
      return all;
    });
    size_t next = 0;
    for (const auto &[number, exact] : numbers)
      for (int predicate = 0; predicate < 6; ++predicate) {
        const std::vector<double> found = test::numbers(results.at(next++));
        CHECK(test::numbers(results.at(next++)) == found); // with the number on the left
        for (size_t i = 0; i < x.size(); ++i) {
          const auto element = static_cast<long double>(x[i]);
          const bool expected[] = {element == exact, element != exact, element<exact, element <= exact, element> exact,
                                   element >= exact};
          INFO(name(dtype) << " " << static_cast<double>(element) << ", predicate " << predicate << ", "
                           << numberText(number));
          CHECK((found[i] != 0) == expected[predicate]);
        }
      }
  }
}

TEST_CASE("arange of integers is exact, up to the bounds of 64 bits") {
  const int64_t odd = (int64_t(1) << 53) + 1;
  const std::vector<Tensor> y = runOnce(Run::compiled, {}, [&](const List &) {
    return List{ops::arange(odd, odd + 6, 2, int64), ops::arange(INT64_MAX - 2, INT64_MAX, {}, int64),
                ops::arange(UINT64_MAX - 2, UINT64_MAX, {}, DType::uint64),
                ops::arange(INT64_MAX, INT64_MIN, INT64_MIN, int64), ops::arange(0, 5, int64_t(1) << 40, int32)};
  });
  CHECK((elementsOf(y[0]) == std::vector<Wide>{odd, odd + 2, odd + 4}));
  CHECK((elementsOf(y[1]) == std::vector<Wide>{INT64_MAX - 2, INT64_MAX - 1}));
  CHECK((elementsOf(y[2]) == std::vector<Wide>{Wide(UINT64_MAX) - 2, Wide(UINT64_MAX) - 1}));
  CHECK((elementsOf(y[3]) == std::vector<Wide>{INT64_MAX, -1}));
  CHECK((elementsOf(y[4]) == std::vector<Wide>{0}));
  CHECK_THAT(errorOf([] {
               (void)runOnce(Run::interpreted, {},
                             [](const List &) { return List{ops::arange(INT64_MIN, INT64_MAX)}; });
             }),
             Contains("has too many elements"));
}

TEST_CASE("A model's file holds the integers beside its values exactly") {
  const TemporaryFolder folder;
  const int64_t odd = (int64_t(1) << 53) + 1;
  const Value x = Input({2}, {.dtype = int64});
  const Model model(x, ops::clip(x * 3 + odd, -odd, odd + 4));
  model.save(folder / "numbers.keras");
  const Tensor data = tensorOf(int64, {1, 5}).reshape({1, 2});
  for (const Model &each : {model, load_model(folder / "numbers.keras")})
    CHECK((elementsOf(each.predict_on_batch(data)) == std::vector<Wide>{odd + 3, odd + 4}));
  const Value small = Input({2}, {.dtype = int8});
  CHECK_THROWS_WITH(small + 300, Contains("add: int8 cannot represent 300"));
}
