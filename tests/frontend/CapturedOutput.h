// Captures the library's output during its lifetime.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Model.h"
#include <string>
#include <string_view>

namespace halftone::test {

struct CapturedOutput {
  std::string text;
  CapturedOutput() {
    set_output([this](std::string_view part) { text += part; });
  }
  CapturedOutput(const CapturedOutput &) = delete;
  ~CapturedOutput() { set_output({}); }
};

} // namespace halftone::test
