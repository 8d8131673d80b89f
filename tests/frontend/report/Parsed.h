// A small XML reader for tests, which rejects text that is not well formed.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::test {

inline std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file)
    throw std::runtime_error("cannot read " + path);
  return text.str();
}

inline size_t countOf(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size()))
    ++count;
  return count;
}

struct XmlFacts {
  size_t elements = 0;
  std::set<std::string> names, attributes, ids;
  std::string text; // outside of tags, with entities unexpanded
};

/// Reads elements, attributes, entities and CDATA. Throws std::runtime_error, with the position, for text that is not
/// XML, for a duplicate id, and for an entity that HTML and XML do not share.
class XmlReader {
public:
  explicit XmlReader(std::string_view xml) : xml_(xml) {}

  XmlFacts read() {
    skipPast("<!DOCTYPE html>\n");
    while (at_ < xml_.size()) {
      if (skipPast("<![CDATA["))
        at_ = find("]]>") + 3;
      else if (skipPast("</"))
        close();
      else if (skipPast("<"))
        open();
      else
        character();
    }
    require(open_.empty(), "an element that is closed");
    require(facts_.elements > 0, "an element");
    return facts_;
  }

private:
  void require(bool holds, const std::string &expected) const {
    if (!holds)
      throw std::runtime_error("no XML at byte " + std::to_string(at_) + ": expected " + expected + " at '" +
                               std::string(xml_.substr(at_ < 40 ? 0 : at_ - 40, 80)) + "'");
  }
  bool skipPast(std::string_view word) {
    const bool found = xml_.substr(at_).starts_with(word);
    at_ += found ? word.size() : 0;
    return found;
  }
  size_t find(std::string_view word) const {
    const size_t found = xml_.find(word, at_);
    require(found != std::string_view::npos, std::string(word));
    return found;
  }
  std::string name() {
    const size_t first = at_;
    while (at_ < xml_.size() &&
           (isalnum(static_cast<unsigned char>(xml_[at_])) || xml_[at_] == '-' || xml_[at_] == ':'))
      ++at_;
    require(at_ > first, "a name");
    return std::string(xml_.substr(first, at_ - first));
  }
  void open() {
    ++facts_.elements;
    open_.push_back(name());
    facts_.names.insert(open_.back());
    std::set<std::string> own;
    while (skipPast(" ")) {
      const std::string attribute = name();
      require(own.insert(attribute).second, "another attribute");
      facts_.attributes.insert(attribute);
      require(skipPast("=\""), "a value");
      const size_t end = find("\"");
      const std::string value(xml_.substr(at_, end - at_));
      require(value.find('<') == std::string::npos, "no < in a value");
      if (attribute == "id")
        require(facts_.ids.insert(value).second, "another id");
      at_ = end + 1;
    }
    if (skipPast("/>"))
      open_.pop_back();
    else
      require(skipPast(">"), "the end of a tag");
  }
  void close() {
    const std::string closed = name();
    require(!open_.empty() && open_.back() == closed, "</" + (open_.empty() ? "" : open_.back()) + ">");
    open_.pop_back();
    require(skipPast(">"), "the end of a tag");
  }
  void character() {
    if (xml_[at_] == '&') {
      const std::string entity(xml_.substr(at_, find(";") - at_ + 1));
      require(std::set<std::string>{"&lt;", "&gt;", "&amp;", "&quot;"}.contains(entity), "an entity of XML");
    }
    facts_.text += xml_[at_++];
  }

  std::string_view xml_;
  size_t at_ = 0;
  std::vector<std::string> open_;
  XmlFacts facts_;
};

inline XmlFacts parseXml(std::string_view xml) { return XmlReader(xml).read(); }

} // namespace halftone::test
