// Destroys objects that hold each other, however deeply, without recursion.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <vector>

namespace halftone::detail {

/// In the destructor of an object that may hold others of its kind, directly or through others: the destructor gives the parts
/// by which it holds them to add(). They are destroyed at the end of the outermost InTurn of the thread, one after the other, so
/// that a chain of a million objects takes no more stack than one.
class InTurn {
public:
  InTurn();
  ~InTurn();
  InTurn(const InTurn &) = delete;
  InTurn &operator=(const InTurn &) = delete;
  /// Takes a part. If there is no memory to keep it, it is destroyed at once.
  void add(std::shared_ptr<const void> part) noexcept;

private:
  std::vector<std::shared_ptr<const void>> parts_; // of the outermost one
  const bool isOutermost_;
};

} // namespace halftone::detail
