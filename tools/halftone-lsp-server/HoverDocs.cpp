// Reads the messages that the language server of MLIR writes, and adds documentation to those about ops of the dialect.
// SPDX-License-Identifier: Apache-2.0
#include "HoverDocs.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <system_error>
#include <thread>
#include <unistd.h>

using namespace llvm;

namespace halftone::tools {

HoverDocs::HoverDocs(StringRef reference) {
  constexpr StringLiteral heading = "### `";
  while (!reference.empty()) {
    auto [line, rest] = reference.split('\n');
    reference = rest;
    if (!line.consume_front(heading))
      continue;
    StringRef section = reference.take_front(std::min(reference.find("\n### "), reference.find("\n## ")));
    sections[line.take_until([](char c) { return c == '`'; })] = section.trim();
  }
}

/// MLIR's server begins the text of an op with the op's name in quotes.
std::optional<std::string> HoverDocs::documented(StringRef message) const {
  if (!message.contains("\"contents\""))
    return std::nullopt;
  Expected<json::Value> parsed = json::parse(message);
  if (!parsed) {
    consumeError(parsed.takeError());
    return std::nullopt;
  }
  json::Object *answer = parsed->getAsObject();
  json::Object *result = answer ? answer->getObject("result") : nullptr;
  json::Object *contents = result ? result->getObject("contents") : nullptr;
  std::optional<StringRef> text = contents ? contents->getString("value") : std::nullopt;
  if (!text || !text->starts_with("\""))
    return std::nullopt;
  auto section = sections.find(text->drop_front().take_until([](char c) { return c == '"'; }));
  if (section == sections.end())
    return std::nullopt;
  (*contents)["value"] = (*text + "\n\n" + section->second + "\n").str();
  const bool isPretty = message.starts_with("{\n");
  return isPretty ? formatv("{0:2}", *parsed).str() : formatv("{0}", *parsed).str();
}

namespace {

bool writeAll(int file, StringRef text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno != EINTR)
      return false;
    text = text.drop_front(std::max<ssize_t>(written, 0));
  }
  return true;
}

/// Messages as they come from a server: a head that gives the length, an empty line, the body.
class Relay {
public:
  Relay(const HoverDocs &docs, int from, int to) : docs(docs), from(from), to(to) {}

  void run() {
    char buffer[1 << 16];
    for (ssize_t got; (got = read(from, buffer, sizeof(buffer))) != 0;) {
      if (got < 0 && errno != EINTR)
        break;
      waiting.append(buffer, std::max<ssize_t>(got, 0));
      while (passOne())
        ;
    }
    writeAll(to, waiting);
  }

private:
  /// Passes the first message on, if it is there as a whole.
  bool passOne() {
    constexpr StringLiteral end = "\r\n\r\n", length = "Content-Length: ";
    const StringRef text = waiting;
    const size_t body = text.find(end);
    size_t size = 0;
    if (body == StringRef::npos || !text.starts_with(length) ||
        text.substr(length.size()).take_until([](char c) { return c == '\r'; }).getAsInteger(10, size) ||
        text.size() < body + end.size() + size)
      return false;
    const size_t whole = body + end.size() + size;
    if (std::optional<std::string> more = docs.documented(text.substr(body + end.size(), size)))
      writeAll(to, (length + Twine(more->size()) + end + *more).str());
    else
      writeAll(to, text.take_front(whole));
    waiting.erase(0, whole);
    return true;
  }

  const HoverDocs &docs;
  const int from, to;
  std::string waiting;
};

/// Stands between the process and its stdout while it lives.
class Between {
public:
  explicit Between(const HoverDocs &docs) : client(dup(STDOUT_FILENO)) {
    int ends[2];
    if (client < 0 || pipe(ends) != 0)
      return;
    dup2(ends[1], STDOUT_FILENO);
    close(ends[1]);
    try {
      relay = std::thread([&docs, from = ends[0], to = client] { Relay(docs, from, to).run(); });
    } catch (const std::system_error &) { // the system starts no thread: messages pass as they are
      dup2(client, STDOUT_FILENO);
      close(ends[0]);
    }
  }
  ~Between() {
    outs().flush();
    if (!relay.joinable())
      return;
    dup2(client, STDOUT_FILENO); // the last way into the pipe: the relay ends
    relay.join();
  }

private:
  const int client;
  std::thread relay;
};

} // namespace

void documentStdout(const HoverDocs &docs) {
  outs(); // made before `between`, so that it is there when that ends
  static const Between between(docs);
}

} // namespace halftone::tools
