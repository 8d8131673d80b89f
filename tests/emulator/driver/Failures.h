// Failures of the driver's functions that a test has planned, and how often each function has been called.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tests/emulator/driver/DriverTypes.h"
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace halftone::emulator {

/// Whether the driver refuses all further work of a context after that result (Results.def).
bool stopsContext(Result result);

class Failures {
public:
  /// That of HALFTONE_EMULATOR_FAIL: "<function> <n> <result>".
  static Failures fromEnvironment();
  /// The n-th call from here on of `function` is to end with `result`, Success: none is.
  void plan(std::string_view function, uint64_t nth, Result result) {
    function_ = function;
    left_ = result == Result::Success ? 0 : nth;
    result_ = result;
  }
  /// Counts a call of `function`, and gives the result that is planned for it: mostly Success.
  Result next(std::string_view function) {
    auto [entry, isNew] = calls_.try_emplace(std::string(function), 0);
    ++entry->second;
    return left_ > 0 && function == function_ && --left_ == 0 ? result_ : Result::Success;
  }
  uint64_t calls(std::string_view function) const {
    auto found = calls_.find(function);
    return found == calls_.end() ? 0 : found->second;
  }

private:
  std::string function_;
  uint64_t left_ = 0;
  Result result_ = Result::Success;
  std::map<std::string, uint64_t, std::less<>> calls_;
};

} // namespace halftone::emulator
