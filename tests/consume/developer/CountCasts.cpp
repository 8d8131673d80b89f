// A third-party pass plugin: the pass count-casts reports the number of casts in a module.
// SPDX-License-Identifier: Apache-2.0
#include <dialect/Dialect.h>
#include <mlir/Pass/Pass.h>
#include <mlir/Tools/Plugins/PassPlugin.h>

namespace {

struct CountCasts : mlir::PassWrapper<CountCasts, mlir::OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CountCasts)
  mlir::StringRef getArgument() const override { return "count-casts"; }
  mlir::StringRef getDescription() const override { return "Says how many casts there are, and of which kinds"; }
  void runOnOperation() override {
    int casts = 0, rounding = 0;
    getOperation()->walk([&](halftone::dialect::CastOp cast) {
      ++casts;
      rounding += cast.getKind() == halftone::dialect::CastKind::rounding;
    });
    llvm::outs() << casts << " casts, " << rounding << " of kind rounding\n";
  }
};

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK mlir::PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "count-casts", "1", [] { mlir::PassRegistration<CountCasts>(); }};
}
