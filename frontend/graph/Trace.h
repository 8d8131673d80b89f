// A function being traced into a module in stage graph. Values become IR only here.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Variables.h"
#include "halftone/Error.h"
#include "halftone/Value.h"
#include "runtime/BeforePlay.h"
#include "runtime/plan/Plan.h"
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mlir {
class ModuleOp;
}

namespace halftone::detail {

class Trace;
struct Call;
struct LayerImpl;

/// The referent of a Value: a value in a trace, or the result of a recorded call in a symbolic graph.
struct Node {
  Shape shape;
  DType dtype = DType::float32;
  std::string layerPath;
  // Traced: the trace, the MLIR value and the region in which it was created.
  std::weak_ptr<Trace> trace;
  const void *handle = nullptr;
  int64_t region = -1;
  // Symbolic: the call that produced the value (null for an Input), and the index of the result.
  std::shared_ptr<Call> call;
  size_t index = 0;
  std::string name; // the name of an Input
  /// Traced: the index of the feed that the Value is, apart from its shape and dtype. A Value of strings has no other
  /// contents.
  std::optional<size_t> feed{};
  Value mask; // traced: bool mask of valid elements, undefined for none
  bool isTraced() const { return handle != nullptr; }
};

enum class ReduceKind : uint8_t { sum, max, min, prod, logical_and, logical_or };
enum class ComparePredicate : uint8_t { eq, ne, lt, le, gt, ge };
enum class ScatterKind : uint8_t { set, sum, max, min, prod };
enum class ReduceAllKind : uint8_t { all_finite, sum_of_squares, max_abs };

/// This process's part of the batch of a step that several processes run jointly. A process without rows computes a
/// dummy row that counts as 0 rows.
struct SharedBatch {
  int64_t rank = 0, processes = 1;
  Value rows, allRows;   // float32 scalars: of this process, and of all
  int64_t wholeRows = 0; // the value of allRows
  /// If true, the optimizer's apply() gets only those elements of each gradient that this process updates.
  bool hasOwnGradients = false;
};

/// The shape and dtype of a Value.
struct ValueSpec {
  Shape shape;
  DType dtype = DType::float32;
  friend bool operator==(const ValueSpec &, const ValueSpec &) = default;
};

/// A tensor that the host computes from feeds before each run. The program gets it as an additional feed.
struct HostStep {
  struct Input {
    size_t feed = 0; // of the traced function
    ValueSpec spec;  // as the step sees it
    friend bool operator==(const Input &, const Input &) = default;
  };
  const void *owner = nullptr;
  std::vector<Input> inputs{};
  std::function<Tensor(const std::vector<Tensor> &)> compute{};
  ValueSpec spec{}; // of the result; None for a data-dependent extent
  Value result{};
};

struct LayerScopeArgs {
  std::string path, className, policy;
  std::string rule; // the policy map key that matched, or ""
  DType computeDtype = DType::float32;
  bool autocast = true;
  Where where{};
  // The backward pass recomputes the call if its outputs together have more elements than this.
  std::optional<int64_t> rematerializeAbove{};
};

/// A value that a layer adds to the losses of its trace, with the layer's path.
struct AddedLoss {
  std::string path;
  Value value;
  const LayerImpl *layer = nullptr; // null for a value exported with the losses that is not one
};

/// Emits dialect ops at the current insertion point. All shapes are static. Every method throws Error: value_error with
/// both shapes or dtypes if operands do not match. Dtypes must already be equal: frontend/ops/Ops.cpp promotes them.
class Trace : public std::enable_shared_from_this<Trace> {
public:
  static std::shared_ptr<Trace> create(std::string name);
  virtual ~Trace() = default;
  /// The innermost open trace of this thread, or null.
  static Trace *current();
  /// A scope in which a trace is current on this thread.
  class Scope {
  public:
    explicit Scope(std::shared_ptr<Trace> trace);
    ~Scope();
    Scope(const Scope &) = delete;
  };

  Value feed(const std::string &name, const Shape &shape, DType dtype); // string feeds are read only by host steps
  virtual void fetch(const std::string &name, const Value &value) = 0;

  virtual Value unary(std::string_view op, const Value &x) = 0;
  virtual Value binary(std::string_view op, const Value &a, const Value &b) = 0;
  virtual Value compare(ComparePredicate predicate, const Value &a, const Value &b) = 0;
  virtual Value select(const Value &condition, const Value &a, const Value &b) = 0;
  virtual Value isFinite(const Value &x) = 0;
  virtual Value cast(const Value &x, DType dtype, std::string_view origin) = 0;
  virtual Value splat(const Number &value, const Shape &shape, DType dtype) = 0;
  virtual Value literal(const Tensor &data) = 0; // at most 64 elements
  virtual Value iota(int64_t axis, const Shape &shape, DType dtype) = 0;
  virtual Value randomBits(const Value &key, const Shape &shape) = 0;
  struct ContractAxes {
    std::vector<int64_t> lhsBatch, rhsBatch, lhsContract, rhsContract;
  };
  virtual Value contract(const Value &a, const Value &b, const ContractAxes &axes) = 0;
  /// One value per spatial axis; see the docs of the op `window`.
  struct WindowSteps {
    std::vector<int64_t> stride, dilation, paddingLow, baseDilation;
  };
  /// Windows of x (n, s..., c...): (n, positions..., taps..., c...).
  virtual Value window(const Value &x, const WindowSteps &steps, const std::vector<int64_t> &positions,
                       const std::vector<int64_t> &taps, bool lowest) = 0;
  /// Convolves x (n, s..., g, c) with w (k..., g, c, f): (n, positions..., g, f).
  virtual Value convolution(const Value &x, const Value &w, const WindowSteps &steps,
                            const std::vector<int64_t> &positions) = 0;
  /// Arguments of attention other than queries, keys and values; see the docs of the op. Undefined operands are absent.
  struct Attention {
    Value bias{}, mask{}, key{};
    bool causal = false;
    double scale = 1.0, rate = 0.0;
  };
  /// q (b, t, n, h), k (b, s, m, h), v (b, s, m, e): (b, t, n, e).
  virtual Value attention(const Value &q, const Value &k, const Value &v, const Attention &more) = 0;
  virtual Value reduce(ReduceKind kind, const Value &x, const std::vector<int64_t> &axes, DType result) = 0;
  virtual Value argReduce(bool max, const Value &x, int64_t axis) = 0;
  /// Cumulative sum, prod, max or min along an axis.
  virtual Value cumsum(const Value &x, int64_t axis, ReduceKind kind = ReduceKind::sum) = 0;
  /// The first `count` elements along `axis` in sorted order, and their indices.
  virtual std::array<Value, 2> sort(const Value &x, int64_t axis, bool descending, int64_t count) = 0;
  virtual Value reduceAll(ReduceAllKind kind, const std::vector<Value> &xs) = 0;
  /// All-reduce of x over the processes, which record the same call.
  virtual Value allReduce(CollectiveKind kind, const Value &x) = 0;
  /// Reduce-scatter: sums x over processes and returns elements [borders[rank], borders[rank + 1]) of the sum as a
  /// vector or, if one process has all elements, in the shape of x.
  virtual Value reduceScatter(const Value &x, const std::vector<int64_t> &offsets, int64_t rank) = 0;
  /// All-gather: concatenates the elements of all processes to a vector. If `x` already has all elements, the result
  /// has the shape of x.
  virtual Value allGather(const Value &x, const std::vector<int64_t> &offsets, int64_t rank) = 0;
  virtual Value reshape(const Value &x, const Shape &shape) = 0;
  virtual Value broadcast(const Value &x, const Shape &shape, const std::vector<int64_t> &axes) = 0;
  virtual Value transpose(const Value &x, const std::vector<int64_t> &permutation) = 0;
  /// The slice of shape `shape` at the start indices `start`.
  virtual Value slice(const Value &x, const std::vector<int64_t> &start, const Shape &shape) = 0;
  virtual Value concat(const std::vector<Value> &xs, int64_t axis) = 0;
  /// Gathers slices of x along `axis` by int32 or int64 indices; the axes of `indices` replace `axis`. Indices are
  /// clamped. The first `batch` axes of both are shared.
  virtual Value gather(const Value &x, const Value &indices, int64_t axis, int64_t batch = 0) = 0;
  /// Combines x with the updates at the slices along `axis` that the indices select; out-of-range indices are ignored.
  virtual Value scatter(ScatterKind kind, const Value &x, const Value &indices, const Value &updates, int64_t axis,
                        int64_t batch = 0) = 0;
  virtual Value stopGradient(const Value &x) = 0;
  /// Returns `y` with a custom derivative: `gradient` maps its cotangent to one cotangent for each of the floats `xs`.
  virtual Value customGradient(const Value &y, const std::vector<Value> &xs,
                               const std::function<std::vector<Value>(const Value &)> &gradient) = 0;

  /// For an autocast read, `dtype` may differ from the variable's dtype.
  virtual Value read(const std::shared_ptr<VariableImpl> &variable, DType dtype) = 0;
  virtual void assign(const std::shared_ptr<VariableImpl> &variable, const Value &value) = 0;
  virtual std::vector<Value> gradient(const Value &y, const std::vector<std::shared_ptr<VariableImpl>> &of,
                                      const std::vector<Value> &at) = 0;
  /// Predicates the assignments that `then` records: they happen only if `condition`, a bool scalar, holds.
  void when(const Value &condition, const std::function<void()> &then);
  /// Returns the values of `body`, whose ops the backward pass recomputes.
  virtual std::vector<Value> rematerialized(const std::function<std::vector<Value>()> &body) = 0;
  /// A branch or loop: one op with a region for each body, which gets arguments and returns the values to yield. The
  /// op's result types follow from the yields of all bodies.
  struct ControlFlow {
    struct Body {
      std::vector<ValueSpec> arguments;
      std::function<std::vector<Value>(const std::vector<Value> &)> yields;
    };
    std::string_view op;
    std::vector<Value> operands;
    std::vector<int32_t> segments{}; // operand segment sizes, if the op has several operand lists
    std::optional<int64_t> length{}, maximum{};
    bool reverse = false;
    std::vector<Body> bodies;
    std::function<std::vector<ValueSpec>(const std::vector<std::vector<Value>> &yields)> results;
  };
  virtual std::vector<Value> controlFlow(const ControlFlow &op) = 0;
  /// One call of a layer: `body` gets the inputs (with autocast, floats in the compute dtype) and returns the outputs.
  std::vector<Value> layer(const LayerScopeArgs &args, const std::vector<Value> &inputs,
                           const std::function<std::vector<Value>(const std::vector<Value> &)> &body);

  /// True if the traced function is a single layer call on data.
  bool isCallOnData = false;
  /// Set before the layers are called, if several processes run the traced step jointly.
  std::optional<SharedBatch> sharedBatch;
  /// Losses that layers have added so far (activity regularizers). The code that computes the total consumes them.
  std::vector<AddedLoss> losses;
  /// The variables that optimizers update in the trace.
  std::vector<std::shared_ptr<VariableImpl>> updated;
  /// True if the traced function consumed the losses itself (Layer::losses()).
  bool lossesRead = false;
  /// True if the traced function communicates with other processes outside of a shared batch (distribution::sum()).
  bool usesProcesses = false;
  /// In a multi-process step, the implementation of the only optimizer that may update variables; null: any may.
  const void *onlyOptimizer = nullptr;
  /// The random generator of draws outside of layers, shared by all traces of one function; empty before the first
  /// draw.
  std::shared_ptr<Variable> generator;
  /// In the order of their feeds, which follow those of the function.
  std::vector<HostStep> hostSteps;
  std::vector<Tensor> hostFeeds; // of the run for which the function is traced; empty if it is traced for types only
  /// The data-dependent extents, in the order of the host steps; `openExtent` stands for extents that are missing here.
  std::vector<int64_t> openExtents;
  int64_t openExtent = 128;
  bool hasOpenExtents = false; // whether one was requested
  int64_t nextOpenExtent();
  /// The host's work before each play of the traced function (learning-rate schedules).
  std::vector<BeforePlay> beforeRun;
  /// Functions that the owner of the trace calls at the end, outside of all layers, to record their ops.
  std::vector<std::function<void()>> atEnd;
  /// The number of recorded apply() calls of each optimizer, for optimizers that look up their rate in a table.
  std::map<const void *, std::shared_ptr<int64_t>> scheduledUpdates;

  /// Closes @main, at the first call, and returns the verified module in stage graph. internal_error if verification
  /// fails.
  virtual mlir::ModuleOp finish() = 0;
  /// The variables that the module references, by symbol.
  virtual const std::vector<std::pair<std::string, std::shared_ptr<VariableImpl>>> &variables() const = 0;

protected:
  virtual Value feedOfNumbers(const std::string &name, const Shape &shape, DType dtype) = 0;
  /// layer() for numeric inputs.
  virtual std::vector<Value> scope(const LayerScopeArgs &args, const std::vector<Value> &inputs,
                                   const std::function<std::vector<Value>(const std::vector<Value> &)> &body) = 0;

private:
  size_t takenExtents_ = 0;
};

} // namespace halftone::detail
