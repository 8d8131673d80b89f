// Rules for the options of a command that CLI11 has parsed: none has an empty value, and each is read.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "CLI/CLI.hpp"
#include <fmt/format.h>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::tools {

/// The options that the command line gave, by their long names, "--target" or "-o".
inline std::set<std::string> givenOptions(const CLI::App &command) {
  std::set<std::string> given;
  for (const CLI::Option *option : command.get_options())
    if (option->count() > 0)
      given.insert(option->get_name());
  return given;
}

/// A message about the first option whose value is "", or "".
inline std::string emptyValue(const CLI::App &command) {
  for (const CLI::Option *option : command.get_options())
    for (const std::string &value : option->results())
      if (value.empty())
        return fmt::format("{}: expected a value, got ''", option->get_name());
  return "";
}

/// A branch of a command, and the options that the command has and this branch does not read.
struct Branch {
  std::string name; // "predict with --device interpreter"
  bool isTaken;
  std::vector<std::string_view> unread;
};

/// A message about the first option that was given and that a branch which is taken does not read, or "".
inline std::string unreadOption(std::span<const Branch> branches, const std::set<std::string> &given) {
  for (const Branch &branch : branches)
    for (std::string_view option : branch.unread)
      if (branch.isTaken && given.contains(std::string(option)))
        return fmt::format("{}: {} does not read this option", option, branch.name);
  return "";
}

} // namespace halftone::tools
