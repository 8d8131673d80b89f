// SHA-256, by LLVM.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/Digest.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

namespace halftone::compiler {

std::string digest(std::string_view bytes) {
  llvm::SHA256 hash;
  hash.update(llvm::StringRef(bytes.data(), bytes.size()));
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}

} // namespace halftone::compiler
