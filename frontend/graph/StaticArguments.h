// Arguments of a jit function that are compiled in.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace halftone::detail {

/// Counts the distinct values of such arguments, and warns once per argument with more than 32 values, since each value
/// has its own program. Safe to use from several threads.
class StaticArguments {
public:
  /// Counts the arguments of a new program of the function `name`.
  void note(const std::vector<int64_t> &numbers, const std::string &name);

private:
  std::mutex mutex_;
  std::vector<std::set<int64_t>> values_; // the first values of each argument
};

} // namespace halftone::detail
