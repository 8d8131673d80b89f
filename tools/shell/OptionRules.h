// Rules for options parsed by CLI11: values are not empty, and every option is read.
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

/// The options given on the command line, by long name, "--target" or "-o".
inline std::set<std::string> givenOptions(const CLI::App &command) {
  std::set<std::string> given;
  for (const CLI::Option *option : command.get_options())
    if (option->count() > 0)
      given.insert(option->get_name());
  return given;
}

/// A message about the first option with an empty value, or "".
inline std::string emptyValue(const CLI::App &command) {
  for (const CLI::Option *option : command.get_options())
    for (const std::string &value : option->results())
      if (value.empty())
        return fmt::format("{}: expected a value, got ''", option->get_name());
  return "";
}

/// A branch of a command, and the command's options that this branch does not read.
struct Branch {
  std::string name; // "predict with --device interpreter"
  bool isTaken;
  std::vector<std::string_view> unread;
};

/// A message about the first given option that a taken branch does not read, or "".
inline std::string unreadOption(std::span<const Branch> branches, const std::set<std::string> &given) {
  for (const Branch &branch : branches)
    for (std::string_view option : branch.unread)
      if (branch.isTaken && given.contains(std::string(option)))
        return fmt::format("{}: {} does not read this option", option, branch.name);
  return "";
}

} // namespace halftone::tools
