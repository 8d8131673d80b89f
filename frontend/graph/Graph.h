// Symbolic graphs: calls recorded on Inputs, and their replay on traced Values.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Trace.h"
#include "halftone/Config.h"
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace halftone::detail {

struct LayerImpl;
using Function = std::function<std::vector<Value>(const std::vector<Value> &)>;

/// A call as represented in Keras files. The arguments are {"args": [...], "kwargs": {...}} in Keras's order and names,
/// where {"input": i} stands for the i-th Value of the call.
struct CallForm {
  Config arguments{};
  std::string className{}, module{}; // of an operation, "Relu" in "keras.src.ops.nn"; a layer has its own
  Config config{};                   // of an operation: arguments that Keras keeps in the config, {"axis": -1}
  bool fits = true;                  // false if files cannot represent an argument
};
/// The arguments of a layer that takes `count` Values: a single Value directly, several as a list.
Config listArguments(size_t count);

/// One recorded call of an operation or a layer. Graphs may be a million calls deep.
struct Call {
  std::string name;
  std::shared_ptr<LayerImpl> layer; // null for an operation
  std::vector<Value> inputs;
  size_t outputs = 0;
  Function replay;
  CallForm form{};         // empty class name if files cannot represent the operation
  int64_t index = 0;       // number of calls of the layer recorded before
  uint64_t epoch = 0;      // the configuration epoch of the outputs' inferred specs
  bool isConstant = false; // for operations that depend on no Input and no layer
  ~Call();
};

/// Returns true if the Value is the recorded result of operations that depend on no Input and no layer, such as
/// ops::zeros({2}) + 1.
bool isConstant(const Value &value);

/// Runs `f` on traced inputs, and records a call of it on symbolic inputs. Outside of a trace it also records an
/// operation without inputs, as a constant of the graph. To infer the output shapes it traces `f` twice, with two
/// different extents for every None dimension; an output dimension that differs is None. In error messages None
/// replaces these extents. value_error for a mixture of traced and symbolic inputs. The recorded call has `form`
/// unchanged. If `known` holds the specs of the outputs, nothing is traced.
std::vector<Value> apply(const std::string &name, const std::vector<Value> &inputs, const Function &f,
                         const std::shared_ptr<LayerImpl> &layer = nullptr, const CallForm &form = {},
                         std::optional<std::vector<ValueSpec>> known = {});

/// The specs of symbolic Values.
std::vector<ValueSpec> specsOf(const std::vector<Value> &values);

std::vector<ValueSpec> inferSpecs(const std::vector<ValueSpec> &inputs, const Function &f);

Value symbolicInput(const Shape &shape, DType dtype, const std::string &name);

/// The calls on which `outputs` depend, in topological order.
std::vector<std::shared_ptr<Call>> callsInOrder(const std::vector<Value> &outputs);

/// Evaluates a symbolic graph with `values` in place of `inputs`. value_error if an output depends on another Input.
std::vector<Value> replay(const std::vector<Value> &inputs, const std::vector<Value> &outputs,
                          const std::vector<Value> &values);

/// Returns true if the graph that this thread evaluates has received masks from outside: with its inputs, or with the
/// outputs of an inner model. Keras sees such a mask when a model runs, but not when the call is recorded.
bool masksEntered();
/// A scope in which this thread evaluates the graph of a model on `inputs`.
class GraphMasks {
public:
  explicit GraphMasks(const std::vector<Value> &inputs);
  ~GraphMasks();
  GraphMasks(const GraphMasks &) = delete;
  /// Passes the masks of `outputs` to the enclosing graph.
  void leaveBy(const std::vector<Value> &outputs);

private:
  bool outer_;
};

/// Returns true if layer calls on this thread are in training mode.
bool trainingNow();
class TrainingScope {
public:
  explicit TrainingScope(bool training);
  ~TrainingScope();
  TrainingScope(const TrainingScope &) = delete;

private:
  bool saved_;
};

/// Returns true while a call only infers shapes; a layer must not retain state from such a call.
bool inferringShapes();
/// Returns true if a call infers shapes and `extent` is a stand-in for None.
bool isNonePlaceholder(int64_t extent);
/// The id of the running inferSpecs() of this thread, from 1; 0 if none is running. Traces with the same id differ in
/// the extents that stand for None.
int64_t inferenceNumber();
/// Sets to None every dimension of `specs` in which `other`, from another trace, differs.
void mergeSpecs(std::vector<ValueSpec> &specs, const std::vector<ValueSpec> &other);

} // namespace halftone::detail
