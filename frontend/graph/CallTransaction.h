// Takes back what a call has built when the call fails.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <functional>
#include <vector>

namespace halftone::detail {

/// The first call of a layer builds it, and with it the layers and the optimizer that its trace reaches. Code that builds an
/// object tells the transaction that is open on its thread how to undo that. A transaction that ends without commit(), since
/// the call failed or since the call only reads, undoes everything in reverse order, and the configuration epoch grows:
/// no program that was traced meanwhile runs again. So such a call leaves every object as it was before.
class CallTransaction {
public:
  /// A call belongs to the transaction around it. So does a program, the compilation and first run of a function; but a
  /// program that users' code runs while a function is traced stays, whatever becomes of that trace.
  enum class Extent { call, program };
  explicit CallTransaction(Extent extent = Extent::call);
  ~CallTransaction();
  CallTransaction(const CallTransaction &) = delete;
  CallTransaction &operator=(const CallTransaction &) = delete;
  /// Keeps what has been built, unless the transaction around this one undoes it.
  void commit();
  /// Tells the innermost transaction of this thread, if one is open, how to undo a change. `undo` must not throw, and must
  /// keep alive the objects that it changes.
  static void onFailure(std::function<void()> undo);
  /// Whether this thread has a transaction open. State that no reader may make is made in one alone.
  static bool isOpen();

private:
  using Undo = std::vector<std::function<void()>>;

  CallTransaction *const outer_;
  Undo own_;     // of a transaction that is no part of another one
  Undo &log_;    // of it and of its parts, in the order of the changes
  size_t begin_; // of the changes that this transaction would undo
};

} // namespace halftone::detail
