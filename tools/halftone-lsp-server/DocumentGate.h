// Decides which messages of an editor MLIR's language server may read.
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

/// MLIR's server terminates on messages that are not requests, and on documents that crash its parser
/// (tools/shell/ModuleText.h). The gate answers such messages itself and reports such documents to the editor by a
/// diagnostic. The server sees a rejected document as closed; the edit that fixes the document opens it again.
class DocumentGate {
public:
  /// The result of one message of the editor.
  struct Passage {
    std::vector<llvm::json::Value> toServer, toEditor;
  };
  /// `message` is the JSON text, or whatever was received instead.
  Passage enter(llvm::StringRef message);

  /// Returns false for a server message that would clear the diagnostic of a rejected document. May be called from any
  /// thread.
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
  /// Checks a document and passes it to the server unless it is rejected.
  Passage publish(Documents::iterator document, int64_t version, bool isOpen);
  /// Handles `mlir/convertFromBytecode`, for which MLIR's server would read the file in its own process.
  static llvm::json::Value convert(const llvm::json::Object &request);
  bool isRefused(llvm::StringRef uri);

  std::mutex mutex; // guards the documents
  Documents documents;
};

} // namespace halftone::tools
