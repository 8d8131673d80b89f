// Symbolic graphs: calls recorded on Inputs, and their replay on traced Values.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/Trace.h"
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace halftone::detail {

struct LayerImpl;
using Function = std::function<std::vector<Value>(const std::vector<Value> &)>;

/// One recorded call of an operation or a layer.
struct Call {
  std::string name;
  std::shared_ptr<LayerImpl> layer; // null for an operation
  std::vector<Value> inputs;
  size_t outputs = 0;
  Function replay;
  int64_t index = 0; // how many calls of the layer were recorded before
};

struct ValueSpec {
  Shape shape;
  DType dtype = DType::float32;
};

/// Runs `f` on traced inputs; on symbolic ones records it, its outputs' shapes found by tracing it twice with two
/// extents for every dimension that is None (a dimension that differs is None). Mixing both kinds is a value_error. If
/// an error's text holds such an extent, it reads None instead.
std::vector<Value> apply(const std::string &name, const std::vector<Value> &inputs, const Function &f,
                         const std::shared_ptr<LayerImpl> &layer = nullptr);
/// apply() of a function with one result.
Value applyOne(const std::string &name, const std::vector<Value> &inputs,
               const std::function<Value(const std::vector<Value> &)> &f);

std::vector<ValueSpec> inferSpecs(const std::vector<ValueSpec> &inputs, const Function &f);

Value symbolicInput(const Shape &shape, DType dtype, const std::string &name);

/// The calls that `outputs` depend on, each after those it depends on.
std::vector<std::shared_ptr<Call>> callsInOrder(const std::vector<Value> &outputs);

/// Evaluates a symbolic graph with `values` for `inputs`. value_error when an output depends on another Input.
std::vector<Value> replay(const std::vector<Value> &inputs, const std::vector<Value> &outputs,
                          const std::vector<Value> &values);

/// Whether layers are called for training on this thread.
bool trainingNow();
class TrainingScope {
public:
  explicit TrainingScope(bool training);
  ~TrainingScope();
  TrainingScope(const TrainingScope &) = delete;

private:
  bool saved_;
};

/// True while shapes are only being inferred; a layer remembers nothing of such a call.
bool inferringShapes();
/// The id of the inferSpecs() that runs on this thread, from 1; 0 outside of all. Its traces differ in the extents that
/// stand for None.
int64_t inferenceNumber();
/// `specs` with None for every dimension in which `other`, of another trace, differs.
void mergeSpecs(std::vector<ValueSpec> &specs, const std::vector<ValueSpec> &other);

} // namespace halftone::detail
