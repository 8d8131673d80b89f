// Variables: memory, reads under autocast, assignment.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Variables.h"
#include "frontend/base/UniqueNames.h"
#include "frontend/graph/Devices.h"
#include "frontend/graph/MetricCode.h"
#include "frontend/graph/Promotion.h"
#include "frontend/graph/SharedBatch.h"
#include "frontend/graph/Trace.h"
#include "halftone/Error.h"
#include "halftone/Ops.h"
#include "runtime/ProgramCache.h"
#include "runtime/base/Convert.h"
#include "runtime/base/FreeMemory.h"
#include "runtime/base/Number.h"
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <ostream>

namespace halftone {
using namespace detail;

namespace {

thread_local std::optional<DType> scopeDtype;
thread_local bool scopeActive = false;

// One lock for all variables, since models may share layers, optimizers and metrics.
VariableStore &processStore() {
  static VariableStore &store = *new VariableStore(runtimeOf(Device::cpu()));
  return store;
}

VariableImpl &created(const std::shared_ptr<VariableImpl> &impl) {
  if (!impl)
    throw Error(
        ErrorKind::runtime_error,
        "a Variable was read before it was created: does the layer's build(BuildContext &, const Shape &) create it?");
  return *impl;
}

} // namespace

Variable::Variable() noexcept = default;
Variable::Variable(const Variable &) = default;
Variable::Variable(Variable &&) noexcept = default;
Variable &Variable::operator=(const Variable &) & = default;
Variable &Variable::operator=(Variable &&) & noexcept = default;
Variable::~Variable() = default;
Variable::Variable(std::shared_ptr<VariableImpl> impl) : impl_(std::move(impl)) {}
Variable::Variable(const Tensor &initial, const VariableArgs &args) {
  if (!initial.defined())
    throw Error(ErrorKind::value_error, "a Variable needs an initial value. Received: an undefined Tensor");
  const std::string name = args.name.empty() ? uniqueName("Variable") : args.name;
  *this = makeVariable(initial, {.name = name,
                                 .path = name,
                                 .role = args.trainable ? VariableRole::weight : VariableRole::state,
                                 .update = args.trainable ? UpdateKind::gradient : UpdateKind::assign,
                                 .trainable = args.trainable,
                                 .autocast = args.autocast});
}

Shape Variable::shape() const { return created(impl_).shape; }
DType Variable::dtype() const {
  VariableImpl &v = created(impl_);
  std::optional<DType> scope = autocastDtype();
  return v.autocast && scope && is_float(v.dtype) ? *scope : v.dtype;
}
std::string Variable::name() const { return created(impl_).name; }
std::string Variable::path() const { return created(impl_).path; }
bool Variable::trainable() const { return created(impl_).trainable; }
Variable::operator Value() const {
  created(impl_);
  Trace *trace = Trace::current();
  if (!trace)
    throw Error(
        ErrorKind::runtime_error,
        fmt::format("Variable '{}' was read outside of a function being traced: value() gives its data", impl_->path));
  if (const Value *other = VariableOverride::of(*impl_))
    return asDtype(*other, dtype(), "autocast");
  return trace->read(impl_, dtype());
}
Tensor Variable::value() const { return created(impl_).memory->read().valueOrThrow(); }
void Variable::assign(const Tensor &value) const {
  VariableImpl &v = created(impl_);
  if (!value.defined() || value.shape() != v.shape)
    throw Error(ErrorKind::value_error,
                fmt::format("The shape of the target variable and the shape of the target value in "
                            "`variable.assign(value)` must match. "
                            "variable.shape={}, Received: value.shape={}. Target variable: {}",
                            v.shape.str(), value.defined() ? value.shape().str() : "(undefined)", v.path));
  v.memory->write(value.dtype() == v.dtype ? value : value.astype(v.dtype)).orThrow();
}
/// The trace that records an assignment.
static Trace &traceOfAssignment(const VariableImpl &v) {
  Trace *trace = Trace::current();
  if (!trace)
    throw Error(ErrorKind::runtime_error,
                fmt::format("Variable '{}' was assigned a Value outside of a function being traced", v.path));
  return *trace;
}
/// Records an assignment of a Value, rounded to the variable's dtype.
static void recordAssignment(Trace &trace, const std::shared_ptr<VariableImpl> &v, const Value &value) {
  if (value.shape() != v->shape)
    throw Error(ErrorKind::value_error, fmt::format("The shape of the target variable and the shape of the target "
                                                    "value in `variable.assign(value)` must match. "
                                                    "variable.shape={}, Received: value.shape={}. Target variable: {}",
                                                    v->shape.str(), value.shape().str(), v->path));
  trace.assign(v, value.dtype() == v->dtype ? value : trace.cast(value, v->dtype, "assign"));
}
void Variable::assign(const Operand &operand) const {
  VariableImpl &v = created(impl_);
  Trace &trace = traceOfAssignment(v);
  MetricCode::requireMayAssign(v);
  if (!operand.is_number())
    return recordAssignment(trace, impl_, operand.value());
  requireHolds("variable.assign(value)", v.dtype, operand.number());
  trace.assign(impl_, trace.splat(operand.number(), v.shape, v.dtype));
}
/// The amount that an update adds to a variable. In the code of a user's metric, which sees only its own process's
/// rows, it is the sum over processes, in the dtype of variable + amount.
static Operand amountOfAll(const VariableImpl &v, const Value &old, const Operand &amount) {
  if (!MetricCode::sumsOverProcesses(v))
    return amount;
  const Value own = ops::zeros_like(old) + amount;
  if (own.dtype() != DType::bool_)
    return sumOfRows(own);
  return asDtype(sumOfRows(asDtype(own, DType::int32, "shared batch")), DType::bool_, "shared batch");
}
void Variable::assign_add(const Operand &value) const {
  const VariableImpl &v = created(impl_);
  Trace &trace = traceOfAssignment(v);
  MetricCode::requireMayAdd(v);
  const Value old = trace.read(impl_, v.dtype);
  recordAssignment(trace, impl_, old + amountOfAll(v, old, value));
}
void Variable::assign_sub(const Operand &value) const {
  const VariableImpl &v = created(impl_);
  Trace &trace = traceOfAssignment(v);
  MetricCode::requireMayAdd(v);
  const Value old = trace.read(impl_, v.dtype);
  recordAssignment(trace, impl_, old - amountOfAll(v, old, value));
}
std::ostream &operator<<(std::ostream &os, const Variable &variable) {
  if (!variable.defined())
    return os << "<Variable undefined>";
  const VariableImpl &v = *variable.impl();
  return os << fmt::format("<Variable path={}, shape={}, dtype={}>", v.path, v.shape.str(), halftone::name(v.dtype));
}

namespace detail {

static thread_local VariableOverride *innermostOverride = nullptr;

VariableOverride::VariableOverride(Variable variable, Value value)
    : variable_(std::move(variable)), value_(std::move(value)), outer_(std::exchange(innermostOverride, this)) {}
VariableOverride::~VariableOverride() { innermostOverride = outer_; }
const Value *VariableOverride::of(const VariableImpl &variable) {
  for (const VariableOverride *each = innermostOverride; each; each = each->outer_)
    if (each->variable_.impl().get() == &variable)
      return &each->value_;
  return nullptr;
}

static Variable variableOver(VariableHandle memory, const Shape &shape, const VariableFacts &facts) {
  requireNameInUtf8("The path of a variable", facts.path);
  auto impl = std::make_shared<VariableImpl>();
  impl->dtype = memory->type().dtype;
  impl->memory = std::move(memory);
  impl->name = facts.name;
  impl->path = facts.path;
  impl->shape = shape;
  impl->role = facts.role;
  impl->update = facts.update;
  impl->trainable = facts.trainable;
  impl->autocast = facts.autocast;
  impl->follows = facts.follows;
  impl->regularizer = facts.regularizer;
  impl->constraint = facts.constraint;
  return Variable(std::move(impl));
}

static VariableStore storeOfDefaultDevice() { return processStore().on(runtimeOf(default_device())); }

Variable makeVariable(const Tensor &initial, const VariableFacts &facts) {
  return variableOver(storeOfDefaultDevice().create(facts.path, initial).valueOrThrow(), initial.shape(), facts);
}

Variable makeZeros(const Shape &shape, DType dtype, const VariableFacts &facts) {
  const TensorType type{dtype, shape.dims()};
  return variableOver(storeOfDefaultDevice().create(facts.path, type).valueOrThrow(), shape, facts);
}

void checkMemoryFor(const std::string &what, const Shape &shape, DType dtype) {
  const int64_t elements = shape.elements(), size = itemsize(dtype), drawn = std::max<int64_t>(size, 4);
  int64_t bytes = 0, whileMade = 0; // the value; the drawn value, its copy in another dtype, and the variable
  if (__builtin_mul_overflow(elements, size, &bytes) ||
      __builtin_mul_overflow(elements, size + drawn + (drawn == size ? 0 : size), &whileMade))
    throw Error(ErrorKind::value_error,
                fmt::format("{} of shape {} and dtype {} is too large", what, shape.str(), halftone::name(dtype)));
  if (!fitsMemory(whileMade))
    throw Error(ErrorKind::runtime_error,
                fmt::format("{} of shape {} and dtype {} takes {} bytes, {} while it is created; {} bytes are free",
                            what, shape.str(), halftone::name(dtype), bytes, whileMade, freeMemory()));
}

double hostScalar(const Variable &variable) {
  const VariableImpl &v = *variable.impl();
  std::array<std::byte, 16> element{};
  v.memory->readBytes(std::span(element).first(static_cast<size_t>(itemsize(v.dtype)))).orThrow();
  return elementAsDouble(v.dtype, element.data(), 0);
}
Status writeLocked(const Variable &variable, std::span<const double> values) {
  const VariableImpl &v = *variable.impl();
  std::vector<std::byte> elements(values.size() * static_cast<size_t>(itemsize(v.dtype)));
  HALFTONE_RETURN_IF_ERROR(
      convert(DType::float64, values.data(), v.dtype, elements.data(), static_cast<int64_t>(values.size())));
  return v.memory->writeBytesLocked(elements);
}

std::optional<DType> autocastDtype() { return scopeActive ? scopeDtype : std::nullopt; }
bool autocastScopeOpen() { return scopeActive; }

uint64_t configurationEpoch() {
  constexpr uint64_t scopes = ProgramKey::statesOfEpoch; // no scope, a scope without a dtype, a scope of each dtype
  const uint64_t scope = !scopeActive ? 0 : !scopeDtype ? 1 : 2 + static_cast<uint64_t>(*scopeDtype);
  return configurationChanges() * scopes + scope;
}

} // namespace detail

AutocastScope::AutocastScope(std::optional<DType> dtype) : saved_dtype_(scopeDtype), saved_open_(scopeActive) {
  if (dtype && !is_float(*dtype))
    throw Error(ErrorKind::value_error, fmt::format("`AutocastScope` can only be used with a floating-point target "
                                                    "dtype, such as 'float16'. Received: dtype={}",
                                                    halftone::name(*dtype)));
  scopeDtype = dtype;
  scopeActive = true;
}
AutocastScope::~AutocastScope() {
  scopeDtype = saved_dtype_;
  scopeActive = saved_open_;
}

} // namespace halftone
