// Reading and writing of the attributes of the linalg form.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/KernelForm.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace halftone::compiler {
using namespace mlir;

namespace {

constexpr StringLiteral panelsName = "halftone.panels", partialName = "halftone.partial";
constexpr StringLiteral windowName = "halftone.window";
constexpr StringLiteral dimsName = "halftone.dims", combineName = "halftone.combine";

/// Reader and Writer process one attribute for each field, by the field's type.
struct Reader {
  func::FuncOp function;
  bool failed = false;

  template <class T> T get(StringRef name, const char *expected) {
    Attribute attribute = function->getAttr(name);
    auto typed = dyn_cast_or_null<T>(attribute);
    if (attribute && !typed) {
      function.emitError() << "expected " << name << " to be " << expected;
      failed = true;
    }
    return typed;
  }
  void operator()(StringRef name, dialect::KernelKind &field) {
    if (!function->hasAttr(name)) {
      function.emitError() << "expected the string attribute " << name;
      failed = true;
    } else if (auto attribute = get<StringAttr>(name, "a string")) {
      if (const auto kind = dialect::symbolizeKernelKind(attribute.getValue()))
        field = *kind;
      else
        refuseKind(name, attribute);
    }
  }
  void refuseKind(StringRef name, StringAttr given) {
    InFlightDiagnostic error = function.emitError() << "expected " << name << " to be one of ";
    for (uint32_t kind = 0; kind <= dialect::getMaxEnumValForKernelKind(); ++kind)
      error << (kind == 0 ? "" : ", ") << dialect::stringifyKernelKind(static_cast<dialect::KernelKind>(kind));
    error << ", but got " << given;
    failed = true;
  }
  void operator()(StringRef name, bool &field) { field = bool(get<UnitAttr>(name, "a unit attribute")); }
  void operator()(StringRef name, std::string &field) {
    if (auto attribute = get<StringAttr>(name, "a string"))
      field = attribute.str();
  }
  void operator()(StringRef name, Numerics &field) {
    constexpr const char *expected = "\"fast\" or \"strict\"";
    auto attribute = get<StringAttr>(name, expected);
    if (!attribute)
      return;
    if (const std::optional<Numerics> named = Numerics::named(attribute.getValue())) {
      field = *named;
      return;
    }
    function.emitError() << "expected " << name << " to be " << expected << ", but got " << attribute;
    failed = true;
  }
  void operator()(StringRef name, int64_t &field) {
    if (auto attribute = get<IntegerAttr>(name, "an integer"))
      field = attribute.getInt();
  }
  void operator()(StringRef name, attribute::schedule &field) {
    field = get<ScheduleAttrInterface>(name, "a schedule of a target");
  }
  void operator()(StringRef name, attribute::integers &field) {
    if (auto attribute = get<DenseI64ArrayAttr>(name, "an array of i64"))
      field.assign(attribute.asArrayRef().begin(), attribute.asArrayRef().end());
  }
};

struct Writer {
  func::FuncOp function;
  Builder builder{function.getContext()};

  void operator()(StringRef name, const dialect::KernelKind &field) {
    function->setAttr(name, builder.getStringAttr(dialect::stringifyKernelKind(field)));
  }
  void operator()(StringRef name, const bool &field) {
    if (field)
      function->setAttr(name, builder.getUnitAttr());
  }
  void operator()(StringRef name, const std::string &field) {
    if (!field.empty())
      function->setAttr(name, builder.getStringAttr(field));
  }
  void operator()(StringRef name, const Numerics &field) {
    if (field != Numerics())
      function->setAttr(name, builder.getStringAttr(field.name()));
  }
  void operator()(StringRef name, const int64_t &field) {
    if (field || name == "halftone.outer")
      function->setAttr(name, builder.getI64IntegerAttr(field));
  }
  void operator()(StringRef name, const attribute::schedule &field) {
    if (field)
      function->setAttr(name, field);
  }
  void operator()(StringRef name, const attribute::integers &field) {
    if (!field.empty())
      function->setAttr(name, builder.getDenseI64ArrayAttr(field));
  }
};

template <class Form, class Visitor> void visitFields(Form &form, Visitor &visit) {
#define KERNEL_ATTRIBUTE(holds, field, name) visit("halftone." name, form.field);
#include "dialect/KernelAttributes.def"
}

/// Checks that the schedule fits the kernel's kind, and supports its numerics.
LogicalResult checkSchedule(func::FuncOp function, const KernelForm &form) {
  if (!form.schedule.fitsKind(form.kind))
    return function.emitError() << "expected a schedule for kernels of kind " << dialect::stringifyKernelKind(form.kind)
                                << ", got " << form.schedule;
  if (!form.schedule.supports(form.numerics))
    return function.emitError() << "expected a schedule that supports " << StringRef(form.numerics.name())
                                << " numerics, got " << form.schedule;
  return success();
}

TensorForm tensorForm(DictionaryAttr attributes) {
  TensorForm form;
  if (!attributes)
    return form;
  if (auto layout = attributes.getAs<DenseI64ArrayAttr>(panelsName);
      layout && (layout.size() == 3 || layout.size() == 4))
    form.panels = Panels{layout[0], layout[1], layout[2], layout.size() == 4 ? layout[3] : 0};
  if (auto partial = attributes.getAs<StringAttr>(partialName))
    form.partial = partial.str();
  if (auto steps = attributes.getAs<DenseI64ArrayAttr>(windowName); steps && !steps.empty() && steps.size() % 3 == 0) {
    const ArrayRef<int64_t> all = steps.asArrayRef();
    const size_t rank = all.size() / 3;
    const auto part = [&](size_t number) { return SmallVector<int64_t, 3>(all.slice(number * rank, rank)); };
    form.window = WindowForm{part(0), part(1), part(2)};
  }
  return form;
}

DenseI64ArrayAttr layoutAttr(Builder builder, const Panels &panels) {
  SmallVector<int64_t, 4> values{panels.depth, panels.columns, panels.group};
  if (panels.bits != 0)
    values.push_back(panels.bits);
  return builder.getDenseI64ArrayAttr(values);
}

DenseI64ArrayAttr windowAttr(Builder builder, const WindowForm &window) {
  SmallVector<int64_t> steps(window.stride.begin(), window.stride.end());
  llvm::append_range(steps, window.dilation);
  llvm::append_range(steps, window.baseDilation);
  return builder.getDenseI64ArrayAttr(steps);
}

} // namespace

/// Rejects a function with an attribute that has no field, since it would be lost.
static LogicalResult refuseOthers(func::FuncOp function) {
  constexpr StringLiteral known[] = {
#define KERNEL_ATTRIBUTE(holds, field, name) "halftone." name,
#include "dialect/KernelAttributes.def"
  };
  for (NamedAttribute attribute : function->getDiscardableAttrs())
    if (StringRef name = attribute.getName().getValue();
        name.starts_with("halftone.") && !llvm::is_contained(known, name))
      return function.emitError() << "attribute '" << name
                                  << "' is not known on the function of a kernel, and may be from another version of "
                                     "Halftone; expected one of "
                                  << llvm::join(ArrayRef(known), ", ");
  return success();
}

FailureOr<KernelForm> KernelForm::read(func::FuncOp function) {
  if (failed(refuseOthers(function)))
    return failure();
  KernelForm form;
  Reader reader{function};
  visitFields(form, reader);
  if (reader.failed)
    return failure();
  if (form.kind == dialect::KernelKind::matmul &&
      (form.roles.size() != 4 || llvm::any_of(form.roles, [](int64_t count) { return count < 0; })))
    return function.emitError("expected halftone.roles with the numbers of batch, M, N and K dims");
  if (form.schedule && failed(checkSchedule(function, form)))
    return failure();
  const unsigned first = unsigned(indexArguments(function));
  for (unsigned argument = first; argument < function.getNumArguments(); ++argument)
    form.operands.push_back(tensorForm(function.getArgAttrDict(argument)));
  for (unsigned result = 0; result < function.getNumResults(); ++result)
    form.results.push_back(tensorForm(function.getResultAttrDict(result)));
  return form;
}

void KernelForm::write(func::FuncOp function) const {
  Writer writer{function};
  visitFields(*this, writer);
  const unsigned first = unsigned(indexArguments(function));
  for (auto [argument, operand] : llvm::enumerate(operands)) {
    if (operand.panels)
      function.setArgAttr(first + argument, panelsName, layoutAttr(writer.builder, *operand.panels));
    if (operand.window)
      function.setArgAttr(first + argument, windowName, windowAttr(writer.builder, *operand.window));
  }
  for (auto [number, result] : llvm::enumerate(results)) {
    if (!result.partial.empty())
      function.setResultAttr(number, partialName, writer.builder.getStringAttr(result.partial));
    if (result.panels)
      function.setResultAttr(number, panelsName, layoutAttr(writer.builder, *result.panels));
  }
}

int64_t KernelForm::indexArguments(func::FuncOp function) {
  return llvm::count_if(function.getArgumentTypes(), [](Type type) { return isa<IndexType>(type); });
}

const TensorForm &KernelForm::of(func::FuncOp function, Value value) const {
  static const TensorForm &none = *new TensorForm;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return operands[argument.getArgNumber() - indexArguments(function)];
  for (auto [number, result] : llvm::enumerate(function.getBody().front().getTerminator()->getOperands()))
    if (result == value)
      return results[number];
  return none;
}

GenericForm GenericForm::read(linalg::GenericOp generic) {
  GenericForm form;
  if (auto dims = generic->getAttrOfType<DenseI64ArrayAttr>(dimsName))
    form.dims.assign(dims.asArrayRef().begin(), dims.asArrayRef().end());
  form.combiners.resize(generic.getNumDpsInits());
  if (auto names = generic->getAttrOfType<ArrayAttr>(combineName))
    for (auto [combiner, name] : llvm::zip(form.combiners, names))
      combiner = cast<StringAttr>(name).str();
  return form;
}

void GenericForm::write(linalg::GenericOp generic) const {
  Builder builder(generic.getContext());
  const auto asAttribute = [&](const std::string &combiner) -> Attribute { return builder.getStringAttr(combiner); };
  if (llvm::any_of(combiners, [](const std::string &combiner) { return !combiner.empty(); }))
    generic->setAttr(combineName, builder.getArrayAttr(llvm::map_to_vector(combiners, asAttribute)));
  generic->setAttr(dimsName, builder.getDenseI64ArrayAttr(SmallVector<int64_t>(dims.begin(), dims.end())));
}

} // namespace halftone::compiler
