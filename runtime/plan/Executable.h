// An executable: the plan that the compiler writes and the runtime plays, its kernels' code, and the names to bind.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Plan.h"
#include "runtime/base/Status.h"
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace halftone {

/// A variable that the plan reads or writes. `symbol` is its name in the IR and in a VariableBinding; `path` is for
/// people.
struct VariableSlot {
  std::string symbol, path;
  TensorType type;
  bool read = false, written = false;
};

/// A pure function of one variable (a cast, a packed layout) whose value the runtime keeps beside the variable. The
/// player makes it anew only if the variable was written. Executables that name the same function of the same variable
/// share the shadow's memory.
struct ShadowSlot {
  std::string symbol;   // in the IR
  std::string function; // key of the function, with layout and target: equal keys mean equal bytes
  TensorType type;
  int64_t variable = 0; // position in Executable::variables
  /// The position in Executable::shadows, before this one, of the source: a shadow of the same variable of which this
  /// shadow is the function. An update that writes the source need not compute it again. Without a source this shadow
  /// is a function of the variable itself.
  std::optional<int64_t> source;
  /// Whether the plan writes the shadow wherever it writes the variable, under the same predicates.
  bool written = false;
  /// The launch that makes the value: one operand, a slot of the variable or the source, and one result, a slot of the
  /// shadow. It is no step of the plan: if the variable is newer than the shadow, the player runs it before the steps,
  /// in the order of the shadows.
  LaunchStep refresh;
};

/// The origin of a launch: layer paths, the user's source line, the fused ops.
struct Site {
  std::string text;
};

/// The resources that each launch of a kernel's code asks the device for, per block. All 0 for CPUs.
struct LaunchShape {
  int64_t threads = 0;     // that compute a block together
  int64_t sharedBytes = 0; // of the memory that they share, beside the shared memory that the code itself declares
};

/// Code of one kernel for one target. For CPUs `code` is a relocatable object with one global function named `symbol` of
/// the type CpuKernelFunction and no undefined symbols; for NVIDIA GPUs it is PTX text with one entry named `symbol`,
/// whose parameters GpuAbi.h defines.
struct KernelCode {
  std::string symbol;
  std::string kind;        // "loop", "row", "matmul"
  std::string target;      // the features of the target that the code was generated for
  std::string description; // the kernel's linalg text, for reports; may be empty
  std::string code;
  std::string method = ""; // how the code computes: instruction, and sums at a time, for reports
  LaunchShape launch = {};
};

/// One row of the cast ledger, see CastLedger in halftone/Reports.h.
struct LedgerRow {
  std::string path, value;
  DType from{}, to{};
  bool storage = false, fused = false;
  int64_t bytes = 0;
  std::string rule, location;
};

struct Executable {
  std::string name;
  std::string buildId; // of the library that wrote the executable
  Signature signature;
  std::vector<VariableSlot> variables;
  std::vector<ShadowSlot> shadows;
  std::vector<std::string> constants; // raw bytes
  std::map<std::string, KernelCode> kernels;
  std::vector<Site> sites;
  std::vector<LedgerRow> ledger;
  Plan plan;
};

/// Checks the rules that a player relies on. value_error naming the step or slot, unless
/// - positions are in range, and slots agree in type with the feed, fetch, variable, shadow or constant they stand for;
/// - arena slots are aligned to bufferAlignment and inside the arena;
/// - only arena, fetch, variable and shadow slots are written, and written variables and shadows are declared as such;
/// - a shadow's refresh reads its variable or source alone and makes the shadow; if the plan writes a shadow, it also
///   writes the shadow's variable;
/// - copies have equal dtypes and sizes in bytes and do not overlap; predicates are one i1;
/// - every byte that a step reads was written earlier: for the whole range of that slot (or of another slot with the
///   same range), under the reader's own predicate, both polarities of one predicate, or none; and it was not
///   overwritten since through another range;
/// - every fetch is written;
/// - a collective's pairs of slots have one type each, its results overlap neither each other nor its operands; from the
///   collective to its wait no step writes the operands or touches the results; each wait has a collective, each
///   collective a wait;
/// - within a launch a result overlaps no other result, and an operand only if both have the same range (a kernel may
///   then work in place; the compiler guarantees that it reads each element before it writes it);
/// - a joined launch follows a launch of the same kernel under the same predicate, and no part of a launch touches
///   memory that another part writes, nor writes the predicate.
Status verify(const Executable &executable);

/// The plan as text for people: slots, then one line a step.
std::string print(const Executable &executable);

} // namespace halftone
