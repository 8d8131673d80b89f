// Pairs the launches of the plan with the launch ops of stage kernel.
// SPDX-License-Identifier: Apache-2.0
#include "CompiledModule.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::tools {

StatusOr<CompiledModule> compileModule(mlir::ModuleOp module, compiler::Stage from,
                                       const compiler::CompileOptions &options) {
  CompiledModule compiled;
  compiled.kernelStage = mlir::OwningOpRef<mlir::ModuleOp>(module.clone());
  compiler::CompileOptions staged = options;
  staged.from = from;
  StatusOr<Executable> executable = compiler::compile(*compiled.kernelStage, staged, &compiled.statistics);
  HALFTONE_RETURN_IF_ERROR(executable.status());
  compiled.executable = std::make_shared<const Executable>(*std::move(executable));

  auto main = compiled.kernelStage->lookupSymbol<mlir::func::FuncOp>("main");
  main.walk<mlir::WalkOrder::PreOrder>([&](dialect::LaunchOp launch) { compiled.launches.push_back(launch); });
  const auto steps = std::ranges::count_if(compiled.executable->plan.steps,
                                           [](const Step &step) { return std::holds_alternative<LaunchStep>(step); });
  if (static_cast<size_t>(steps) != compiled.launches.size())
    return Status(ErrorKind::internal_error,
                  fmt::format("the plan has {} launches, the kernel stage {}", steps, compiled.launches.size()));
  return compiled;
}

} // namespace halftone::tools
