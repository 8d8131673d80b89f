// Adds an op's documentation to the hover text that an editor shows.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace halftone::tools {

/// The documentation of each op of the dialect, as Markdown. Maps "halftone.cast" to its section.
class HoverDocs {
public:
  /// Parses the output of mlir-tblgen -gen-dialect-doc: a heading "### `halftone.<op>` ..." before each section.
  explicit HoverDocs(llvm::StringRef reference);

  /// Appends the op's section to a hover answer about one of these ops. nullopt for any other message. `message` is the
  /// JSON text of one message of the language server protocol.
  std::optional<std::string> documented(llvm::StringRef message) const;

private:
  llvm::StringMap<llvm::StringRef> sections; // slices of `reference`, which outlives this object
};

} // namespace halftone::tools
