// Matches layer paths against regular expressions with PCRE2.
// SPDX-License-Identifier: Apache-2.0
#define PCRE2_CODE_UNIT_WIDTH 8
#include "runtime/policy/PathPattern.h"
#include "halftone/Error.h"
#include "runtime/policy/PythonRegex.h"
#include "runtime/policy/PythonText.h"
#include <fmt/format.h>
#include <new>
#include <pcre2.h>

using namespace halftone;

/// This many steps take about a tenth of a second; an ordinary pattern needs a few hundred steps.
static constexpr uint32_t matchSteps = 1000000;
static constexpr uint32_t matchHeapKiB = 65536;

namespace {
template <auto Free> struct Freed {
  void operator()(auto *pointer) const { Free(pointer); }
};
template <class T, auto Free> using Owned = std::unique_ptr<T, Freed<Free>>;
using MatchContext = Owned<pcre2_match_context, pcre2_match_context_free_8>;
} // namespace

struct PathPattern::Code {
  std::string pattern;
  Owned<pcre2_code, pcre2_code_free_8> compiled;
};

static std::string reasonOf(int error) {
  PCRE2_UCHAR8 buffer[256];
  const int length = pcre2_get_error_message(error, buffer, sizeof buffer);
  return length < 0 ? fmt::format("PCRE2 error {}", error) : std::string(reinterpret_cast<char *>(buffer), length);
}

bool PathPattern::isLiteral(std::string_view pattern) {
  return pattern.find_first_of("\\^$.|?*+()[]{}") == pattern.npos;
}

PathPattern::PathPattern(std::string_view pattern) {
  const auto fail = [&](const std::string &reason) {
    throw Error(ErrorKind::value_error, fmt::format("{} is not a regular expression: {}", pythonRepr(pattern), reason));
  };
  TranslatedRegex translated;
  try {
    translated = translatePythonRegex(pattern);
  } catch (const Error &error) {
    fail(error.message());
  }
  const Owned<pcre2_compile_context, pcre2_compile_context_free_8> context(pcre2_compile_context_create(nullptr));
  if (!context)
    throw std::bad_alloc();
  (void)pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  const uint32_t options = PCRE2_UTF | (translated.ascii ? 0 : PCRE2_UCP);
  int error = 0;
  size_t offset = 0;
  auto made = std::make_shared<Code>();
  made->pattern = pattern;
  made->compiled.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR8>(translated.pattern.data()),
                                     translated.pattern.size(), options, &error, &offset, context.get()));
  if (!made->compiled)
    fail(reasonOf(error));
  code = std::move(made);
}

bool PathPattern::matches(std::string_view path) const { return run(path, PCRE2_ANCHORED | PCRE2_ENDANCHORED); }
bool PathPattern::occursIn(std::string_view path) const { return run(path, 0); }

bool PathPattern::run(std::string_view path, uint32_t options) const {
  static const MatchContext &limits = *new MatchContext([] {
    MatchContext context(pcre2_match_context_create(nullptr));
    if (!context)
      throw std::bad_alloc();
    (void)pcre2_set_match_limit(context.get(), matchSteps);
    (void)pcre2_set_heap_limit(context.get(), matchHeapKiB);
    return context;
  }());
  const Owned<pcre2_match_data, pcre2_match_data_free_8> data(pcre2_match_data_create(1, nullptr));
  if (!data)
    throw std::bad_alloc();
  const int result = pcre2_match(code->compiled.get(), reinterpret_cast<PCRE2_SPTR8>(path.data()), path.size(), 0,
                                 options, data.get(), limits.get());
  if (result >= 0)
    return true;
  const bool isNotUtf8 = result <= PCRE2_ERROR_UTF8_ERR1 && result >= PCRE2_ERROR_UTF8_ERR21;
  if (result == PCRE2_ERROR_NOMATCH || isNotUtf8)
    return false;
  if (result == PCRE2_ERROR_MATCHLIMIT || result == PCRE2_ERROR_HEAPLIMIT || result == PCRE2_ERROR_DEPTHLIMIT)
    throw Error(ErrorKind::value_error,
                fmt::format("Matching the path {} against {} was abandoned after {} steps: the pattern backtracks too "
                            "much. Make its repeated parts unable to match the same text in several ways.",
                            pythonRepr(path), pythonRepr(code->pattern), matchSteps));
  throw Error(ErrorKind::value_error, fmt::format("Matching the path {} against {} failed: {}", pythonRepr(path),
                                                  pythonRepr(code->pattern), reasonOf(result)));
}
