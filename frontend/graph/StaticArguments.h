// Arguments of a jit function that are compiled in.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace halftone::detail {

/// Counts the values that such arguments have had, and warns once of each that has had more than 32: they have a program each.
/// Threads may use it at the same time.
class StaticArguments {
public:
  /// Counts the arguments of a new program of the function `name`.
  void note(const std::vector<int64_t> &numbers, const std::string &name);

private:
  std::mutex mutex_;
  std::vector<std::set<int64_t>> values_; // the first ones of each argument
};

} // namespace halftone::detail
