// The cases of windows and convolutions.
// SPDX-License-Identifier: Apache-2.0
#include "OpTable.h"
#include <fmt/format.h>

namespace halftone::test {
namespace {

struct Form {
  const char *label, *steps;       // parameters of the spatial axes
  std::string image, taps, places; // their extents
};

const std::vector<Form> forms = {
    {"same", "stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>, low = array<i64: 1, 1>, hole = array<i64: 1, 1>",
     "7x6x", "3x3x", "7x6x"},
    {"strided",
     "stride = array<i64: 2, 2>, dilation = array<i64: 1, 1>, low = array<i64: 0, 1>, hole = array<i64: 1, 1>", "7x6x",
     "3x3x", "3x3x"},
    {"dilated", "stride = array<i64: 1>, dilation = array<i64: 2>, low = array<i64: 2>, hole = array<i64: 1>", "19x",
     "2x", "19x"},
    {"back",
     "stride = array<i64: 1, 1>, dilation = array<i64: -1, -1>, low = array<i64: 0, -1>, hole = array<i64: 2, 2>",
     "3x3x", "3x3x", "7x6x"},
    {"flip", "stride = array<i64: -1>, dilation = array<i64: 1>, low = array<i64: -8>, hole = array<i64: 1>", "9x",
     "1x", "9x"},
    {"tiles", "stride = array<i64: 2, 2>, dilation = array<i64: 1, 1>, low = array<i64: 0, 0>, hole = array<i64: 1, 1>",
     "4x6x", "2x2x", "2x3x"},
    {"volume",
     "stride = array<i64: 1, 2, 1>, dilation = array<i64: 1, 1, 1>, low = array<i64: 1, 0, 0>, hole = array<i64: 1, 1, "
     "1>",
     "3x4x3x", "3x2x2x", "3x2x2x"},
    {"point", "stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>, low = array<i64: 0, 0>, hole = array<i64: 1, 1>",
     "5x6x", "1x1x", "5x6x"},
    {"outside", "stride = array<i64: 3>, dilation = array<i64: 1>, low = array<i64: 9>, hole = array<i64: 1>", "2x",
     "3x", "3x"},
    {"nowhere", "stride = array<i64: 1>, dilation = array<i64: 1>, low = array<i64: 1>, hole = array<i64: 1>", "5x",
     "3x", "0x"},
    {"untapped", "stride = array<i64: 1>, dilation = array<i64: 1>, low = array<i64: 1>, hole = array<i64: 1>", "5x",
     "0x", "4x"},
    {"imageless", "stride = array<i64: 1>, dilation = array<i64: 1>, low = array<i64: 1>, hole = array<i64: 1>", "0x",
     "3x", "1x"}};

std::string tensor(const std::string &type) { return "tensor<" + type + ">"; }

} // namespace

std::vector<OpCase> windowCases() {
  std::vector<OpCase> cases;
  const auto add = [&](const Form &form, const std::string &dtype, const std::string &channels, bool diagonal,
                       bool lowest) {
    const std::string from = "2x" + form.image + (diagonal ? form.taps : "") + channels + dtype,
                      to = "2x" + form.places + form.taps + channels + dtype;
    const std::string label = fmt::format("window_{}_{}_{}{}{}", form.label, dtype, channels,
                                          diagonal ? "_diagonal" : "", lowest ? "_lowest" : "");
    cases.push_back({"window",
                     label,
                     {{from}},
                     fmt::format("halftone.window $0 {{{}{}{}}} : {} to {}", form.steps, diagonal ? ", diagonal" : "",
                                 lowest ? ", lowest" : "", tensor(from), tensor(to)),
                     to});
  };
  for (const char *dtype : {"i1", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", "f16", "bf16", "f32", "f64",
                            "f8E4M3FN", "f8E5M2"})
    for (const Form &form : forms) {
      const bool all = std::string(dtype) == "f32" || std::string(dtype) == "bf16"; // others: the first two forms
      if (!all && &form > &forms[1])
        continue;
      add(form, dtype, "5x", false, false);
      add(form, dtype, "3x", true, false);
      add(form, dtype, "", false, true);
      if (all)
        add(form, dtype, "2x9x", false, true);
    }
  return cases;
}

std::vector<OpCase> convolutionCases() {
  std::vector<OpCase> cases;
  const auto add = [&](const Form &form, const std::string &dtype, const std::string &result, const std::string &depth,
                       Values values) {
    const std::string groups = depth.substr(0, depth.find('x') + 1), filters = "9x";
    const std::string x = "2x" + form.image + depth + dtype, w = form.taps + depth + filters + dtype,
                      y = "2x" + form.places + groups + filters + result;
    const std::string label = fmt::format("convolution_{}_{}_{}_{}{}", form.label, dtype, result, depth,
                                          values == Values::special ? "_special" : "");
    cases.push_back({"convolution",
                     label,
                     {{x, values}, {w, values, 1}},
                     fmt::format("halftone.convolution $0, $1 {{{}}} : ({}, {}) -> {}", form.steps, tensor(x),
                                 tensor(w), tensor(y)),
                     y});
  };
  for (const Form &form : forms) {
    for (const char *depth : {"1x5x", "3x4x", "4x1x", "1x32x"})
      for (const char *dtype : {"f32", "bf16"})
        add(form, dtype, dtype, depth, Values::moderate);
    add(form, "f16", "f32", "1x5x", Values::moderate);
    add(form, "f64", "f64", "1x5x", Values::moderate);
    add(form, "f8E4M3FN", "f32", "1x5x", Values::moderate);
    add(form, "f32", "f32", "1x5x", Values::special);
    add(form, "i8", "i32", "1x8x", Values::special);
    add(form, "i32", "i32", "2x3x", Values::special);
  }
  return cases;
}

} // namespace halftone::test
