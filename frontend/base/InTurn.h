// Iterative destruction of deeply nested objects.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <vector>

namespace halftone::detail {

/// Used in the destructor of an object that may own others of its kind, directly or indirectly: the destructor passes
/// the owning members to add(). They are destroyed one after another at the end of the thread's outermost InTurn, so
/// that a chain of a million objects takes no more stack than a single object.
class InTurn {
public:
  InTurn();
  ~InTurn();
  InTurn(const InTurn &) = delete;
  InTurn &operator=(const InTurn &) = delete;
  /// Takes ownership of a part. If there is no memory to store it, the part is destroyed at once.
  void add(std::shared_ptr<const void> part) noexcept;

private:
  std::vector<std::shared_ptr<const void>> parts_; // of the outermost InTurn
  const bool isOutermost_;
};

} // namespace halftone::detail
