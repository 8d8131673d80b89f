// Tracks the editor's documents and checks each text before the server parses it.
// SPDX-License-Identifier: Apache-2.0
#include "DocumentGate.h"
#include "tools/shell/ModuleFileText.h"
#include "tools/shell/ModuleText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/LSP/Protocol.h"

using namespace llvm;

namespace halftone::tools {
namespace {

constexpr int parseError = -32700, invalidRequest = -32600, requestFailed = -32803; // defined by the protocol
constexpr size_t maxLevels = 200;                                                   // of JSON; its parser recurses
constexpr StringLiteral diagnosticsMethod = "textDocument/publishDiagnostics";

bool nestsDeeply(StringRef json) {
  size_t levels = 0;
  bool inString = false;
  for (size_t i = 0; i < json.size(); ++i)
    if (inString) {
      i += json[i] == '\\';
      inString = i >= json.size() || json[i] != '"';
    } else if (json[i] == '"') {
      inString = true;
    } else if (json[i] == '[' || json[i] == '{') {
      if (++levels > maxLevels)
        return true;
    } else if ((json[i] == ']' || json[i] == '}') && levels > 0) {
      --levels;
    }
  return false;
}

json::Value errorReply(json::Value id, int code, const std::string &message) {
  return json::Object{{"jsonrpc", "2.0"},
                      {"id", std::move(id)},
                      {"error", json::Object{{"code", code}, {"message", json::fixUTF8(message)}}}};
}

json::Value notice(StringLiteral method, json::Value params) {
  return json::Object{{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

/// The diagnostics of one document: the rejection of its text, or none.
json::Value diagnosticsOf(const std::string &uri, int64_t version, const Status &status) {
  json::Array list;
  if (!status) {
    const int64_t line = status.where().line > 0 ? status.where().line - 1 : 0;
    list.push_back(json::Object{{"range", json::Object{{"start", json::Object{{"line", line}, {"character", 0}}},
                                                       {"end", json::Object{{"line", line + 1}, {"character", 0}}}}},
                                {"severity", 1},
                                {"source", "halftone"},
                                {"message", json::fixUTF8(status.message())}});
  }
  return notice(diagnosticsMethod, json::Object{{"uri", uri}, {"version", version}, {"diagnostics", std::move(list)}});
}

/// Normalizes the protocol's line endings to the one that the server's diagnostics count.
std::string withLines(StringRef text) {
  std::string lines = text.str();
  for (size_t i = 0; i < lines.size(); ++i)
    if (lines[i] == '\r' && (i + 1 == lines.size() || lines[i + 1] != '\n'))
      lines[i] = '\n';
  return lines;
}

} // namespace

DocumentGate::Passage DocumentGate::enter(StringRef message) {
  if (nestsDeeply(message))
    return {{},
            {errorReply(nullptr, parseError, "JSON nested more than " + std::to_string(maxLevels) + " levels deep")}};
  Expected<json::Value> parsed = json::parse(message);
  if (!parsed)
    return {{}, {errorReply(nullptr, parseError, toString(parsed.takeError()))}};
  const json::Object *object = parsed->getAsObject();
  const json::Value *id = object ? object->get("id") : nullptr;
  const std::optional<StringRef> method = object ? object->getString("method") : std::nullopt;
  if (!object || object->getString("jsonrpc") != std::optional<StringRef>("2.0") || (!method && !id))
    return {{},
            {errorReply(id ? *id : json::Value(nullptr), invalidRequest,
                        "expected an object with \"jsonrpc\": \"2.0\" and a \"method\" or an \"id\"")}};
  if (method == StringRef("mlir/convertFromBytecode") && id)
    return {{}, {convert(*object)}};
  json::Object *params = parsed->getAsObject()->getObject("params");
  json::Object *document = params ? params->getObject("textDocument") : nullptr;
  const std::optional<StringRef> uri = document ? document->getString("uri") : std::nullopt;
  if (uri && !id) {
    const std::lock_guard lock(mutex);
    if (*method == "textDocument/didOpen" && document->getString("text"))
      return open(*document);
    if (*method == "textDocument/didChange")
      return change(*document, params->get("contentChanges"));
    if (*method == "textDocument/didClose")
      return close(*document);
  }
  return {{std::move(*parsed)}, {}};
}

DocumentGate::Passage DocumentGate::open(const json::Object &document) {
  Document fresh{withLines(*document.getString("text")), document.getString("languageId").value_or("mlir").str()};
  const auto [entry, isNew] = documents.insert_or_assign(document.getString("uri")->str(), std::move(fresh));
  return publish(entry, document.getInteger("version").value_or(0), false);
}

DocumentGate::Passage DocumentGate::change(const json::Object &document, const json::Value *list) {
  const auto found = documents.find(document.getString("uri")->str());
  if (found == documents.end())
    return {};
  std::vector<lsp::TextDocumentContentChangeEvent> changes;
  json::Path::Root root;
  if (!list || !fromJSON(*list, changes, json::Path(root)) ||
      failed(lsp::TextDocumentContentChangeEvent::applyTo(changes, found->second.text)))
    return close(document); // from here on the editor and the server would have different texts
  found->second.text = withLines(found->second.text);
  return publish(found, document.getInteger("version").value_or(0), !found->second.refused);
}

DocumentGate::Passage DocumentGate::close(const json::Object &document) {
  const std::string uri = document.getString("uri")->str();
  Passage passage;
  if (isRefused(uri))
    passage.toEditor.push_back(diagnosticsOf(uri, 0, Status::ok()));
  documents.erase(uri);
  passage.toServer.push_back(
      notice("textDocument/didClose", json::Object{{"textDocument", json::Object{{"uri", uri}}}}));
  return passage;
}

DocumentGate::Passage DocumentGate::publish(Documents::iterator document, int64_t version, bool isOpen) {
  auto &[uri, facts] = *document;
  Passage passage;
  const std::string text = withRelativeFiles(facts.text); // the server would look up their lines here
  const Status status = checkModuleText(facts.text, "");
  facts.refused = !status;
  if (!status) {
    passage.toServer.push_back(
        notice("textDocument/didClose", json::Object{{"textDocument", json::Object{{"uri", uri}}}})); // if it is open
    passage.toEditor.push_back(diagnosticsOf(uri, version, status));
  } else if (isOpen) {
    passage.toServer.push_back(notice("textDocument/didChange",
                                      json::Object{{"textDocument", json::Object{{"uri", uri}, {"version", version}}},
                                                   {"contentChanges", json::Array{json::Object{{"text", text}}}}}));
  } else {
    passage.toServer.push_back(notice(
        "textDocument/didOpen",
        json::Object{
            {"textDocument",
             json::Object{{"uri", uri}, {"languageId", facts.language}, {"version", version}, {"text", text}}}}));
  }
  return passage;
}

json::Value DocumentGate::convert(const json::Object &request) {
  const json::Value id = *request.get("id");
  const json::Object *params = request.getObject("params");
  const std::optional<StringRef> given = params ? params->getString("uri") : std::nullopt;
  Expected<lsp::URIForFile> uri = lsp::URIForFile::fromURI(given.value_or(""));
  if (!uri)
    return errorReply(id, requestFailed, toString(uri.takeError()));
  const StatusOr<std::string> text = loadModuleText(uri->file().str());
  if (!text)
    return errorReply(id, requestFailed, text.status().message());
  return json::Object{{"jsonrpc", "2.0"}, {"id", id}, {"result", json::Object{{"output", json::fixUTF8(*text)}}}};
}

bool DocumentGate::isRefused(StringRef uri) {
  const auto found = documents.find(uri.str());
  return found != documents.end() && found->second.refused;
}

bool DocumentGate::mayLeave(StringRef message) {
  if (!message.contains(diagnosticsMethod))
    return true;
  Expected<json::Value> parsed = json::parse(message);
  if (!parsed) {
    consumeError(parsed.takeError());
    return true;
  }
  const json::Object *object = parsed->getAsObject();
  const json::Object *params = object ? object->getObject("params") : nullptr;
  const std::optional<StringRef> uri = params ? params->getString("uri") : std::nullopt;
  if (!uri || object->getString("method") != std::optional<StringRef>(diagnosticsMethod))
    return true;
  const std::lock_guard lock(mutex);
  return !isRefused(*uri);
}

} // namespace halftone::tools
