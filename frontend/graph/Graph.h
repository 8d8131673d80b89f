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

/// A call as Keras's files have it. The arguments are {"args": [...], "kwargs": {...}} in Keras's order and names, where
/// {"input": i} stands for the i-th Value of the call.
struct CallForm {
  Config arguments{};
  std::string className{}, module{}; // of an operation, "Relu" in "keras.src.ops.nn"; a layer has its own
  Config config{};                   // of an operation: the arguments that Keras keeps there, {"axis": -1}
  bool fits = true;                  // false if files cannot hold one of the arguments
};
/// The arguments of a layer that takes `count` Values: one as it is, several as a list.
Config listArguments(size_t count);

/// One recorded call of an operation or a layer. Graphs may be a million calls deep.
struct Call {
  std::string name;
  std::shared_ptr<LayerImpl> layer; // null for an operation
  std::vector<Value> inputs;
  size_t outputs = 0;
  Function replay;
  CallForm form{};         // of an operation that files cannot hold: without a class
  int64_t index = 0;       // how many calls of the layer were recorded before
  uint64_t epoch = 0;      // the configuration epoch under which the outputs' specs were inferred
  bool isConstant = false; // of operations that depend on no Input and no layer
  ~Call();
};

/// Whether the Value is the recorded result of operations on no Input and no layer, such as ops::zeros({2}) + 1.
bool isConstant(const Value &value);

/// Runs `f` on traced inputs; on symbolic ones records it, and outside of a trace also an operation without inputs, which is a
/// constant of the graph. For the shapes of the outputs it traces `f` twice, with two
/// extents for every dimension that is None: a dimension that differs is None. value_error for a mixture of traced and
/// symbolic inputs. If the text of an error holds such an extent, None replaces it. The recorded call has `form` as it is. If
/// `known` holds the specs of the outputs, nothing is traced.
std::vector<Value> apply(const std::string &name, const std::vector<Value> &inputs, const Function &f,
                         const std::shared_ptr<LayerImpl> &layer = nullptr, const CallForm &form = {},
                         std::optional<std::vector<ValueSpec>> known = {});

/// The specs of symbolic Values.
std::vector<ValueSpec> specsOf(const std::vector<Value> &values);

std::vector<ValueSpec> inferSpecs(const std::vector<ValueSpec> &inputs, const Function &f);

Value symbolicInput(const Shape &shape, DType dtype, const std::string &name);

/// The calls on which `outputs` depend, each after the calls on which it depends.
std::vector<std::shared_ptr<Call>> callsInOrder(const std::vector<Value> &outputs);

/// Evaluates a symbolic graph with `values` in place of `inputs`. value_error when an output depends on another Input.
std::vector<Value> replay(const std::vector<Value> &inputs, const std::vector<Value> &outputs,
                          const std::vector<Value> &values);

/// Whether the graph that this thread evaluates has got masks from outside: with its inputs, or with the outputs of an
/// inner model. Keras finds such a mask when a model runs, but not when the call is recorded.
bool masksEntered();
/// While it lives, this thread evaluates the graph of a model on `inputs`.
class GraphMasks {
public:
  explicit GraphMasks(const std::vector<Value> &inputs);
  ~GraphMasks();
  GraphMasks(const GraphMasks &) = delete;
  /// The graph around this one gets the masks of `outputs`.
  void leaveBy(const std::vector<Value> &outputs);

private:
  bool outer_;
};

/// Whether layer calls on this thread are for training.
bool trainingNow();
class TrainingScope {
public:
  explicit TrainingScope(bool training);
  ~TrainingScope();
  TrainingScope(const TrainingScope &) = delete;

private:
  bool saved_;
};

/// True while a call only infers shapes; a layer remembers nothing of such a call.
bool inferringShapes();
/// Whether a call infers shapes and `extent` is a number in place of None.
bool standsForNone(int64_t extent);
/// The id of the inferSpecs() that runs on this thread, from 1; 0 when none runs. The traces of one id differ in the
/// extents that stand for None.
int64_t inferenceNumber();
/// Puts None into `specs` for every dimension in which `other`, from another trace, differs.
void mergeSpecs(std::vector<ValueSpec> &specs, const std::vector<ValueSpec> &other);

} // namespace halftone::detail
