// An executable: the plan that the compiler writes and the runtime plays, its kernel code, and the symbols to bind.
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
/// messages.
struct VariableSlot {
  std::string symbol, path;
  TensorType type;
  bool read = false, written = false;
};

/// A pure function of one variable (a cast, a packed layout) whose value the runtime caches beside the variable. The
/// player recomputes it only if the variable was written. Executables that name the same function of the same variable
/// share the shadow's memory.
struct ShadowSlot {
  std::string symbol;   // in the IR
  std::string function; // key of the function, including layout and target: equal keys mean equal bytes
  TensorType type;
  int64_t variable = 0; // position in Executable::variables
  /// The index in Executable::shadows of the source: an earlier shadow of the same variable from which this shadow is
  /// computed. An update that writes the source need not compute it again. Without a source this shadow is a function
  /// of the variable itself.
  std::optional<int64_t> source;
  /// True if the plan writes the shadow wherever it writes the variable, under the same predicates.
  bool written = false;
  /// The launch that recomputes the value. It has one operand, a slot of the variable or of the source, and one result,
  /// a slot of the shadow. It is not a step of the plan: if the variable is newer than the shadow, the player runs it
  /// before the steps, in the order of the shadows.
  LaunchStep refresh;
};

/// The origin of a launch: layer paths, the user's source line, the fused ops.
struct Site {
  std::string text;
};

/// The resources that a kernel launch requests from the device per block. All 0 for CPUs.
struct LaunchShape {
  int64_t threads = 0;     // threads that cooperate on a block
  int64_t sharedBytes = 0; // dynamic shared memory, in addition to the shared memory that the code itself declares
};

/// The code of a kernel, or of a core, which is a function that kernels call, for one target. For CPUs `code` is a
/// relocatable object that defines one global function, named `symbol`, and refers only to the symbols of the cores in
/// `uses`. The function of a kernel has type CpuKernelFunction. For NVIDIA GPUs `code` is PTX with one entry named
/// `symbol`, whose parameters GpuAbi.h defines.
struct KernelCode {
  static constexpr std::string_view coreKind = "core";

  std::string symbol;
  std::string kind;        // the kernel's kind, such as "matmul", or coreKind
  std::string target;      // the target features for which the code was generated
  std::string description; // the kernel's linalg text, for reports; may be empty
  std::string code;
  std::string method = ""; // for reports, such as "f32 multiply-add, 4 x 24 sums in registers"
  LaunchShape launch = {};
  std::vector<std::string> uses = {}; // keys of the cores that the code calls, see checkCores()

  bool isCore() const { return kind == coreKind; }
};

/// One row of the cast ledger; see CastLedger in halftone/Reports.h.
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
  std::vector<std::string> constants;        // raw bytes
  std::map<std::string, KernelCode> kernels; // and their cores, by key
  std::vector<Site> sites;
  std::vector<LedgerRow> ledger;
  Plan plan;
};

/// Checks the invariants that a player relies on. value_error naming the step or slot, unless
/// - the kernels pass checkCores(), and no launch refers to a core;
/// - indices are in range, and slots have the type of the feed, fetch, variable, shadow or constant that they refer to;
/// - arena slots are aligned to bufferAlignment and inside the arena;
/// - only arena, fetch, variable and shadow slots are written, and written variables and shadows are declared as such;
/// - a shadow's refresh reads only its variable or source and writes the shadow; if the plan writes a shadow, it also
///   writes the shadow's variable;
/// - the slots of a copy have equal dtypes and sizes in bytes and do not overlap; a predicate is a single i1;
/// - every byte that a step reads was written earlier: for the whole range of that slot (or of another slot with the
///   same range), under the reader's own predicate, both polarities of one predicate, or none; and it was not
///   overwritten since through another range;
/// - every fetch is written;
/// - the two slots of each pair of a collective have the same type, and its results overlap neither each other nor its
///   operands; between a collective and its wait no step writes the operands or accesses the results; each wait has a
///   collective, and each collective a wait;
/// - within a launch a result overlaps no other result, and overlaps an operand only if both have the same range (the
///   kernel may then work in place; the compiler guarantees that it reads each element before it writes it);
/// - a joined launch follows a launch of the same kernel under the same predicate; no part of a launch accesses memory
///   that another part writes, and no part writes the predicate.
Status verify(const Executable &executable);

/// Checks that each key in KernelCode::uses is that of a core in `kernels` for the same target and occurs once, that the
/// cores of a kernel have different symbols, and that no core uses another. value_error naming the kernel and the core.
Status checkCores(const std::map<std::string, KernelCode> &kernels);

/// Prints the plan in human-readable form: slots, then one line per step.
std::string print(const Executable &executable);

} // namespace halftone
