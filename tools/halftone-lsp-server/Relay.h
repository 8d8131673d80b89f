// Relays messages between an editor and MLIR's language server, on the stdin and stdout of the process.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "DocumentGate.h"
#include "HoverDocs.h"
#include <mutex>
#include <string>
#include <thread>

namespace halftone::tools {

/// Passes the editor's messages through a DocumentGate to the process's stdin, and the process's stdout through `docs`
/// to the editor. An object of this class is never destroyed, since its thread may be blocked on the editor.
class Relay {
public:
  /// Replaces stdin and stdout by pipes to itself. `delimited`: the editor's messages are separated by lines `// -----`
  /// instead of having length headers. If no pipe can be created, messages pass unchanged.
  Relay(HoverDocs docs, bool delimited);
  Relay(const Relay &) = delete;

  /// Passes on the rest of the process's stdout. Call it at the end of the process.
  void finish();

private:
  void readEditor();
  void readServer();
  /// Passes on the server's first message if it is complete.
  bool passOne(std::string &waiting);
  void sendToServer(const llvm::json::Value &message) const;
  void sendToEditor(llvm::StringRef message);

  const HoverDocs docs;
  const bool delimited;
  DocumentGate gate;
  std::mutex editorMutex; // held while writing to the editor
  int fromEditor = -1, toEditor = -1, toServer = -1, fromServer = -1;
  std::thread server; // reads the server's messages
};

} // namespace halftone::tools
