// Stands between an editor and the language server of MLIR, on stdin and stdout of the process.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "DocumentGate.h"
#include "HoverDocs.h"
#include <mutex>
#include <string>
#include <thread>

namespace halftone::tools {

/// The messages of the editor go through a DocumentGate to the process's stdin, and those of the process's stdout
/// through `docs` to the editor. An object of this class is never destroyed: its thread may wait for the editor.
class Relay {
public:
  /// Puts itself in the place of stdin and stdout. `delimited`: lines `// -----` end the editor's messages, not lengths
  /// before them. If the system has no pipes left, the messages pass as they are.
  Relay(HoverDocs docs, bool delimited);
  Relay(const Relay &) = delete;

  /// Passes the rest of the process's stdout on. Call it at the end of the process.
  void finish();

private:
  void readEditor();
  void readServer();
  /// Passes the server's first message on, if it is there as a whole.
  bool passOne(std::string &waiting);
  void sendToServer(const llvm::json::Value &message) const;
  void sendToEditor(llvm::StringRef message);

  const HoverDocs docs;
  const bool delimited;
  DocumentGate gate;
  std::mutex editorMutex; // whoever writes to the editor holds it
  int fromEditor = -1, toEditor = -1, toServer = -1, fromServer = -1;
  std::thread server; // reads the server's messages
};

} // namespace halftone::tools
