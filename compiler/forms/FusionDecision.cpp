// Formats the reasons of declined fusions.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/forms/FusionDecision.h"
#include "llvm/ADT/Twine.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {

void FusionDecision::append(const FusionDecision &other, KernelKind kind) {
  for (const Reason &each : other.reasons)
    reasons.push_back({kind, each.text, each.op});
}

std::string FusionDecision::reason() const {
  std::string text;
  for (const Reason &each : reasons) {
    if (!text.empty())
      text += "; ";
    if (each.kind)
      text += (stringifyKernelKind(*each.kind) + ": ").str();
    text += each.text;
    if (each.op)
      text += (" (" + each.op->getName().stripDialect() + ")").str();
  }
  return text.empty() ? "no kernel kind supports these ops" : text;
}

} // namespace halftone::compiler
