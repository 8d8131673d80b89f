// The stages after the modules, as a pass, so that timing, split input and diagnostics work as for other passes.
// SPDX-License-Identifier: Apache-2.0
#include "LateStages.h"
#include "dialect/Dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Support/ToolUtilities.h"

using namespace mlir;
using namespace halftone::compiler;

namespace {

class LateStage : public PassWrapper<LateStage, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LateStage)

  LateStage(Stage stage, CompileOptions options, std::string *text, bool *isBug)
      : stage(stage), options(std::move(options)), text(text), isBug(isBug) {}

private:
  StringRef getName() const override {
    return stage == Stage::linalg ? "linalg" : stage == Stage::plan ? "plan" : "target";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect, math::MathDialect,
                    tensor::TensorDialect>();
  }
  void runOnOperation() override {
    std::string found;
    CompileOptions own = options;
    own.from = Stage::kernel;
    own.onStage = [&](Stage reached, std::string_view stageText) {
      if (reached == stage)
        found = stageText;
    };
    OwningOpRef<ModuleOp> module(getOperation().clone());
    const halftone::Status status = compile(*module, own).status();
    if (!status && found.empty()) { // a stage that was reached has a text, even if a later one failed
      tell(status);
      // A failure to compile the user's own kernels is not a bug; a failure to compile kernels formed here is.
      const bool isOfKernels = status.kind() == halftone::ErrorKind::compile_error && options.from < Stage::kernel;
      *isBug |= isOfKernels || status.kind() == halftone::ErrorKind::internal_error;
      return signalPassFailure();
    }
    if (!text->empty())
      *text += std::string(kDefaultSplitMarker) + "\n";
    *text += found;
  }
  /// Emits the error at the line that it concerns, where -verify-diagnostics looks for it.
  void tell(const halftone::Status &status) {
    const halftone::Where where = status.where();
    Location location = getOperation().getLoc();
    if (*where.file)
      location = FileLineColLoc::get(&getContext(), where.file, where.line, 1);
    InFlightDiagnostic error = emitError(location) << status.message();
    if (!status.layerPath().empty())
      error << " (layer " << status.layerPath() << ")";
  }

  const Stage stage;
  const CompileOptions options;
  std::string *const text;
  bool *const isBug;
};

} // namespace

std::unique_ptr<Pass> createLateStagePass(Stage stage, CompileOptions options, std::string *text, bool *isBug) {
  return std::make_unique<LateStage>(stage, std::move(options), text, isBug);
}
