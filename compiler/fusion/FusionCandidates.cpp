// The search for a fusion candidate that an op or group can join.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/fusion/FusionCandidates.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

std::optional<FusionGroupId> FusionCandidates::find(llvm::function_ref<bool(FusionGroupId)> joins) {
  constexpr int64_t maxRejections = 32;
  std::optional<FusionGroupId> found;
  for (Candidate &candidate : open) {
    if (joins(candidate.group)) {
      found = candidate.group;
      candidate.rejections = 0;
      break;
    }
    ++candidate.rejections;
  }
  std::erase_if(open, [](const Candidate &candidate) { return candidate.rejections >= maxRejections; });
  return found;
}

} // namespace halftone::compiler
