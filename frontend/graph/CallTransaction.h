// Rolls back state that a failed call has built.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <functional>
#include <vector>

namespace halftone::detail {

/// A transaction around a call. The first call of a layer builds it, and with it the layers and the optimizer that its
/// trace reaches. Code that builds an object registers an undo action with the innermost open transaction of its
/// thread. A transaction that ends without commit(), because the call failed or only reads, undoes everything in
/// reverse order and increases the configuration epoch, so no program traced meanwhile runs again. Such a call leaves
/// every object as it was before.
class CallTransaction {
public:
  /// A call is part of the enclosing transaction. So is a program, that is, the compilation and first run of a
  /// function, unless user code runs it while another function is traced: it then persists even if that trace fails.
  enum class Extent { call, program };
  explicit CallTransaction(Extent extent = Extent::call);
  ~CallTransaction();
  CallTransaction(const CallTransaction &) = delete;
  CallTransaction &operator=(const CallTransaction &) = delete;
  /// Keeps the changes, unless the enclosing transaction undoes them.
  void commit();
  /// Registers an undo action with the innermost transaction of this thread, if one is open. `undo` must not throw, and
  /// must keep alive the objects that it changes.
  static void onFailure(std::function<void()> undo);
  /// Returns true if this thread has an open transaction. State that a mere reader must not create is created only
  /// within one.
  static bool isOpen();

private:
  using Undo = std::vector<std::function<void()>>;

  CallTransaction *const outer_;
  Undo own_;     // of a top-level transaction
  Undo &log_;    // of this transaction and its nested ones, in the order of the changes
  size_t begin_; // the first change that this transaction would undo
};

} // namespace halftone::detail
