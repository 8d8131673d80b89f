// Generates automatic names as Keras does, resets them, and validates given ones.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/UniqueNames.h"
#include "halftone/Layer.h"
#include "runtime/base/ForkGate.h"
#include "runtime/base/JsonText.h"
#include "runtime/policy/PolicyRep.h"
#include <cctype>
#include <fmt/format.h>
#include <map>
#include <mutex>

namespace halftone::detail {

static std::mutex namesMutex;
static std::map<std::string, int> &namesUsed() {
  static auto &made = *new std::map<std::string, int>;
  return made;
}

namespace {

bool isUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool isLower(char c) { return c >= 'a' && c <= 'z'; }

/// Python's re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name).
std::string splitWords(const std::string &name) {
  std::string split;
  for (size_t i = 0, end; i < name.size(); i = end) {
    end = i + 1;
    if (i + 2 < name.size() && isUpper(name[i + 1]) && isLower(name[i + 2]))
      for (end = i + 3; end < name.size() && isLower(name[end]);)
        ++end;
    split += name[i];
    if (end > i + 1)
      split += "_" + name.substr(i + 1, end - i - 1);
  }
  return split;
}

} // namespace

std::string snakeCase(const std::string &className) {
  std::string word;
  for (char c : className) // drops \W; bytes above 127 count as letters
    if (static_cast<signed char>(c) < 0 || std::isalnum(static_cast<unsigned char>(c)) || c == '_')
      word += c;
  std::string snake;
  for (char c : splitWords(word)) { // inserts _ between a lower-case letter and a capital
    if (isUpper(c) && !snake.empty() && isLower(snake.back()))
      snake += '_';
    snake += c;
  }
  for (char &c : snake)
    c = isUpper(c) ? static_cast<char>(c - 'A' + 'a') : c;
  return snake;
}

std::string uniqueName(const std::string &className) {
  const std::string snake = snakeCase(className);
  const ForkSafeLock lock(namesMutex);
  int count = namesUsed()[snake]++;
  return count == 0 ? snake : fmt::format("{}_{}", snake, count);
}

bool isAutomaticName(const std::string &name, const std::string &className) {
  const std::string snake = snakeCase(className);
  if (name == snake)
    return true;
  const std::string_view digits = name.starts_with(snake + "_") ? std::string_view(name).substr(snake.size() + 1) : "";
  return !digits.empty() && digits.front() != '0' && digits.find_first_not_of("0123456789") == digits.npos;
}

void requireNameInUtf8(const char *what, const std::string &name, Where where) {
  if (!isUtf8(name))
    throw Error(ErrorKind::value_error, fmt::format("{} must be UTF-8. Received: {:?}", what, name), {}, where);
}

} // namespace halftone::detail

namespace halftone {
using namespace detail;

void utils::clear_session() {
  unsetPolicy();
  const ForkSafeLock lock(namesMutex);
  namesUsed().clear();
}

} // namespace halftone
