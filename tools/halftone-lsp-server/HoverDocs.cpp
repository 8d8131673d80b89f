// Adds documentation to messages about ops of the dialect.
// SPDX-License-Identifier: Apache-2.0
#include "HoverDocs.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

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

/// MLIR's server begins the hover text of an op with the op's name in quotes.
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

} // namespace halftone::tools
