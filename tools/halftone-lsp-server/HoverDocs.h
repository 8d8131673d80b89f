// The documentation of an op in the text that an editor shows of the op.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace halftone::tools {

/// The documentation of each op of the dialect, as Markdown: "halftone.cast" -> its section.
class HoverDocs {
public:
  /// Takes the text of mlir-tblgen's -gen-dialect-doc: a heading "### `halftone.<op>` ..." before each section.
  explicit HoverDocs(llvm::StringRef reference);

  /// The answer to a hover over one of these ops, with the op's section behind it. Any other message, given as the JSON
  /// text of one message of the language server protocol, as nullopt.
  std::optional<std::string> documented(llvm::StringRef message) const;

private:
  llvm::StringMap<llvm::StringRef> sections; // of `reference`, which outlives this
};

} // namespace halftone::tools
