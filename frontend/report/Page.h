// The HTML page of a report: head, style and sections.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace halftone::detail {

struct Section {
  std::string id, title;
  std::string lead; // markup of the sentence below the title
  std::string body; // markup
};

struct Page {
  std::string title, subtitle;
  std::vector<std::pair<std::string, std::string>> numbers; // label and value, shown in the head
  std::vector<Section> sections;

  std::string html() const; // also well-formed XML
};

} // namespace halftone::detail
