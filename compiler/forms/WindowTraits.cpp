// Computes the traits of a window.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/forms/WindowTraits.h"
#include "compiler/forms/KernelBody.h"
#include "llvm/ADT/STLExtras.h"

namespace halftone::compiler {
using namespace mlir;
using namespace halftone::dialect;

int64_t channelsOf(WindowOp window) {
  return ShapedType::getNumElements(shapeOf(window.getX()).drop_front(1 + window.getSteps().rank()));
}

void setWindow(MatmulTraits &traits, WindowOp window) {
  const WindowSteps steps = window.getSteps();
  const size_t last = size_t(steps.rank()) - 1;
  const int64_t channels = channelsOf(window);
  traits.window = true;
  if (llvm::all_of(steps.baseDilation, [](int64_t baseDilation) { return baseDilation == 1; }))
    traits.windowChannels = channels;
  if (steps.baseDilation[last] == 1 && steps.stride[last] > 0) {
    traits.windowRun = window.getTaps()[last] * channels;
    traits.windowPitch = steps.stride[last] * channels;
    traits.windowLine = window.getPositions()[last];
  }
}

} // namespace halftone::compiler
