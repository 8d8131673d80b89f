// Two threads: one reads the editor's messages, the other the server's.
// SPDX-License-Identifier: Apache-2.0
#include "Relay.h"
#include "tools/shell/Streams.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/LSP/Transport.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

using namespace llvm;

namespace halftone::tools {
namespace {

constexpr StringLiteral lengthKey = "Content-Length: ", headEnd = "\r\n\r\n";

/// Returns false, with the reason in errno, if not everything could be written.
bool writeAll(int file, StringRef text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno != EINTR)
      return false;
    text = text.drop_front(std::max<ssize_t>(written, 0));
  }
  return true;
}

std::string withHead(StringRef message) { return (lengthKey + Twine(message.size()) + headEnd + message).str(); }

} // namespace

Relay::Relay(HoverDocs docs, bool delimited) : docs(std::move(docs)), delimited(delimited) {
  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC) != 0)
    return;
  if (pipe2(out, O_CLOEXEC) != 0) {
    close(in[0]);
    close(in[1]);
    return;
  }
  fromEditor = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
  toEditor = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
  dup2(in[0], STDIN_FILENO);
  dup2(out[1], STDOUT_FILENO);
  close(in[0]);
  close(out[1]);
  toServer = in[1];
  fromServer = out[0];
  server = std::thread([this] { readServer(); });
  std::thread([this] { readEditor(); }).detach(); // detached: it may be blocked on the editor until the process ends
}

void Relay::finish() {
  if (!server.joinable())
    return;
  dup2(toEditor, STDOUT_FILENO); // closes the last write end of the pipe, which ends its reader
  server.join();
}

void Relay::readEditor() {
  std::FILE *file = fdopen(fromEditor, "r");
  if (file) {
    lsp::JSONTransportInputOverFile input(file, delimited ? lsp::Delimited : lsp::Standard);
    std::string message;
    while (!input.isEndOfInput() && !input.hasError()) {
      if (failed(input.readMessage(message)))
        continue;
      const DocumentGate::Passage passage = gate.enter(message);
      for (const json::Value &answer : passage.toEditor)
        sendToEditor(withHead(delimited ? formatv("{0:2}", answer).str() : formatv("{0}", answer).str()));
      for (const json::Value &passed : passage.toServer)
        sendToServer(passed);
    }
  }
  close(toServer); // ends the server's input along with the editor's
}

void Relay::sendToServer(const json::Value &message) const {
  const std::string text = formatv("{0}", message).str();
  (void)writeAll(toServer,
                 delimited ? text + "\n// -----\n" : withHead(text)); // the server reads until the process ends
}

void Relay::sendToEditor(StringRef message) {
  const std::lock_guard lock(editorMutex);
  if (!writeAll(toEditor, message))
    rememberLoss(std::strerror(errno));
}

void Relay::readServer() {
  std::string waiting;
  char buffer[1 << 16];
  for (ssize_t got; (got = read(fromServer, buffer, sizeof(buffer))) != 0;) {
    if (got < 0 && errno != EINTR)
      break;
    waiting.append(buffer, std::max<ssize_t>(got, 0));
    while (passOne(waiting))
      ;
  }
  sendToEditor(waiting);
}

bool Relay::passOne(std::string &waiting) {
  const StringRef text = waiting;
  const size_t head = text.find(headEnd);
  size_t size = 0;
  if (head == StringRef::npos || !text.starts_with(lengthKey) ||
      text.substr(lengthKey.size()).take_until([](char c) { return c == '\r'; }).getAsInteger(10, size) ||
      text.size() < head + headEnd.size() + size)
    return false;
  const size_t whole = head + headEnd.size() + size;
  const StringRef message = text.substr(head + headEnd.size(), size);
  if (const std::optional<std::string> more = docs.documented(message))
    sendToEditor(withHead(*more));
  else if (gate.mayLeave(message))
    sendToEditor(text.take_front(whole));
  waiting.erase(0, whole);
  return true;
}

} // namespace halftone::tools
