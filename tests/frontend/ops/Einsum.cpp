// einsum: values compared with plain loops over all labels, dtypes, gradients, and rejected equations.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/Recorded.h"
#include "tests/frontend/Slopes.h"
#include <catch2/catch.hpp>
#include <map>

using namespace halftone;
using namespace halftone::test;
using Catch::Matchers::Contains;
using Row = std::vector<double>;
using List = std::vector<Value>;

namespace {

/// The numbers 1, 2, ... with alternating signs, in [-4, 4].
Tensor operand(const Shape &shape, int64_t first) {
  Row values;
  for (int64_t i = 0; i < shape.elements(); ++i)
    values.push_back(double((first + 3 * i) % 9 - 4));
  return Tensor(values, shape);
}

struct Case {
  const char *equation, *letters; // with a letter for each axis of "..."
  std::vector<Shape> shapes;
};

std::vector<Tensor> operandsOf(const Case &c) {
  std::vector<Tensor> operands;
  for (const Shape &shape : c.shapes)
    operands.push_back(operand(shape, int64_t(operands.size()) + 1));
  return operands;
}

std::vector<std::string> termsOf(const std::string &letters) {
  std::vector<std::string> terms{""};
  for (char c : letters.substr(0, letters.find("->")))
    if (c == ',')
      terms.emplace_back();
    else
      terms.back() += c;
  terms.push_back(letters.substr(letters.find("->") + 2));
  return terms;
}

/// The offset of the element whose index along each axis is that of the axis's label; 0 along an axis of extent 1.
size_t offsetOf(const std::string &term, const Shape &shape, const std::map<char, int64_t> &at) {
  int64_t offset = 0;
  for (size_t axis = 0; axis < term.size(); ++axis) {
    const int64_t extent = shape[int64_t(axis)];
    offset = offset * extent + (extent == 1 ? 0 : at.at(term[axis]));
  }
  return size_t(offset);
}

/// The shape of the output, and its numbers computed by loops over all labels.
std::pair<Shape, Row> expectedOf(const Case &c, const std::vector<Tensor> &operands) {
  const std::vector<std::string> terms = termsOf(c.letters);
  std::map<char, int64_t> extents, at;
  int64_t steps = 1;
  for (size_t i = 0; i < operands.size(); ++i)
    for (size_t axis = 0; axis < terms[i].size(); ++axis) {
      int64_t &extent = extents.try_emplace(terms[i][axis], 1).first->second;
      extent = extent == 1 ? c.shapes[i][int64_t(axis)] : extent;
    }
  std::vector<int64_t> dims;
  for (char label : terms.back())
    dims.push_back(extents.at(label));
  const Shape shape(dims);
  Row result(size_t(shape.elements()));
  std::vector<Row> values;
  for (const Tensor &each : operands)
    values.push_back(numbers(each));
  for (const auto &[label, extent] : extents)
    steps *= extent;
  for (int64_t step = 0; step < steps; ++step) {
    int64_t rest = step;
    for (const auto &[label, extent] : extents) {
      at[label] = rest % extent;
      rest /= extent;
    }
    double product = 1;
    for (size_t i = 0; i < operands.size(); ++i)
      product *= values[i][offsetOf(terms[i], c.shapes[i], at)];
    result[offsetOf(terms.back(), shape, at)] += product;
  }
  return {shape, result};
}

const std::vector<Case> cases = {
    {"ij,jk->ik", "ij,jk->ik", {{3, 4}, {4, 5}}},
    {" ij , jk -> ki ", "ij,jk->ki", {{3, 4}, {4, 5}}},
    {"ji,jk->ik", "ji,jk->ik", {{4, 3}, {4, 5}}},
    {"ij,jk", "ij,jk->ik", {{3, 4}, {4, 5}}}, // implicit output: the labels that occur once, sorted
    {"ba", "ba->ab", {{3, 4}}},
    {"bij,bjk->bik", "bij,bjk->bik", {{2, 3, 4}, {2, 4, 5}}},
    {"bqnh,bsnh->bnqs", "bqnh,bsnh->bnqs", {{2, 3, 4, 5}, {2, 6, 4, 5}}},
    {"bnqs,bsnh->bqnh", "bnqs,bsnh->bqnh", {{2, 4, 3, 6}, {2, 6, 4, 5}}},
    {"btd,dnh->bnth", "btd,dnh->bnth", {{2, 3, 4}, {4, 5, 6}}},
    {"abcd,cde->abe", "abcd,cde->abe", {{2, 3, 4, 5}, {4, 5, 2}}},
    {"abcd,dce->eab", "abcd,dce->eab", {{2, 3, 4, 5}, {5, 4, 2}}},
    {"i,i->", "i,i->", {{7}, {7}}},
    {"ij->ji", "ij->ji", {{3, 4}}},
    {"ij->", "ij->", {{3, 4}}},
    {"ij->j", "ij->j", {{3, 4}}},
    {"ii->i", "ii->i", {{4, 4}}},
    {"ii", "ii->", {{4, 4}}},
    {"jiji->ij", "jiji->ij", {{3, 4, 3, 4}}},
    {"iii->i", "iii->i", {{3, 3, 3}}},
    {"iij,jk->ik", "iij,jk->ik", {{3, 3, 4}, {4, 5}}},
    {"ij,j->ij", "ij,j->ij", {{3, 4}, {4}}}, // nothing is summed
    {"i,j->ji", "i,j->ji", {{3}, {4}}},
    {"ij,ij->ij", "ij,ij->ij", {{3, 4}, {3, 4}}},
    {"ij,k->ik", "ij,k->ik", {{3, 4}, {5}}}, // j is summed first
    {"ij,kl->", "ij,kl->", {{3, 4}, {5, 2}}},
    {"ij,jk,kl->il", "ij,jk,kl->il", {{3, 4}, {4, 5}, {5, 2}}},
    {"i,j,k->kij", "i,j,k->kij", {{3}, {4}, {5}}},
    {"bi,bi,b->b", "bi,bi,b->b", {{3, 4}, {3, 4}, {3}}},
    {"i,i,i->", "i,i,i->", {{5}, {5}, {5}}},
    {"...i->...", "abi->ab", {{2, 3, 4}}},
    {"...", "ab->ab", {{2, 3}}},
    {"...ij,...jk->...ik", "abij,bjk->abik", {{2, 3, 4, 5}, {3, 5, 2}}},
    {"...ij,...jk->...ik", "abij,abjk->abik", {{2, 1, 4, 5}, {1, 3, 5, 2}}},
    {"ij...,jk...->ik...", "ija,jka->ika", {{2, 3, 4}, {3, 5, 4}}},
    {"...a,ab->...b", "xya,ab->xyb", {{2, 3, 4}, {4, 5}}},
    {"ab...,bc->ac...", "abx,bc->acx", {{2, 3, 4}, {3, 5}}},
    {"...ij->ij", "abij->ij", {{2, 3, 4, 5}}},
    {"...i,...i", "ai,ai->a", {{2, 3}, {2, 3}}},
    {"ij...->...ij", "ij->ij", {{2, 3}}}, // "..." covers no axes
    {"ij,jk->ik", "ij,jk->ik", {{3, 0}, {0, 5}}},
    {"ij,jk->ik", "ij,jk->ik", {{0, 3}, {3, 5}}},
    {"ij,jk->ik", "ij,jk->ik", {{1, 1}, {1, 1}}},
    {"ii->i", "ii->i", {{1, 1}}},
};

Tensor once(const char *equation, const std::vector<Tensor> &operands) {
  return runOnce(Run::compiled, operands, [&](const List &v) { return List{ops::einsum(equation, Values(v))}; })[0];
}

} // namespace

TEST_CASE("einsum is the sum of products over all labels that the output lacks") {
  for (Run run : everyRun) {
    std::vector<Tensor> feeds;
    for (const Case &c : cases)
      for (Tensor &each : operandsOf(c))
        feeds.push_back(std::move(each));
    const std::vector<Tensor> results = runOnce(run, feeds, [](const List &v) {
      List values;
      auto next = v.begin();
      for (const Case &c : cases) {
        values.push_back(ops::einsum(c.equation, Values(List(next, next + std::ptrdiff_t(c.shapes.size())))));
        next += std::ptrdiff_t(c.shapes.size());
      }
      return values;
    });
    for (size_t i = 0; i < cases.size(); ++i) {
      INFO(cases[i].equation << " as " << cases[i].letters);
      const auto [shape, expected] = expectedOf(cases[i], operandsOf(cases[i]));
      CHECK(results[i].shape() == shape);
      CHECK(numbers(results[i]) == expected);
    }
  }
}

TEST_CASE("einsum promotes as its operands do, and int8 alone gives int32") {
  const Tensor a({100, 100, 27, 1}, {2, 2});
  const auto result = [&](DType x, DType y) { return once("ij,jk->ik", {a.astype(x), a.astype(y)}); };
  CHECK(result(int8, int8).dtype() == int32);
  CHECK(numbers(result(int8, int8)) == Row{12700, 10100, 2727, 2701});
  CHECK(result(int32, int32).dtype() == int32);
  CHECK(result(int8, int32).dtype() == int32);
  CHECK(result(float16, float32).dtype() == float32);
  CHECK(result(float16, float16).dtype() == float16);
  CHECK(result(bfloat16, int8).dtype() == bfloat16);
  CHECK(result(DType::bool_, DType::bool_).dtype() == DType::bool_);
  CHECK(numbers(result(uint8, uint8)) == Row{12700 % 256, 10100 % 256, 2727 % 256, 2701 % 256});
  const Tensor one = once("ij->", {a.astype(int8)}), product = once("ij,ij->ij", {a.astype(int8), a.astype(int8)});
  CHECK(one.dtype() == int32);
  CHECK(numbers(one) == Row{228});
  CHECK(product.dtype() == int32);
  CHECK(numbers(product) == Row{10000, 10000, 729, 1});
}

TEST_CASE("The gradients of einsum are those of its sums") {
  for (size_t i = 0; i < cases.size(); i += 3) {
    INFO(cases[i].equation);
    const char *equation = cases[i].equation;
    CHECK(slopeError(operandsOf(cases[i]), [&](const List &v) { return ops::einsum(equation, Values(v)); }) < 1e-5);
  }
}

TEST_CASE("einsum refuses equations that do not fit") {
  struct Refused {
    const char *equation, *reason;
    std::vector<Shape> shapes;
  };
  for (const Refused &each : std::vector<Refused>{
           {"ij,jk->ik", "1 operands, but the equation is for 2", {{3, 4}}},
           {"ij->ij", "2 operands, but the equation is for 1", {{3, 4}, {3, 4}}},
           {"ij,jk->ik", "label 'j' has extents 4 and 5", {{3, 4}, {5, 6}}},
           {"ij,jk->ik", "label 'j' has extents 4 and 1", {{3, 4}, {1, 6}}},
           {"ii->i", "label 'i' has extents 3 and 4", {{3, 4}}},
           {"ijk,jk->i", "\"ijk\" is for an operand of 3 axes, but operand 0 has 2", {{3, 4}, {4, 5}}},
           {"i...jk->i", "but operand 0 has 2", {{3, 4}}},
           {"ij->iij", "label 'i' occurs twice in the output", {{3, 4}}},
           {"ij->ik", "label 'k' of the output is in no operand", {{3, 4}}},
           {"i1->i", "expected letters and at most one \"...\"", {{3, 4}}},
           {"...i...->i", "expected letters and at most one \"...\"", {{3, 4}}},
           {"i..->i", "expected letters and at most one \"...\"", {{3, 4}}},
           {"i->j->k", "expected letters", {{3}}},
           {"...i,...i->...i", "which do not broadcast", {{2, 3}, {4, 3}}},
       }) {
    INFO(each.equation);
    std::vector<Tensor> operands;
    for (const Shape &shape : each.shapes)
      operands.push_back(operand(shape, 1));
    CHECK_THAT(errorOf([&] { once(each.equation, operands); }),
               Contains("ValueError") && Contains(std::string("einsum \"") + each.equation) && Contains(each.reason));
  }
  CHECK_THAT(errorOf([] { (void)ops::einsum("i->i", {}); }), Contains("ValueError") && Contains("one operand or more"));
}
