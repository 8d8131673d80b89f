// The division of an optimizer's state among processes that train jointly.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Variables.h"
#include "runtime/communication/ProcessGroup.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace halftone::detail {

/// The elements of a variable, in row-major order, that each process updates: all elements in process `owner` or, if it
/// is -1, a range per process.
struct Division {
  struct Range {
    int64_t first = 0, last = 0;
    int64_t count() const { return last - first; }
  };
  int64_t processes = 1, owner = -1;
  Range of(int64_t elements, int64_t rank) const;
  /// Process r owns elements [borders[r], borders[r + 1]).
  std::vector<int64_t> offsets(int64_t elements) const;
};

/// Each process stores the slots of the elements that it updates. A divided variable has a part in each process: a
/// variable with the values of the range. The update reads and assigns the part; then gather() distributes the new
/// values of all parts to all processes.
class OptimizerParts {
public:
  bool areSplit() const { return processes_ > 0; }
  /// From now on the state is that of this process of `processes`.
  void split(int64_t rank, int64_t processes);
  /// Divides variables and creates their parts. A variable with isWhole[i], or with few elements, is assigned to one
  /// process as a whole: in descending order of size, each to the process with the fewest elements so far.
  /// `overwritten` variables are not divided.
  void divide(const std::vector<Variable> &variables, const std::vector<bool> &isWhole,
              const std::vector<bool> &overwritten);
  const std::vector<Variable> &parts() const { return parts_; }

  /// The variable that this process updates for `variable`: itself, its part, or an undefined Variable if other
  /// processes update all elements.
  Variable own(const Variable &variable) const;
  /// Records the selection of the elements that this process updates from a value with the shape of `variable`.
  Value own(const Variable &variable, const Value &x) const;
  /// Records a sum over processes of which this process gets only the elements that it updates; an empty vector if it
  /// updates none.
  Value ownOfSum(const Variable &variable, const Value &x) const;
  /// Records copies of the variables' values to their parts.
  void read() const;
  /// Records the exchange in which each process sends the elements that it has updated to the variables of all other
  /// processes.
  void gather() const;

  /// The elements of a slot of `variable` that this process stores; the whole value if nothing is divided.
  Tensor cut(const Variable &variable, const Tensor &whole) const;
  Shape cut(const Variable &variable, const Shape &whole) const;
  /// Declares that `slot` holds the cut of a value of shape `whole`.
  void addSlot(const Variable &slot, const Variable &variable, const Shape &whole);
  /// The shape of the whole slot, or of `variable` itself if it is not divided.
  Shape wholeShape(const Variable &variable) const;
  bool isCut(const Variable &slot) const { return slots_.contains(slot.impl().get()); }
  /// The whole value of a slot, gathered from all processes, which make the same call; `value` itself if it is not
  /// divided. runtime_error if this process runs alone.
  Tensor whole(const Variable &slot, const Tensor &value) const;
  /// The cut of a whole value that the slot holds.
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
  std::map<const VariableImpl *, size_t> index_; // index in divided_, by variable
  std::map<const VariableImpl *, Slot> slots_;   // slots and parts
  std::vector<Variable> parts_;
};

} // namespace halftone::detail
