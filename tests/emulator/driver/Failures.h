// Failures of driver functions that a test has scheduled, and the number of calls of each function.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tests/emulator/driver/DriverTypes.h"
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace halftone::emulator {

/// Returns true if the driver rejects all further work of a context after this result (Results.def).
bool stopsContext(Result result);

class Failures {
public:
  /// The failure of HALFTONE_EMULATOR_FAIL: "<function> <n> <result>".
  static Failures fromEnvironment();
  /// Schedules `result` for the n-th call of `function` from now on. Success: no failure.
  void plan(std::string_view function, uint64_t nth, Result result) {
    function_ = function;
    left_ = result == Result::Success ? 0 : nth;
    result_ = result;
  }
  /// Counts a call of `function`, and returns the result scheduled for it, usually Success.
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
