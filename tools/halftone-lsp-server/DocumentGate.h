// Decides which messages of an editor the language server of MLIR may read.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace halftone::tools {

/// MLIR's server ends with its process on messages that are no requests, and on documents that its parser cannot take
/// (tools/shell/ModuleText.h). The gate answers such messages in the server's stead, and tells the editor of such documents
/// by a diagnostic. To the server a document that is refused is closed; it opens again with the edit that mends it.
class DocumentGate {
public:
  /// What becomes of one message of the editor.
  struct Passage {
    std::vector<llvm::json::Value> toServer, toEditor;
  };
  /// `message` is JSON, or what came in its place.
  Passage enter(llvm::StringRef message);

  /// Whether a message of the server may go to the editor: not if it clears the diagnostic of a refused document. Any
  /// thread may call it.
  bool mayLeave(llvm::StringRef message);

private:
  struct Document {
    std::string text, language;
    bool refused = false;
  };
  using Documents = std::map<std::string, Document, std::less<>>;

  Passage open(const llvm::json::Object &document);
  Passage change(const llvm::json::Object &document, const llvm::json::Value *changes);
  Passage close(const llvm::json::Object &document);
  /// Checks a document and gives it to the server, unless it is refused.
  Passage publish(Documents::iterator document, int64_t version, bool isOpen);
  /// Answers `mlir/convertFromBytecode`: MLIR's server would read the file in its own process.
  static llvm::json::Value convert(const llvm::json::Object &request);
  bool isRefused(llvm::StringRef uri);

  std::mutex mutex; // of the documents
  Documents documents;
};

} // namespace halftone::tools
