// The tables of the driver's errors and of the releases that read each version of PTX.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/cuda/DriverErrors.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::cuda {
namespace {

struct ErrorRule {
  Result result;
  Reach reach;
  std::string_view advice;
};

constexpr ErrorRule rules[] = {
#define HALFTONE_DRIVER_RESULT(name, symbol, value, reach, advice) {Result::name, Reach::reach, advice},
#include "runtime/devices/cuda/DriverResults.def"
};

const ErrorRule *ruleOf(Result result) {
  const auto *const found = std::ranges::find(rules, result, &ErrorRule::result);
  return found == std::end(rules) ? nullptr : found;
}

/// The first release of the driver that reads a version of PTX (table "Release History" of the PTX ISA).
struct PtxRelease {
  std::string_view ptx, cuda;
  int driver;
};

constexpr PtxRelease releases[] = {
    {"7.0", "11.0", 450}, {"7.1", "11.1", 455}, {"7.2", "11.2", 460}, {"7.3", "11.3", 465}, {"7.4", "11.4", 470},
    {"7.5", "11.5", 495}, {"7.6", "11.6", 510}, {"7.7", "11.7", 515}, {"7.8", "11.8", 520}, {"8.0", "12.0", 525},
    {"8.1", "12.1", 530}, {"8.2", "12.2", 535}, {"8.3", "12.3", 545}, {"8.4", "12.4", 550}, {"8.5", "12.5", 555},
    {"8.6", "12.7", 565}, {"8.7", "12.8", 570}, {"8.8", "12.9", 575}, {"9.0", "13.0", 580}};

/// "8.0" for ".version 8.0"; "" if there is no such directive.
std::string_view versionOf(std::string_view ptx) {
  constexpr std::string_view directive = ".version", blank = " \t";
  const size_t at = ptx.find(directive);
  if (at == ptx.npos)
    return "";
  ptx.remove_prefix(at + directive.size());
  ptx.remove_prefix(std::min(ptx.find_first_not_of(blank), ptx.size()));
  return ptx.substr(0, ptx.find_first_not_of("0123456789."));
}

} // namespace

Reach reachOf(Result result) {
  const ErrorRule *const rule = ruleOf(result);
  return rule ? rule->reach : Reach::request;
}

std::string_view adviceOn(Result result) {
  const ErrorRule *const rule = ruleOf(result);
  return rule ? rule->advice : "";
}

std::string neededBy(std::string_view ptx) {
  const std::string_view version = versionOf(ptx);
  if (version.empty())
    return "PTX of unknown version";
  const auto *const found = std::ranges::find(releases, version, &PtxRelease::ptx);
  if (found == std::end(releases))
    return fmt::format("PTX {}, which needs a newer driver", version);
  return fmt::format("PTX {}, which needs a driver {} or newer (CUDA {})", version, found->driver, found->cuda);
}

} // namespace halftone::cuda
