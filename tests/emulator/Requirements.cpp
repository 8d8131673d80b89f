// The PTX version and target that an instruction, target or driver implies, from the notes of the PTX ISA.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/Requirements.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::emulator {

namespace {

/// Applies to an opcode whose modifiers contain `with`, one or several consecutive modifiers, and not the modifier
/// `without`.
struct Rule {
  std::string_view opcode;
  std::string_view with;
  uint8_t version;
  uint8_t target;
  std::string_view without = {};
};

// Targets below sm_70 are omitted where the version implies them. The test compares the rules with ptxas.
constexpr Rule rules[] = {
    {"abs", "bf16", 70, 80},
    {"abs", "bf16x2", 70, 80},
    {"abs", "f16", 65, 53},
    {"abs", "f16x2", 65, 53},
    {"activemask", "", 62, 30},
    {"add", "bf16", 78, 90},
    {"add", "bf16x2", 78, 90},
    {"add", "f16", 42, 53},
    {"add", "f16x2", 42, 53},
    {"add", "s16x2", 80, 90},
    {"add", "u16x2", 80, 90},
    {"bar", "cta", 78, 30},
    {"bar", "warp", 60, 30},
    {"barrier", "", 60, 30},
    {"barrier", "cta", 78, 30},
    {"brx", "", 60, 30},
    {"cp", "async", 70, 80},
    {"cp", "async.bulk", 80, 90},
    {"cp", "L2::128B", 74, 80},
    {"cp", "L2::256B", 74, 80},
    {"cp", "L2::64B", 74, 80},
    {"createpolicy", "", 74, 80},
    {"cvt", "bf16", 78, 90, "f32"},
    {"cvt", "bf16.f32", 70, 80},
    {"cvt", "bf16x2", 70, 80},
    {"cvt", "e4m3x2", 78, 89},
    {"cvt", "e5m2x2", 78, 89},
    {"cvt", "f16x2", 70, 80},
    {"cvt", "f32.bf16", 71, 80},
    {"cvt", "pack", 65, 72},
    {"cvt", "relu", 70, 80},
    {"cvt", "satfinite.tf32", 81, 80},
    {"cvt", "tf32", 70, 80},
    {"cvt", "tf32", 78, 90, "rna"},
    {"cvta", "param", 77, 70},
    {"elect", "", 80, 90},
    {"ex2", "bf16", 78, 90},
    {"ex2", "bf16x2", 78, 90},
    {"ex2", "f16", 70, 75},
    {"ex2", "f16x2", 70, 75},
    {"fence", "", 60, 70},
    {"fence", "cluster", 78, 90},
    {"fence", "proxy.async", 80, 90},
    {"fma", "bf16", 70, 80},
    {"fma", "bf16x2", 70, 80},
    {"fma", "f16", 42, 53},
    {"fma", "f16x2", 42, 53},
    {"fma", "relu", 70, 80},
    {"griddepcontrol", "", 78, 90},
    {"ld", "L1::evict_first", 74, 70},
    {"ld", "L1::evict_last", 74, 70},
    {"ld", "L1::evict_normal", 74, 70},
    {"ld", "L1::evict_unchanged", 74, 70},
    {"ld", "L1::no_allocate", 74, 70},
    {"ld", "L2::128B", 74, 75},
    {"ld", "L2::256B", 74, 80},
    {"ld", "L2::64B", 74, 75},
    {"ld", "acquire", 60, 70},
    {"ld", "b128", 83, 70},
    {"ld", "param::entry", 83, 0},
    {"ld", "relaxed", 60, 70},
    {"ld", "shared::cta", 78, 30},
    {"ld", "weak", 60, 70},
    {"ldmatrix", "", 65, 75},
    {"ldmatrix", "shared::cta", 78, 75},
    {"lop3", "", 43, 50},
    {"lop3", "and", 82, 70},
    {"lop3", "or", 82, 70},
    {"max", "NaN", 70, 80},
    {"max", "bf16", 70, 80},
    {"max", "bf16x2", 70, 80},
    {"max", "f16", 70, 80},
    {"max", "f16x2", 70, 80},
    {"max", "relu", 80, 90},
    {"max", "s16x2", 80, 90},
    {"max", "u16x2", 80, 90},
    {"max", "xorsign", 72, 86},
    {"mbarrier", "", 70, 80},
    {"min", "NaN", 70, 80},
    {"min", "bf16", 70, 80},
    {"min", "bf16x2", 70, 80},
    {"min", "f16", 70, 80},
    {"min", "f16x2", 70, 80},
    {"min", "relu", 80, 90},
    {"min", "s16x2", 80, 90},
    {"min", "u16x2", 80, 90},
    {"min", "xorsign", 72, 86},
    {"mma", "", 64, 70},
    {"mma", "bf16", 70, 80},
    {"mma", "e4m3", 84, 89},
    {"mma", "e5m2", 84, 89},
    {"mma", "f64", 70, 80},
    {"mma", "m16n8k16", 70, 80},
    {"mma", "m16n8k32", 70, 80},
    {"mma", "m16n8k4", 70, 80},
    {"mma", "m16n8k8", 65, 75},
    {"mma", "tf32", 70, 80},
    {"mov", "b128", 83, 70},
    {"mul", "bf16", 78, 90},
    {"mul", "bf16x2", 78, 90},
    {"mul", "f16", 42, 53},
    {"mul", "f16x2", 42, 53},
    {"neg", "bf16", 70, 80},
    {"neg", "bf16x2", 70, 80},
    {"neg", "f16", 60, 53},
    {"neg", "f16x2", 60, 53},
    {"prefetch", "L2::evict_last", 74, 80},
    {"prefetch", "L2::evict_normal", 74, 80},
    {"redux", "", 70, 80},
    {"setp", "bf16", 78, 90},
    {"setp", "bf16x2", 78, 90},
    {"setp", "f16", 42, 53},
    {"setp", "f16x2", 42, 53},
    {"shf", "", 31, 32},
    {"shfl", "sync", 60, 30},
    {"st", "L1::evict_first", 74, 70},
    {"st", "L1::evict_last", 74, 70},
    {"st", "L1::evict_normal", 74, 70},
    {"st", "L1::evict_unchanged", 74, 70},
    {"st", "L1::no_allocate", 74, 70},
    {"st", "b128", 83, 70},
    {"st", "relaxed", 60, 70},
    {"st", "release", 60, 70},
    {"st", "shared::cta", 78, 30},
    {"st", "weak", 60, 70},
    {"stmatrix", "", 78, 90},
    {"sub", "bf16", 78, 90},
    {"sub", "bf16x2", 78, 90},
    {"sub", "f16", 42, 53},
    {"sub", "f16x2", 42, 53},
    {"tanh", "", 70, 75},
    {"tanh", "bf16", 78, 90},
    {"tanh", "bf16x2", 78, 90},
    {"vote", "sync", 60, 30},
};
static_assert(std::ranges::is_sorted(rules, {}, &Rule::opcode));

/// Returns true if the modifiers contain those of `wanted`, separated by dots, consecutively.
bool contains(const std::vector<std::string_view> &modifiers, std::string_view wanted) {
  if (wanted.empty())
    return true;
  for (size_t first = 0; first < modifiers.size(); ++first) {
    std::string_view rest = wanted;
    for (size_t i = first; i < modifiers.size() && rest.starts_with(modifiers[i]); ++i) {
      rest.remove_prefix(modifiers[i].size());
      if (rest.empty())
        return true;
      if (rest[0] != '.')
        break;
      rest.remove_prefix(1);
    }
  }
  return false;
}

struct Since {
  uint32_t what;
  uint32_t version;
};

constexpr Since targets[] = {{0, 10},  {20, 20}, {30, 30}, {32, 40},  {35, 31},  {37, 41},  {50, 40},  {52, 41},
                             {53, 42}, {60, 50}, {70, 60}, {72, 61},  {75, 63},  {80, 70},  {86, 71},  {87, 74},
                             {88, 90}, {89, 78}, {90, 78}, {100, 86}, {103, 88}, {110, 90}, {120, 87}, {121, 88}};
constexpr Since drivers[] = {{0, 10},     {9000, 60},  {9010, 61},  {10000, 63}, {10010, 64}, {10020, 65}, {11000, 70},
                             {11010, 71}, {11020, 72}, {11030, 73}, {11040, 74}, {11050, 75}, {11060, 76}, {11070, 77},
                             {11080, 78}, {12000, 80}, {12010, 81}, {12020, 82}, {12030, 83}, {12040, 84}, {12050, 85},
                             {12070, 86}, {12080, 87}, {12090, 88}, {13000, 90}, {13010, 91}};

/// The version in the last row that is not above `what`.
template <size_t count> uint32_t versionAt(const Since (&rows)[count], uint32_t what) {
  return std::prev(std::ranges::upper_bound(rows, what, {}, &Since::what))->version;
}

} // namespace

Requirement requirementOf(const Statement &statement) {
  Requirement most;
  for (const Rule &rule : std::ranges::equal_range(rules, statement.opcode, {}, &Rule::opcode)) {
    if (!contains(statement.modifiers, rule.with) ||
        (!rule.without.empty() && contains(statement.modifiers, rule.without)))
      continue;
    most.version = std::max<uint32_t>(most.version, rule.version);
    most.target = std::max<uint32_t>(most.target, rule.target);
  }
  return most;
}

uint32_t versionForTarget(uint32_t target) { return versionAt(targets, target); }
uint32_t newestVersionOf(int cuda) { return versionAt(drivers, static_cast<uint32_t>(cuda)); }
std::string versionText(uint32_t version) { return fmt::format("{}.{}", version / 10, version % 10); }

} // namespace halftone::emulator
