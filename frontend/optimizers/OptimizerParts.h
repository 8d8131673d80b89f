// How the state of an optimizer is divided among processes that train together.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Variables.h"
#include "runtime/communication/ProcessGroup.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace halftone::detail {

/// Which elements of a variable, in row-major order, a process updates: all of them in the process `owner`, or, if that is
/// -1, a range in each process.
struct Division {
  struct Range {
    int64_t first = 0, last = 0;
    int64_t count() const { return last - first; }
  };
  int64_t processes = 1, owner = -1;
  Range of(int64_t elements, int64_t rank) const;
  /// Process r has the elements from borders[r] up to borders[r + 1].
  std::vector<int64_t> borders(int64_t elements) const;
};

/// Each process keeps the slots of the elements that it updates. A variable that processes divide has a part in each of
/// them: a variable of the range's values. The update reads and assigns the part; then gather() gives all processes the
/// new values of all parts.
class OptimizerParts {
public:
  bool areSplit() const { return processes_ > 0; }
  /// From now on the state belongs to this process of `processes`.
  void split(int64_t rank, int64_t processes);
  /// Divides variables and makes their parts. A variable with isWhole[i], or with few elements, goes to one process; large
  /// variables come first, each to the process with the fewest elements so far. `overwritten` variables are not divided.
  void divide(const std::vector<Variable> &variables, const std::vector<bool> &isWhole,
              const std::vector<bool> &overwritten);
  const std::vector<Variable> &parts() const { return parts_; }

  /// The variable that this process updates for `variable`: itself, its part, or an undefined one if other processes
  /// update all elements.
  Variable own(const Variable &variable) const;
  /// Records the same elements of a value with the shape of `variable`, which this process updates.
  Value own(const Variable &variable, const Value &x) const;
  /// Records a sum over processes of which this process gets only the elements that it updates. It gets a vector without
  /// elements if it updates none.
  Value ownOfSum(const Variable &variable, const Value &x) const;
  /// Records that the parts get the values of their variables.
  void read() const;
  /// Records that each process sends the elements that it has updated to the variables of all other processes.
  void gather() const;

  /// The elements that this process keeps of a slot of `variable`, as a slot; the whole value if nothing is divided.
  Tensor cut(const Variable &variable, const Tensor &whole) const;
  Shape cut(const Variable &variable, const Shape &whole) const;
  /// From now on `slot` holds the cut of a value of shape `whole`.
  void addSlot(const Variable &slot, const Variable &variable, const Shape &whole);
  /// The shape of the whole slot, or of `variable` itself if it is none that is divided.
  Shape wholeShape(const Variable &variable) const;
  bool isCut(const Variable &slot) const { return slots_.contains(slot.impl().get()); }
  /// The whole value of a slot, from the cuts of all processes, which make the same call. `value` itself if it is not
  /// divided. runtime_error if this process is alone.
  Tensor whole(const Variable &slot, const Tensor &value) const;
  /// The cut that the slot holds of such a value.
  Tensor cutFor(const Variable &slot, const Tensor &whole) const;
  /// runtime_error if the state is split.
  void requireWhole() const;

private:
  struct Divided {
    Variable variable, part; // no part if one process updates all elements
    Division division;
  };
  struct Slot {
    Shape whole;
    Division division;
  };
  const Divided *find(const Variable &variable) const;
  Tensor cut(const Division &division, const Tensor &whole) const;
  [[noreturn]] void refuseAlone() const;

  int64_t rank_ = 0, processes_ = 0; // 0: not split
  std::vector<Divided> divided_;
  std::map<const VariableImpl *, size_t> index_; // of divided_, by variable
  std::map<const VariableImpl *, Slot> slots_;   // slots and parts
  std::vector<Variable> parts_;
};

} // namespace halftone::detail
