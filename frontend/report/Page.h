// The HTML page of a report: its head, its style and its sections.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace halftone::detail {

struct Section {
  std::string id, title;
  std::string lead; // markup of a sentence below the title
  std::string body; // markup
};

struct Page {
  std::string title, subtitle;
  std::vector<std::pair<std::string, std::string>> numbers; // label and value, in the head
  std::vector<Section> sections;

  std::string html() const; // XML, too
};

} // namespace halftone::detail
