// The schedules of kernels on CPUs: their legal combinations, and the numerics that they support.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/Schedules.h"
#include "compiler/targets/cpu/matmul/Products.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

#include "compiler/targets/cpu/ScheduleDialect.cpp.inc"
#include "compiler/targets/cpu/ScheduleEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/targets/cpu/Schedules.cpp.inc"

namespace halftone::compiler::cpu {
using namespace mlir;
using dialect::KernelKind;

void ScheduleDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/targets/cpu/Schedules.cpp.inc"
      >();
}

namespace {

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

} // namespace

StringRef reportName(Product product) {
  return product == Product::multiply_add ? "multiply-add" : stringifyProduct(product);
}

LogicalResult MatmulScheduleAttr::verify(EmitError emitError, Product product, bool, WindowRead window, SumShape sums,
                                         DepthFact depth, bool scales) {
  const auto refuse = [&](const Twine &parameter, const Twine &other) {
    return emitError() << "#" << name << ": " << parameter << " with " << other;
  };
  const std::string ofProduct = ("product = " + stringifyProduct(product)).str();
  const bool takesPlain = product == Product::multiply_add, takesPairs = product == Product::vdpbf16ps;
  if (window == WindowRead::image && sums == SumShape::tall)
    return refuse("window = image", "sums = tall");
  if (window == WindowRead::image && !takesPlain && !takesPairs)
    return refuse("window = image", ofProduct + "; expected multiply_add or vdpbf16ps");
  if (window == WindowRead::positions && !takesPlain)
    return refuse("window = positions", ofProduct + "; expected multiply_add");
  if (sums == SumShape::tall && rowOf(product).usesTiles())
    return refuse("sums = tall", ofProduct + ", whose sums are in tiles");
  if (depth == DepthFact::runs && !takesPlain && !takesPairs)
    return refuse("depth = runs", ofProduct + "; expected multiply_add or vdpbf16ps");
  if (depth == DepthFact::even && !takesPairs)
    return refuse("depth = even", ofProduct + "; expected vdpbf16ps");
  if (scales && rowOf(product).takesIntegers)
    return refuse("scales = true", ofProduct + ", which multiplies integers");
  if (scales && window == WindowRead::image)
    return refuse("scales = true", "window = image");
  return success();
}

StringRef MatmulScheduleAttr::getStrategy() const { return reportName(getProduct()); }

bool MatmulScheduleAttr::fitsKind(KernelKind kind) const { return kind == KernelKind::matmul; }

/// WindowRead::image sums taps in a different order and skips those outside. Scaled sums are rounded twice.
bool MatmulScheduleAttr::supports(Numerics numerics) const {
  return !numerics.fixesOrder() || (!getScales() && (rowOf(getProduct()).exact && getWindow() != WindowRead::image));
}

bool MatmulScheduleAttr::takesStoredFactors() const { return getProduct() != Product::multiply_add; }

LogicalResult AttentionScheduleAttr::verify(EmitError emitError, Product product, bool fewQueries) {
  if (rowOf(product).takesIntegers)
    return emitError() << "#" << name << ": product = " << stringifyProduct(product)
                       << " multiplies integers; expected multiply_add, vdpbf16ps or tdpbf16ps";
  if (fewQueries && product != Product::multiply_add)
    return emitError() << "#" << name << ": few_queries with product = " << stringifyProduct(product)
                       << "; expected multiply_add";
  return success();
}

StringRef AttentionScheduleAttr::getStrategy() const { return reportName(getProduct()); }

bool AttentionScheduleAttr::fitsKind(KernelKind kind) const {
  return kind == KernelKind::attention || (kind == KernelKind::attention_grad && !getFewQueries());
}

bool AttentionScheduleAttr::supports(Numerics numerics) const { return !numerics.fixesOrder(); }

LogicalResult RecurrenceScheduleAttr::verify(EmitError emitError, Product product) {
  if (rowOf(product).takesIntegers || rowOf(product).usesTiles())
    return emitError() << "#" << name << ": product = " << stringifyProduct(product)
                       << "; expected multiply_add or vdpbf16ps";
  return success();
}

StringRef RecurrenceScheduleAttr::getStrategy() const { return reportName(getProduct()); }

bool RecurrenceScheduleAttr::fitsKind(KernelKind kind) const { return kind == KernelKind::recurrence; }

bool RecurrenceScheduleAttr::supports(Numerics numerics) const { return !numerics.fixesOrder(); }

LogicalResult GroupedScheduleAttr::verify(EmitError emitError, int64_t filters, int64_t channels, int64_t channelDim) {
  if (filters < 2 || channels < 1 || channelDim < -1)
    return emitError() << "#" << name << ": filters = " << filters << ", channels = " << channels
                       << ", channel_dim = " << channelDim
                       << "; expected 2 filters or more, 1 channel or more, and -1 or a dim";
  if (channelDim == -1 && channels != 1)
    return emitError() << "#" << name << ": " << channels << " channels without a channel_dim; expected 1";
  return success();
}

StringRef GroupedScheduleAttr::getStrategy() const { return "lanes along groups"; }

bool GroupedScheduleAttr::fitsKind(KernelKind kind) const { return kind == KernelKind::reduction_loop; }

bool GroupedScheduleAttr::supports(Numerics numerics) const { return !numerics.fixesOrder(); }

} // namespace halftone::compiler::cpu
