// Tracing: converts Values to dialect ops.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Trace.h"
#include "dialect/ControlFlow.h"
#include "dialect/TypeInference.h"
#include "frontend/base/UserWords.h"
#include "frontend/graph/HostSteps.h"
#include "frontend/graph/TraceAttributes.h"
#include "frontend/graph/TraceEnums.h"
#include "frontend/graph/TraceFloat8.h"
#include "frontend/graph/TraceRegion.h"
#include "frontend/graph/TraceSymbols.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "runtime/TensorAccess.h"
#include "runtime/base/CompilerGate.h"
#include "runtime/base/Extents.h"
#include "runtime/base/Number.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/raw_ostream.h"
#include <fmt/format.h>
#include <map>
#include <utility>

using namespace mlir;
namespace hd = halftone::dialect;

namespace halftone::detail {

namespace {
class MlirTrace final : public Trace {
public:
  explicit MlirTrace(std::string name) : symbols_(context_), name_(std::move(name)) {
    DialectRegistry registry;
    hd::registerDialects(registry);
    context_.disableMultithreading();
    context_.appendDialectRegistry(registry);
    context_.loadAllAvailableDialects();
    loc_ = UnknownLoc::get(&context_);
    module_ = ModuleOp::create(loc_, llvm::StringRef(name_));
    OpBuilder builder(module_->getBodyRegion());
    function_ = func::FuncOp::create(builder, loc_, "main", builder.getFunctionType({}, {}));
    open(function_.addEntryBlock(), false);
  }

  Value feedOfNumbers(const std::string &name, const Shape &shape, DType dtype) override {
    mlir::Value argument = function_.getBody().front().addArgument(type(shape, dtype), loc_);
    feedNames_.push_back(name);
    return wrap(argument, 0);
  }
  void fetch(const std::string &name, const Value &value) override {
    fetches_.push_back(resolve(value));
    fetchNames_.push_back(symbols_.fetchName(name));
  }

  Value unary(std::string_view op, const Value &x) override { return emit(op, {}, {resolve(x)}); }
  Value binary(std::string_view op, const Value &a, const Value &b) override {
    return emit(op, {}, {resolve(a), resolve(b)});
  }
  Value compare(ComparePredicate predicate, const Value &a, const Value &b) override {
    auto attr = hd::ComparePredicateAttr::get(&context_, mirrored<hd::ComparePredicate>(predicate));
    return emit("compare", {}, {resolve(a), resolve(b)}, {named("predicate", attr)});
  }
  Value select(const Value &condition, const Value &a, const Value &b) override {
    return emit("select", {resolve(a).getType()}, {resolve(condition), resolve(a), resolve(b)});
  }
  Value isFinite(const Value &x) override { return emit("is_finite", {}, {resolve(x)}); }
  Value cast(const Value &x, DType dtype, std::string_view origin) override {
    return emit("cast", {type(x.shape(), dtype)}, {resolve(x)}, {named("origin", builder().getStringAttr(origin))});
  }
  Value splat(const Number &value, const Shape &shape, DType dtype) override {
    requireHolds("a constant", dtype, value);
    return constantOf(symbols_.splat(type(shape, dtype), value));
  }
  Value literal(const Tensor &data) override {
    RankedTensorType tensor = type(data.shape(), data.dtype());
    const Tensor host = TensorAccess::onHost(data);
    return constantOf(
        symbols_.literal(tensor, std::span(TensorAccess::data(host), static_cast<size_t>(TensorAccess::bytes(host)))));
  }
  Value iota(int64_t axis, const Shape &shape, DType dtype) override {
    return emit("iota", {type(shape, dtype)}, {}, {along(axis)});
  }
  Value randomBits(const Value &key, const Shape &shape) override {
    return emit("random_bits", {type(shape, DType::uint32)}, {resolve(key)});
  }
  Value contract(const Value &a, const Value &b, const ContractAxes &axes) override {
    Shape sa = a.shape(), sb = b.shape();
    std::vector<int64_t> dims;
    auto contains = [](const std::vector<int64_t> &list, int64_t axis) { return llvm::is_contained(list, axis); };
    for (int64_t axis : axes.lhsBatch)
      dims.push_back(sa[axis]);
    for (int64_t i = 0; i < sa.rank(); ++i)
      if (!contains(axes.lhsBatch, i) && !contains(axes.lhsContract, i))
        dims.push_back(sa[i]);
    for (int64_t i = 0; i < sb.rank(); ++i)
      if (!contains(axes.rhsBatch, i) && !contains(axes.rhsContract, i))
        dims.push_back(sb[i]);
    DType result = a.dtype() == DType::int8 ? DType::int32 : a.dtype();
    return emit("contract", {type(Shape(dims), result)}, {resolve(a), resolve(b)},
                {named("lhs_batch", i64s(axes.lhsBatch)), named("rhs_batch", i64s(axes.rhsBatch)),
                 named("lhs_contract", i64s(axes.lhsContract)), named("rhs_contract", i64s(axes.rhsContract))});
  }
  Value window(const Value &x, const WindowSteps &steps, const std::vector<int64_t> &positions,
               const std::vector<int64_t> &taps, bool lowest) override {
    std::vector<int64_t> dims{x.shape()[0]};
    dims.insert(dims.end(), positions.begin(), positions.end());
    dims.insert(dims.end(), taps.begin(), taps.end());
    for (int64_t axis = 1 + static_cast<int64_t>(positions.size()); axis < x.shape().rank(); ++axis)
      dims.push_back(x.shape()[axis]);
    llvm::SmallVector<NamedAttribute> attributes = attributesOf(builder(), steps);
    if (lowest)
      attributes.push_back(named("lowest", builder().getUnitAttr()));
    return emit("window", {type(Shape(dims), x.dtype())}, {resolve(x)}, attributes);
  }
  Value convolution(const Value &x, const Value &w, const WindowSteps &steps,
                    const std::vector<int64_t> &positions) override {
    std::vector<int64_t> dims{x.shape()[0]};
    dims.insert(dims.end(), positions.begin(), positions.end());
    dims.push_back(x.shape()[-2]);
    dims.push_back(w.shape()[-1]);
    DType result = x.dtype() == DType::int8 ? DType::int32 : x.dtype();
    return emit("convolution", {type(Shape(dims), result)}, {resolve(x), resolve(w)}, attributesOf(builder(), steps));
  }
  Value attention(const Value &q, const Value &k, const Value &v, const Attention &more) override {
    const Shape shape = q.shape();
    const DType scores = q.dtype() == DType::float64 ? DType::float64 : DType::float32;
    llvm::SmallVector<mlir::Value> operands{resolve(q), resolve(k), resolve(v)};
    llvm::SmallVector<int32_t> segments{1, 1, 1};
    for (const Value *operand : {&more.bias, &more.mask, &more.key}) {
      segments.push_back(operand->defined());
      if (operand->defined())
        operands.push_back(resolve(*operand));
    }
    llvm::SmallVector<NamedAttribute> attributes{named("operandSegmentSizes", builder().getDenseI32ArrayAttr(segments)),
                                                 named("scale", builder().getF64FloatAttr(more.scale)),
                                                 named("rate", builder().getF64FloatAttr(more.rate))};
    if (more.causal)
      attributes.push_back(named("causal", builder().getUnitAttr()));
    return emit("attention",
                {type(Shape{shape[0], shape[1], shape[2], v.shape()[3]}, q.dtype()),
                 type(Shape{shape[0], shape[2], shape[1]}, scores)},
                operands, attributes);
  }
  Value reduce(ReduceKind kind, const Value &x, const std::vector<int64_t> &axes, DType result) override {
    auto attr = hd::ReduceKindAttr::get(&context_, mirrored<hd::ReduceKind>(kind));
    return emit("reduce", {type(without(x.shape(), axes), result)}, {resolve(x)},
                {named("kind", attr), named("axes", i64s(axes))});
  }
  Value argReduce(bool max, const Value &x, int64_t axis) override {
    auto attr = hd::ReduceKindAttr::get(&context_, max ? hd::ReduceKind::max : hd::ReduceKind::min);
    return emit("arg_reduce", {type(without(x.shape(), {axis}), DType::int32)}, {resolve(x)},
                {named("kind", attr), along(axis)});
  }
  Value cumsum(const Value &x, int64_t axis, ReduceKind kind) override {
    auto attr = hd::ReduceKindAttr::get(&context_, mirrored<hd::ReduceKind>(kind));
    return emit("cumsum", {type(x.shape(), x.dtype())}, {resolve(x)}, {along(axis), named("kind", attr)});
  }
  std::array<Value, 2> sort(const Value &x, int64_t axis, bool descending, int64_t count) override {
    std::vector<int64_t> dims = x.shape().dims();
    dims[static_cast<size_t>(axis)] = count;
    llvm::SmallVector<NamedAttribute> attributes{along(axis)};
    if (descending)
      attributes.push_back(named("descending", builder().getUnitAttr()));
    const auto results = wrapAll(
        emitOp("sort", {type(Shape(dims), x.dtype()), type(Shape(dims), DType::int32)}, {resolve(x)}, attributes)
            ->getResults());
    return {results[0], results[1]};
  }
  Value reduceAll(ReduceAllKind kind, const std::vector<Value> &xs) override {
    auto attr = hd::ReduceAllKindAttr::get(&context_, mirrored<hd::ReduceAllKind>(kind));
    return emit("reduce_all", {}, resolveAll(xs), {named("kind", attr)});
  }
  Value allReduce(CollectiveKind kind, const Value &x) override {
    if (x.shape().elements() == 0)
      return x;
    auto attr = hd::CollectiveKindAttr::get(&context_, mirrored<hd::CollectiveKind>(kind));
    return emit("all_reduce", {}, {resolve(x)}, {named("kind", attr)});
  }
  Value reduceScatter(const Value &x, const std::vector<int64_t> &offsets, int64_t rank) override {
    return emitDivided("reduce_scatter", x, offsets, rank);
  }
  Value allGather(const Value &x, const std::vector<int64_t> &offsets, int64_t rank) override {
    return emitDivided("all_gather", x, offsets, rank);
  }
  Value reshape(const Value &x, const Shape &shape) override {
    return emit("reshape", {type(shape, x.dtype())}, {resolve(x)});
  }
  Value broadcast(const Value &x, const Shape &shape, const std::vector<int64_t> &axes) override {
    return emit("broadcast", {type(shape, x.dtype())}, {resolve(x)}, {named("axes", i64s(axes))});
  }
  Value transpose(const Value &x, const std::vector<int64_t> &permutation) override {
    std::vector<int64_t> dims;
    Shape shape = x.shape();
    for (int64_t axis : permutation)
      dims.push_back(shape[axis]);
    return emit("transpose", {type(Shape(dims), x.dtype())}, {resolve(x)}, {named("permutation", i64s(permutation))});
  }
  Value slice(const Value &x, const std::vector<int64_t> &start, const Shape &shape) override {
    return emit("slice", {type(shape, x.dtype())}, {resolve(x)}, {named("start", i64s(start))});
  }
  Value concat(const std::vector<Value> &xs, int64_t axis) override {
    std::vector<int64_t> dims = xs.at(0).shape().dims();
    dims[static_cast<size_t>(axis)] = 0;
    for (const Value &x : xs)
      dims[static_cast<size_t>(axis)] = extentSum(dims[static_cast<size_t>(axis)], x.shape()[axis]);
    return emit("concat", {type(Shape(dims), xs[0].dtype())}, resolveAll(xs), {along(axis)});
  }
  Value gather(const Value &x, const Value &indices, int64_t axis, int64_t batch) override {
    std::vector<int64_t> dims = x.shape().dims(), positions = indices.shape().dims();
    auto at = dims.erase(dims.begin() + axis);
    dims.insert(at, positions.begin() + batch, positions.end());
    return emit("gather", {type(Shape(dims), x.dtype())}, {resolve(x), resolve(indices)},
                {along(axis), named("batch", i64(batch))});
  }
  Value scatter(ScatterKind kind, const Value &x, const Value &indices, const Value &updates, int64_t axis,
                int64_t batch) override {
    auto attr = hd::ScatterKindAttr::get(&context_, mirrored<hd::ScatterKind>(kind));
    return emit("scatter", {type(x.shape(), x.dtype())}, {resolve(x), resolve(indices), resolve(updates)},
                {named("kind", attr), along(axis), named("batch", i64(batch))});
  }
  Value stopGradient(const Value &x) override { return emit("stop_gradient", {}, {resolve(x)}); }
  Value customGradient(const Value &y, const std::vector<Value> &xs,
                       const std::function<std::vector<Value>(const Value &)> &gradient) override {
    llvm::SmallVector<mlir::Value> operands{widened(asEmitOp(), resolve(y))};
    for (const Value &x : xs)
      operands.push_back(widened(asEmitOp(), resolve(x)));
    const Type given = resolve(y).getType(), wide = operands.front().getType();
    llvm::SmallVector<std::unique_ptr<Region>> bodies;
    bodies.push_back(std::make_unique<Region>());
    Block &block = bodies.front()->emplaceBlock();
    open(&block, false);
    {
      const llvm::scope_exit close([&] { regions_.pop_back(); });
      const Value upstream = wrap(converted(asEmitOp(), block.addArgument(wide, loc_), given), regions_.back().id);
      yield(block, llvm::map_to_vector(resolveAll(gradient(upstream)),
                                       [&](mlir::Value each) { return widened(asEmitOp(), each); }));
    }
    const mlir::Value result = emitOp("custom_gradient", {wide}, operands, {}, bodies)->getResult(0);
    return wrap(converted(asEmitOp(), result, given), regions_.back().id);
  }

  Value read(const std::shared_ptr<VariableImpl> &variable, DType dtype) override {
    auto symbol = FlatSymbolRefAttr::get(&context_, symbols_.declare(*module_, variable));
    return emit("read", {type(variable->shape, dtype)}, {}, {named("variable", symbol)});
  }
  void assign(const std::shared_ptr<VariableImpl> &variable, const Value &value) override {
    auto symbol = FlatSymbolRefAttr::get(&context_, symbols_.declare(*module_, variable));
    emitOp("assign", {}, {resolve(value)}, {named("variable", symbol)});
  }
  std::vector<Value> gradient(const Value &y, const std::vector<std::shared_ptr<VariableImpl>> &of,
                              const std::vector<Value> &at) override {
    llvm::SmallVector<Attribute> symbols;
    llvm::SmallVector<Type> types;
    for (const auto &variable : of) {
      requireTrainableDtype(*variable);
      symbols.push_back(FlatSymbolRefAttr::get(&context_, symbols_.declare(*module_, variable)));
      types.push_back(type(variable->shape, variable->dtype));
    }
    llvm::SmallVector<mlir::Value> operands{resolve(y)};
    for (const Value &x : at) {
      operands.push_back(resolve(x));
      types.push_back(operands.back().getType());
    }
    Operation *op = emitOp("gradient", types, operands, {named("of", builder().getArrayAttr(symbols))});
    return wrapAll(op->getResults());
  }

  std::vector<Value> controlFlow(const ControlFlow &op) override {
    llvm::SmallVector<std::unique_ptr<Region>> bodies;
    std::vector<std::vector<Value>> yields;
    for (const ControlFlow::Body &body : op.bodies) {
      bodies.push_back(std::make_unique<Region>());
      Block &block = bodies.back()->emplaceBlock();
      open(&block, false);
      const llvm::scope_exit close([&] { regions_.pop_back(); });
      regions_.back().isLoop = op.op != "when";
      if (llvm::count_if(regions_, [](const OpenRegion &each) { return each.isLoop; }) > hd::maxNestedLoops)
        throw Error(ErrorKind::value_error, fmt::format("{}: loops nest more than {} deep", op.op, hd::maxNestedLoops));
      for (const ValueSpec &each : body.arguments)
        block.addArgument(type(each.shape, each.dtype), loc_);
      yields.push_back(body.yields(wrapAll(block.getArguments())));
      yield(block, resolveAll(yields.back()));
    }
    llvm::SmallVector<Type> types;
    for (const ValueSpec &each : op.results(yields))
      types.push_back(type(each.shape, each.dtype));
    return wrapAll(emitOp(op.op, types, resolveAll(op.operands), attributesOf(builder(), op), bodies)->getResults());
  }

  std::vector<Value> scope(const LayerScopeArgs &args, const std::vector<Value> &inputs,
                           const std::function<std::vector<Value>(const std::vector<Value> &)> &body) override {
    llvm::SmallVector<std::unique_ptr<Region>> bodies;
    bodies.push_back(std::make_unique<Region>());
    Block &block = bodies.front()->emplaceBlock();
    Location savedLoc = loc_;
    if (args.where.line)
      loc_ = FileLineColLoc::get(&context_, args.where.file, args.where.line, 0);
    llvm::SmallVector<mlir::Value> operands = resolveAll(inputs);
    open(&block, true);
    std::vector<Value> arguments;
    for (const Value &input : inputs) {
      bool convert = args.autocast && is_float(input.dtype());
      DType dtype = convert ? args.computeDtype : input.dtype();
      arguments.push_back(wrap(block.addArgument(type(input.shape(), dtype), loc_), regions_.back().id));
    }
    llvm::SmallVector<mlir::Value> results;
    size_t outerLosses = losses.size(), outputs = 0;
    try {
      results = resolveAll(body(arguments));
      outputs = results.size();
      for (size_t i = outerLosses; i < losses.size(); ++i) // the layer's op returns losses as additional results
        results.push_back(resolve(losses[i].value));
    } catch (...) {
      regions_.pop_back();
      loc_ = savedLoc;
      throw;
    }
    operands.append(regions_.back().captured);
    yield(block, results);
    regions_.pop_back();
    int64_t call = layerCalls_[args.path]++;
    Operation *op = emitOp("layer", ValueRange(results).getTypes(), operands,
                           {named("path", builder().getStringAttr(args.path)),
                            named("policy", builder().getStringAttr(args.policy)),
                            named("rule", builder().getStringAttr(args.rule)), named("call", i64(call)),
                            named("layer_class", builder().getStringAttr(args.className))},
                           bodies);
    int64_t elements = 0;
    for (mlir::Value result : llvm::ArrayRef(results).take_front(outputs))
      elements = extentSum(elements, cast<RankedTensorType>(result.getType()).getNumElements());
    cast<hd::LayerOp>(op).setRematerialize(args.rematerializeAbove && elements > *args.rematerializeAbove);
    loc_ = savedLoc;
    std::vector<Value> values = wrapAll(op->getResults());
    for (size_t i = outputs; i < values.size(); ++i)
      losses[outerLosses + i - outputs].value = values[i];
    values.resize(outputs);
    return values;
  }

  std::vector<Value> rematerialized(const std::function<std::vector<Value>()> &body) override {
    Block &block = *regions_.back().block;
    Operation *before = block.empty() ? nullptr : &block.back();
    std::vector<Value> results = body();
    const Attribute mark = i64(nextRematerialized_++);
    for (Operation *op = before ? before->getNextNode() : &block.front(); op; op = op->getNextNode())
      op->setAttr(hd::rematerializeAttr, mark);
    return results;
  }

  ModuleOp finish() override {
    if (std::exchange(isFinished_, true))
      return *module_;
    OpBuilder b = builder();
    func::ReturnOp::create(b, loc_, fetches_);
    function_.setFunctionType(
        b.getFunctionType(function_.getBody().front().getArgumentTypes(), ValueRange(fetches_).getTypes()));
    for (auto [i, name] : llvm::enumerate(feedNames_))
      function_.setArgAttr(static_cast<unsigned>(i), hd::nameAttr, b.getStringAttr(name));
    for (auto [i, name] : llvm::enumerate(fetchNames_))
      function_.setResultAttr(static_cast<unsigned>(i), hd::nameAttr, b.getStringAttr(name));
    std::string diagnostics;
    ScopedDiagnosticHandler handler(&context_, [&](Diagnostic &d) { diagnostics += d.str() + "\n"; });
    if (failed(mlir::verify(*module_)))
      throw Error(ErrorKind::internal_error, "the traced module does not verify: " + diagnostics);
    return *module_;
  }
  const std::vector<std::pair<std::string, std::shared_ptr<VariableImpl>>> &variables() const override {
    return symbols_.variables();
  }

private:
  void open(Block *block, bool isolated) {
    OpenRegion region;
    region.id = nextRegion_++;
    region.block = block;
    region.isolated = isolated;
    regions_.push_back(std::move(region));
  }
  OpBuilder builder() { return builderAt(*regions_.back().block); }
  OpBuilder builderAt(Block &block) { // a layer's block has no parent until its op is created
    OpBuilder b(&context_);
    b.setInsertionPointToEnd(&block);
    return b;
  }
  NamedAttribute named(llvm::StringRef name, Attribute attr) { return {StringAttr::get(&context_, name), attr}; }
  NamedAttribute along(int64_t axis) { return named("axis", i64(axis)); }
  IntegerAttr i64(int64_t value) { return builder().getI64IntegerAttr(value); }
  DenseI64ArrayAttr i64s(const std::vector<int64_t> &values) { return DenseI64ArrayAttr::get(&context_, values); }
  RankedTensorType type(const Shape &shape, DType dtype) { return symbols_.type(shape, dtype); }

  /// The value inside the innermost open region: captured through every layer boundary in between.
  mlir::Value resolve(const Value &value) {
    if (!value.defined())
      throw Error(ErrorKind::value_error, "an undefined Value was used");
    const Node &node = *value.node();
    refuseStrings(node.shape, node.dtype);
    if (!node.isTraced())
      throw Error(ErrorKind::value_error,
                  fmt::format("a symbolic Value of shape {} was used inside a traced function: pass it as "
                              "an argument, or call the model that computes it",
                              node.shape.str()));
    if (node.trace.lock().get() != this)
      throw Error(ErrorKind::runtime_error, "a Value was used outside of the trace that created it");
    size_t depth = regions_.size();
    while (depth > 0 && regions_[depth - 1].id != node.region)
      --depth;
    if (depth == 0)
      throw Error(ErrorKind::runtime_error,
                  fmt::format("a Value of shape {} created inside a layer's call, or in the function of a loop or "
                              "branch, was used after its end: return it",
                              node.shape.str()));
    mlir::Value seen = mlir::Value::getFromOpaquePointer(node.handle);
    for (; depth < regions_.size(); ++depth)
      seen = regions_[depth].seenInside(seen, loc_);
    return seen;
  }
  llvm::SmallVector<mlir::Value> resolveAll(const std::vector<Value> &values) {
    return llvm::map_to_vector(values, [this](const Value &value) { return resolve(value); });
  }

  Value wrap(mlir::Value value, int64_t region) {
    auto tensor = llvm::cast<RankedTensorType>(value.getType());
    auto node = std::make_shared<Node>();
    node->shape = Shape(std::vector<int64_t>(tensor.getShape().begin(), tensor.getShape().end()));
    node->dtype = *hd::dtypeOf(tensor.getElementType());
    node->trace = weak_from_this();
    node->handle = value.getAsOpaquePointer();
    node->region = region;
    return Value(std::move(node));
  }
  std::vector<Value> wrapAll(ValueRange inside) {
    std::vector<Value> values;
    for (mlir::Value value : inside)
      values.push_back(wrap(value, regions_.back().id));
    return values;
  }

  Operation *emitOp(std::string_view name, TypeRange types, ValueRange operands,
                    ArrayRef<NamedAttribute> attributes = {}, MutableArrayRef<std::unique_ptr<Region>> regions = {}) {
    const CompilerGate gate;
    gate.status().orThrow();
    std::string diagnostics;
    ScopedDiagnosticHandler handler(&context_, [&](Diagnostic &d) {
      diagnostics += d.str();
      return success();
    });
    OpBuilder b = builder();
    Operation *op = hd::createChecked(b, loc_, llvm::StringRef(name), types, operands, attributes, regions);
    if (!op)
      throw Error(ErrorKind::value_error,
                  diagnostics.empty() ? fmt::format("invalid operands of {}", name) : inUsersWords(diagnostics));
    return op;
  }
  Value emit(std::string_view name, TypeRange types, ValueRange operands, ArrayRef<NamedAttribute> attributes = {}) {
    return wrap(emitWithFloat8(asEmitOp(), name, types, operands, attributes), regions_.back().id);
  }
  std::function<Operation *(llvm::StringRef, TypeRange, ValueRange, ArrayRef<NamedAttribute>)> asEmitOp() {
    return [this](llvm::StringRef name, TypeRange types, ValueRange operands, ArrayRef<NamedAttribute> attributes) {
      return emitOp(name, types, operands, attributes);
    };
  }
  Value emitDivided(std::string_view name, const Value &x, const std::vector<int64_t> &offsets, int64_t rank) {
    return emit(name, {}, {resolve(x)},
                {named("borders", builder().getArrayAttr(i64s(offsets))), named("rank", i64(rank))});
  }
  Value constantOf(DenseElementsAttr value) { return emit("constant", {value.getType()}, {}, {named("value", value)}); }
  void yield(Block &block, ValueRange values) {
    OpBuilder b = builderAt(block);
    hd::YieldOp::create(b, loc_, values);
  }

  MLIRContext context_{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module_;
  TraceSymbols symbols_;
  std::string name_;
  Location loc_ = UnknownLoc::get(&context_);
  func::FuncOp function_;
  std::vector<OpenRegion> regions_;
  int64_t nextRegion_ = 0;
  std::vector<std::string> feedNames_, fetchNames_;
  llvm::SmallVector<mlir::Value> fetches_;
  std::map<std::string, int64_t> layerCalls_;
  bool isFinished_ = false;
  int64_t nextRematerialized_ = 0; // id of ops that are recomputed together
};

} // namespace

std::shared_ptr<Trace> Trace::create(std::string name) {
  const CompilerGate gate;
  gate.status().orThrow();
  return std::make_shared<MlirTrace>(std::move(name));
}

} // namespace halftone::detail
