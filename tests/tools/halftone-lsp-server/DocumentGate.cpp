// The messages that reach MLIR's language server, and the answers to the others.
// SPDX-License-Identifier: Apache-2.0
#include "tools/halftone-lsp-server/DocumentGate.h"
#include "llvm/Support/FormatVariadic.h"
#include <catch2/catch.hpp>

using namespace halftone::tools;
using Catch::Matchers::Contains;

namespace {

std::string text(const std::vector<llvm::json::Value> &messages) {
  std::string all;
  for (const llvm::json::Value &message : messages)
    all += llvm::formatv("{0}\n", message).str();
  return all;
}

llvm::json::Value about(llvm::StringRef method, llvm::json::Object document, llvm::json::Object params = {}) {
  document["uri"] = "file:///net.mlir";
  params["textDocument"] = std::move(document);
  return llvm::json::Object{{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

std::string opening(const std::string &contents) {
  return text(
      {about("textDocument/didOpen", llvm::json::Object{{"languageId", "mlir"}, {"version", 1}, {"text", contents}})});
}

std::string edit(int line, int begin, int end, const std::string &fresh) {
  const auto at = [&](int character) { return llvm::json::Object{{"line", line}, {"character", character}}; };
  return text({about(
      "textDocument/didChange", llvm::json::Object{{"version", 2}},
      llvm::json::Object{{"contentChanges", llvm::json::Array{llvm::json::Object{
                                                {"range", llvm::json::Object{{"start", at(begin)}, {"end", at(end)}}},
                                                {"text", fresh}}}}})});
}

} // namespace

TEST_CASE("Messages that are no requests get an error and do not reach the server", "[editor]") {
  DocumentGate gate;
  for (const std::string &message :
       {std::string("null"), std::string("[1,2,3]"), std::string("3"), std::string("{}"),
        std::string("{\"jsonrpc\":\"1.0\",\"method\":\"exit\"}"), std::string("{\"jsonrpc\":\"2.0\",\"method\":4}"),
        std::string("{no"), std::string("\"\\"), std::string(200000, '['),
        std::string(201, '[') + std::string(201, ']')}) {
    INFO(message.substr(0, 40));
    const DocumentGate::Passage passage = gate.enter(message);
    CHECK(passage.toServer.empty());
    REQUIRE(passage.toEditor.size() == 1);
    CHECK_THAT(text(passage.toEditor), Contains("\"error\":{\"code\":-32"));
  }
  CHECK_THAT(text(gate.enter("{\"jsonrpc\":\"1.0\",\"id\":7,\"method\":\"x\"}").toEditor), Contains("\"id\":7"));
  CHECK(gate.enter("{\"jsonrpc\":\"2.0\",\"method\":\"exit\"}").toServer.size() == 1);
  CHECK(gate.enter("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":null}").toServer.size() == 1);
}

TEST_CASE("A document that the parser cannot take gets a diagnostic, and opens with the edit that mends it",
          "[editor]") {
  DocumentGate gate;
  DocumentGate::Passage passage = gate.enter(opening("module {\n  array<index: 0>\n}"));
  CHECK_THAT(text(passage.toServer), !Contains("array<"));
  CHECK_THAT(text(passage.toEditor),
             Contains("an array of index") && Contains("\"start\":{\"character\":0,\"line\":1}"));
  const std::string cleared = text({about("textDocument/publishDiagnostics", llvm::json::Object())});
  const std::string published =
      R"({"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"file:///net.mlir","diagnostics":[]}})";
  CHECK_FALSE(gate.mayLeave(published));
  CHECK(gate.mayLeave(cleared)); // it names no document

  passage = gate.enter(edit(1, 2, 17, "// mended"));
  CHECK(passage.toEditor.empty());
  CHECK_THAT(text(passage.toServer), Contains("textDocument/didOpen") && Contains("module {\\n  // mended\\n}"));
  CHECK(gate.mayLeave(published));

  passage = gate.enter(edit(1, 2, 11, std::string(5000, '[')));
  CHECK_THAT(text(passage.toServer), Contains("textDocument/didClose") && !Contains("[["));
  CHECK_THAT(text(passage.toEditor), Contains("nests more than 1000 levels deep"));
  passage = gate.enter(text({about("textDocument/didClose", llvm::json::Object())}));
  CHECK_THAT(text(passage.toEditor), Contains("\"diagnostics\":[]"));
}

TEST_CASE("Edits pass as whole texts, with the lines and files that the server can look up", "[editor]") {
  DocumentGate gate;
  CHECK_THAT(text(gate.enter(opening("a\rb\r\nc loc(\"/net.mlir\":900:1)")).toServer),
             Contains("a\\nb\\r\\nc loc(\\\"_net.mlir\\\":900:1)"));
  CHECK_THAT(text(gate.enter(edit(1, 0, 1, "x")).toServer), Contains("\"text\":\"a\\nx\\r\\nc loc"));
  // After an edit out of bounds the text is unknown.
  CHECK_THAT(text(gate.enter(edit(90, 0, 1, "x")).toServer), Contains("didClose"));
  CHECK(gate.enter(edit(0, 0, 1, "x")).toServer.empty());
}

TEST_CASE("Bytecode is converted outside of the server", "[editor]") {
  DocumentGate gate;
  const DocumentGate::Passage passage = gate.enter(
      R"({"jsonrpc":"2.0","id":3,"method":"mlir/convertFromBytecode","params":{"uri":"file:///absent.mlirbc"}})");
  CHECK(passage.toServer.empty());
  CHECK_THAT(text(passage.toEditor), Contains("\"id\":3") && Contains("cannot read /absent.mlirbc"));
}
