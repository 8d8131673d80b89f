// The cases of attention.
// SPDX-License-Identifier: Apache-2.0
#include "OpTable.h"
#include <array>
#include <fmt/format.h>

namespace halftone::test {
namespace {

struct Form {
  int64_t batch, queries, keys, heads, groups, depth, width; // b, t, s, n, m, h, e
  std::string bias, mask;                                    // their extents; "" if absent
  bool causal = false;
  double rate = 0;
};

const std::vector<Form> forms = {
    {2, 5, 7, 2, 2, 8, 6, "", ""},
    {2, 13, 37, 3, 3, 16, 16, "", "", true},
    {1, 37, 13, 4, 2, 8, 5, "", "1x1x37x13x", true},
    {2, 5, 7, 6, 2, 3, 4, "1x6x1x7x", "2x1x5x1x"},
    {2, 4, 4, 1, 1, 4, 4, "2x1x4x4x", "", true, 0.25},
    {1, 6, 9, 4, 1, 5, 7, "", "1x1x1x9x", false, 0.5},
    {2, 1, 1, 2, 1, 4, 4, "1x1x1x1x", "2x2x1x1x"},
    {1, 3, 0, 2, 2, 4, 4, "", ""},
    {1, 3, 4, 2, 2, 0, 4, "", "", true},
    {1, 0, 4, 2, 2, 4, 3, "", ""},
    {0, 3, 4, 2, 2, 4, 3, "", ""},
    {1, 3, 4, 2, 2, 4, 0, "", ""},
    // From here on CPUs have a kernel.
    {1, 64, 65, 1, 1, 32, 32, "", ""},
    {1, 97, 65, 4, 2, 17, 9, "", "", true},
    {2, 65, 130, 1, 1, 8, 24, "", "2x1x1x130x", false},
    {1, 63, 129, 2, 2, 16, 33, "1x2x63x129x", "1x1x63x129x", true},
    {1, 64, 64, 3, 1, 5, 4, "", "1x3x64x64x", true, 0.25},
    {1, 3, 130, 4, 2, 8, 8, "", "1x1x3x130x"},
    {2, 1, 200, 2, 1, 40, 7, "", ""},
};

constexpr size_t firstLarge = 12;

std::string tensor(const std::string &type) { return "tensor<" + type + ">"; }

/// The types of the operands and results of one attention, and its text so far.
struct Texts {
  std::string q, k, v, out, lse, names = "$0, $1, $2", types, attributes;
  std::vector<OpOperand> operands;

  Texts(const Form &form, const std::string &dtype, Values values)
      : q(fmt::format("{}x{}x{}x{}x{}", form.batch, form.queries, form.heads, form.depth, dtype)),
        k(fmt::format("{}x{}x{}x{}x{}", form.batch, form.keys, form.groups, form.depth, dtype)),
        v(fmt::format("{}x{}x{}x{}x{}", form.batch, form.keys, form.groups, form.width, dtype)),
        out(fmt::format("{}x{}x{}x{}x{}", form.batch, form.queries, form.heads, form.width, dtype)),
        lse(fmt::format("{}x{}x{}x{}", form.batch, form.heads, form.queries, dtype == "f64" ? "f64" : "f32")),
        types(tensor(q) + ", " + tensor(k) + ", " + tensor(v)),
        attributes(form.causal ? "causal, scale = 0.3 : f64" : "scale = 0.3 : f64"),
        operands({{q, values}, {k, values, 1}, {v, values, 2}}) {
    if (!form.bias.empty())
      add(" bias", form.bias + dtype);
    if (!form.mask.empty())
      add(" mask", form.mask + "i1");
    if (form.rate > 0) {
      add(" key", "2xui32");
      attributes += fmt::format(", rate = {} : f64", form.rate);
    }
  }

  void add(const std::string &name, const std::string &type) {
    names += fmt::format("{} ${}", name, operands.size());
    types += ", " + tensor(type);
    operands.push_back({type, Values::moderate});
  }
};

std::string labelOf(const Form &form, const std::string &dtype, const char *result, Values values) {
  return fmt::format("attention_{}_{}_{}{}", &form - forms.data(), dtype, result,
                     values == Values::special ? "_special" : "");
}

/// The case of one form and its result `fetched`.
OpCase caseOf(const Form &form, const std::string &dtype, size_t fetched, Values values) {
  const Texts texts(form, dtype, values);
  return {"attention",
          labelOf(form, dtype, fetched ? "lse" : "out", values),
          texts.operands,
          fmt::format("halftone.attention {} {{{}}} : ({}) -> ({}, {})", texts.names, texts.attributes, texts.types,
                      tensor(texts.out), tensor(texts.lse)),
          fetched ? texts.lse : texts.out,
          2,
          fetched};
}

/// The case of the gradient of one form, by q, k or v.
OpCase gradientOf(const Form &form, const std::string &dtype, size_t fetched, Values values) {
  Texts texts(form, dtype, values);
  texts.add(" lse", texts.lse);
  texts.add(",", texts.out);
  texts.add(",", texts.lse);
  const std::array results{texts.q, texts.k, texts.v};
  const std::array names{"by_q", "by_k", "by_v"};
  return {"attention_grad",
          labelOf(form, dtype, names[fetched], values),
          texts.operands,
          fmt::format("halftone.attention_grad {} {{{}}} : ({}) -> ({}, {}, {})", texts.names, texts.attributes,
                      texts.types, tensor(texts.q), tensor(texts.k), tensor(texts.v)),
          results[fetched],
          3,
          fetched};
}

} // namespace

std::vector<OpCase> attentionCases() {
  std::vector<OpCase> cases;
  for (const Form &form : forms) {
    const auto number = static_cast<size_t>(&form - forms.data());
    const bool isLarge = number >= firstLarge, hasAllGradients = number == 15;
    for (const std::string dtype : {"f32", "bf16", "f16", "f64"}) {
      const bool isCommon = dtype == "f32" || dtype == "bf16";
      if (!isLarge || isCommon)
        cases.push_back(caseOf(form, dtype, 0, Values::moderate));
      if (isCommon && !isLarge)
        cases.push_back(caseOf(form, dtype, 1, Values::moderate));
      for (size_t result = 0; result < 3; ++result)
        if (hasAllGradients ? dtype == "f32" : result == number % 3 && (isLarge ? isCommon : dtype == "f16"))
          cases.push_back(gradientOf(form, dtype, result, Values::moderate));
    }
  }
  cases.push_back(caseOf(forms[1], "f32", 0, Values::special));
  cases.push_back(caseOf(forms[3], "f16", 0, Values::special));
  cases.push_back(caseOf(forms[13], "f32", 0, Values::special));
  for (size_t result = 0; result < 3; ++result)
    cases.push_back(gradientOf(forms[1], "f32", result, Values::special));
  return cases;
}

} // namespace halftone::test
