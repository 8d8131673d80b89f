// Mutation tests of the emitters' PTX: each mutant must fault or give other results in the emulator.
// SPDX-License-Identifier: Apache-2.0
#include "tests/compiler/EmulatedGpu.h"
#include "tests/compiler/KernelHarness.h"
#include "tests/compiler/KernelText.h"
#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <optional>
#include <regex>
#include <sstream>

using halftone::KernelCode;
using halftone::testing::GpuLaunch;
using halftone::testing::GpuOutcome;
using halftone::testing::KernelHarness;
using halftone::testing::runsUnder;
using halftone::testing::tryOnGpu;
using halftone::testing::with;
using Operands = std::vector<halftone::dialect::TensorData>;

namespace {

/// One change of one line of PTX.
struct Mutation {
  std::string name;
  std::string pattern;     // a regular expression; its first match in the line is replaced
  std::string replacement; // $1, $2, ... are the pattern's groups
  int occurrence = 0;      // which of the matching lines, from 0; negative: from the last
  std::string behind = ""; // a regular expression: only lines after the first match count
};

/// PTX with the mutation, or nothing if no line matches the pattern.
std::optional<std::string> mutated(const std::string &ptx, const Mutation &mutation) {
  const std::regex pattern(mutation.pattern), behind(mutation.behind);
  std::vector<std::string> lines;
  std::vector<size_t> found;
  std::istringstream stream(ptx);
  bool isBehind = mutation.behind.empty();
  for (std::string line; std::getline(stream, line); lines.push_back(line)) {
    if (isBehind && std::regex_search(line, pattern))
      found.push_back(lines.size());
    isBehind = isBehind || std::regex_search(line, behind);
  }
  const int place = mutation.occurrence < 0 ? int(found.size()) + mutation.occurrence : mutation.occurrence;
  if (place < 0 || place >= int(found.size()))
    return std::nullopt;
  std::string &line = lines[found[size_t(place)]], before = line;
  line = std::regex_replace(line, pattern, mutation.replacement, std::regex_constants::format_first_only);
  if (line == before)
    return std::nullopt;
  std::string text;
  for (const std::string &each : lines)
    text += each + "\n";
  return text;
}

/// Returns true if the launch of `mutant` differs from the launch of the original code under one of three orders of
/// warps and blocks.
bool isCaught(const GpuLaunch &launch, int parts, const KernelCode &mutant, const std::vector<GpuOutcome> &expected) {
  const GpuLaunch wrong{mutant, launch.operands, launch.resultBytes, launch.extents, launch.grid, launch.scratchBytes};
  for (size_t i = 0; i < expected.size(); ++i) {
    const GpuOutcome outcome = tryOnGpu(wrong, parts, unsigned(i) + 1);
    if (outcome.fault.find("could not load") != std::string::npos)
      FAIL("the mutant is no PTX: " << outcome.fault);
    if (outcome == expected[i])
      continue;
    UNSCOPED_INFO((outcome.fault.empty() ? "other results" : outcome.fault));
    return true;
  }
  return false;
}

KernelCode codeWith(const KernelCode &code, const Mutation &mutation) {
  const std::optional<std::string> text = mutated(code.code, mutation);
  if (!text)
    FAIL("no line " << mutation.occurrence << " with " << mutation.pattern << " behind one with '" << mutation.behind
                    << "' in\n"
                    << code.code);
  KernelCode mutant = code;
  mutant.code = *text;
  return mutant;
}

/// Checks that all mutants of a kernel are caught when it runs on `operands`, in one launch or as several parts of one.
void checkCaught(const KernelHarness &kernel, const Operands &operands, const std::vector<Mutation> &mutations,
                 int parts = 0) {
  REQUIRE(mutations.size() >= 3);
  const GpuLaunch launch = kernel.gpuLaunch(operands);
  std::vector<GpuOutcome> expected;
  for (unsigned seed : {1u, 2u, 3u}) {
    expected.push_back(tryOnGpu(launch, parts, seed));
    REQUIRE(expected.back().fault == "");
  }
  for (const Mutation &mutation : mutations) {
    INFO(mutation.name);
    const KernelCode mutant = codeWith(launch.code, mutation);
    const bool caught = isCaught(launch, parts, mutant, expected);
    CHECK(caught);
  }
}
void checkCaught(const std::string &text, const std::vector<Mutation> &mutations) {
  const KernelHarness kernel(text, "sm_80", /*strict=*/false);
  checkCaught(kernel, kernel.operands(3, /*specials=*/false), mutations);
}

// Mutations that fit many kernels.
Mutation withoutBarrier(const std::string &name, int occurrence) { return {name, "^\tbar\\.sync.*", "", occurrence}; }

Mutation swappedSubtraction(const std::string &behind = "") {
  return {"the operands of a subtraction change places", "sub(\\.rn)?\\.f32(.*), (.*), (.*);", "sub$1.f32$2, $4, $3;",
          0, behind};
}
const Mutation narrowLoad{"half of a vector is not read",
                          "ld\\.global\\.v4\\.b32(\\s+)\\{(%r\\d+), (%r\\d+), %r\\d+, %r\\d+\\}",
                          "ld.global.v2.b32$1{$2, $3}"};
const Mutation narrowExchange{"half of a vector is not told to other threads",
                              "st\\.shared\\.v4\\.b32(\\s+\\[.*\\]), \\{(%r\\d+), (%r\\d+), .*\\}",
                              "st.shared.v2.b32$1, {$2, $3}"};
/// Mutates the first sum after a line that matches `behind`.
Mutation missedSum(const std::string &behind) {
  return {"a sum misses what another thread has", "add\\.rn\\.f32(.*), (.*), (.*);", "mov.b32$1, $2;", 0, behind};
}
Mutation nearLanes(const std::string &behind) {
  return {"lanes add those too near", "(shfl\\.sync\\.down\\.b32.*), 16, 31", "$1, 8, 31", 0, behind};
}

constexpr const char *flat = R"(
halftone.kernel loop @k (tensor<5003xf32>, tensor<5003xf32>) -> tensor<5003xf32> {
^bb0(%x: tensor<5003xf32>, %y: tensor<5003xf32>):
  %0 = halftone.sub %x, %y : tensor<5003xf32>
  halftone.yield %0 : tensor<5003xf32>
})";

constexpr const char *turned = R"(
halftone.kernel loop @k (tensor<100x70xf32>, tensor<70x100xf32>) -> tensor<70x100xf32> {
^bb0(%x: tensor<100x70xf32>, %y: tensor<70x100xf32>):
  %t = halftone.transpose %x {permutation = array<i64: 1, 0>} : tensor<100x70xf32> to tensor<70x100xf32>
  %0 = halftone.sub %t, %y : tensor<70x100xf32>
  halftone.yield %0 : tensor<70x100xf32>
})";

constexpr const char *sides = R"(
halftone.kernel loop @k (tensor<40x36xf32>) -> (tensor<40x36xf32>, tensor<3x36xf32>, tensor<3x1xf32>)
    attributes {spec = #halftone.blocks<rows = 16>} {
^bb0(%x: tensor<40x36xf32>):
  %0 = halftone.mul %x, %x : tensor<40x36xf32>
  %1 = halftone.partial_reduce sum %0 {axes = array<i64: 0>, tile = array<i64: 16>} : tensor<40x36xf32> -> tensor<3x36xf32>
  %2 = halftone.partial_reduce max %x {axes = array<i64: 0, 1>, tile = array<i64: 16, 36>} : tensor<40x36xf32> -> tensor<3x1xf32>
  halftone.yield %0, %1, %2 : tensor<40x36xf32>, tensor<3x36xf32>, tensor<3x1xf32>
})";

constexpr const char *columns = R"(
halftone.kernel loop @k (tensor<150x36xf32>) -> (tensor<36xf32>) {
^bb0(%x: tensor<150x36xf32>):
  %0 = halftone.mul %x, %x : tensor<150x36xf32>
  %s = halftone.reduce sum %0 {axes = array<i64: 0>} : tensor<150x36xf32> -> tensor<36xf32>
  halftone.yield %s : tensor<36xf32>
})";

/// Rows minus their largest element, divided by their sum.
constexpr const char *rows = R"(
halftone.kernel row @k (tensor<$Mx$Nxf32>) -> tensor<$Mx$Nxf32> {
^bb0(%x: tensor<$Mx$Nxf32>):
  %m = halftone.reduce max %x {axes = array<i64: 1>} : tensor<$Mx$Nxf32> -> tensor<$Mxf32>
  %mb = halftone.broadcast %m {axes = array<i64: 0>} : tensor<$Mxf32> to tensor<$Mx$Nxf32>
  %d = halftone.sub %x, %mb : tensor<$Mx$Nxf32>
  %s = halftone.reduce sum %d {axes = array<i64: 1>} : tensor<$Mx$Nxf32> -> tensor<$Mxf32>
  %sb = halftone.broadcast %s {axes = array<i64: 0>} : tensor<$Mxf32> to tensor<$Mx$Nxf32>
  %y = halftone.mul %d, %sb : tensor<$Mx$Nxf32>
  halftone.yield %y : tensor<$Mx$Nxf32>
})";

constexpr const char *finish = R"(
halftone.kernel row @k (tensor<24x50xf32>, tensor<50xf32>) -> (tensor<f32>, tensor<f32>) {
^bb0(%x: tensor<24x50xf32>, %y: tensor<50xf32>):
  %a = halftone.reduce sum %x {axes = array<i64: 0, 1>} : tensor<24x50xf32> -> tensor<f32>
  %ab = halftone.broadcast %a {axes = array<i64>} : tensor<f32> to tensor<50xf32>
  %less = halftone.sub %y, %ab : tensor<50xf32>
  %b = halftone.reduce sum %less {axes = array<i64: 0>} : tensor<50xf32> -> tensor<f32>
  halftone.yield %a, %b : tensor<f32>, tensor<f32>
})";

constexpr const char *scan = R"(
halftone.kernel cumulative @k (tensor<3x7x36xf32>) -> tensor<3x7x36xf32> {
^bb0(%x: tensor<3x7x36xf32>):
  %0 = halftone.mul %x, %x : tensor<3x7x36xf32>
  %1 = halftone.cumsum %0 {axis = 1 : i64} : tensor<3x7x36xf32> -> tensor<3x7x36xf32>
  halftone.yield %1 : tensor<3x7x36xf32>
})";

constexpr const char *scatter = R"(
halftone.kernel scatter @k (tensor<70xi64>, tensor<70x36xf32>) -> tensor<9x36xf32> {
^bb0(%i: tensor<70xi64>, %u: tensor<70x36xf32>):
  %0 = halftone.scatter_add %i, %u {axis = 0 : i64} : (tensor<70xi64>, tensor<70x36xf32>) -> tensor<9x36xf32>
  halftone.yield %0 : tensor<9x36xf32>
})";

/// A product of `$M` x `$K` by `$K` x `$N` elements of type `$T`.
constexpr const char *product = R"(
halftone.kernel matmul @k (tensor<$Mx$Kx$T>, tensor<$Kx$Nx$T>) -> tensor<$Mx$Nxf32> {
^bb0(%x: tensor<$Mx$Kx$T>, %w: tensor<$Kx$Nx$T>):
  %0 = halftone.contract %x, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
      : (tensor<$Mx$Kx$T>, tensor<$Kx$Nx$T>) -> tensor<$Mx$Nxf32>
  halftone.yield %0 : tensor<$Mx$Nxf32>
})";

/// A product minus its bias, with column sums and the largest element of each tile.
constexpr const char *layer = R"(
halftone.kernel matmul @k (tensor<70x24xf16>, tensor<24x40xf16>, tensor<40xf16>)
    -> (tensor<70x40xf16>, tensor<3x40xf32>, tensor<3x2xf32>) attributes {spec = #halftone.blocks<tile = [32, 32]>} {
^bb0(%x: tensor<70x24xf16>, %w: tensor<24x40xf16>, %b: tensor<40xf16>):
  %0 = halftone.contract %x, %w {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
      : (tensor<70x24xf16>, tensor<24x40xf16>) -> tensor<70x40xf16>
  %1 = halftone.broadcast %b {axes = array<i64: 1>} : tensor<40xf16> to tensor<70x40xf16>
  %2 = halftone.sub %0, %1 : tensor<70x40xf16>
  %p = halftone.partial_reduce sum %2 {axes = array<i64: 0>, tile = array<i64: 32>} : tensor<70x40xf16> -> tensor<3x40xf32>
  %q = halftone.partial_reduce max %2 {axes = array<i64: 0, 1>, tile = array<i64: 32, 32>} : tensor<70x40xf16> -> tensor<3x2xf32>
  halftone.yield %2, %p, %q : tensor<70x40xf16>, tensor<3x40xf32>, tensor<3x2xf32>
})";

} // namespace

TEST_CASE("Every mutant of the search for a part of a launch is caught", "[mutations]") {
  const KernelHarness kernel(flat, "sm_80", /*strict=*/false);
  const std::string row = "mul\\.lo\\.s32(.*), 7;";
  checkCaught(kernel, kernel.operands(3, false),
              {{"rows of the table lie too near to each other", row, "mul.lo.s32$1, 1;"},
               {"a part's row is not that of the search", row, "mul.lo.s32$1, 1;", 1},
               {"a part has the next buffer's address", "(ld\\.global\\.b64 .*)\\+8\\]", "$1+16]"},
               {"a block's number is not counted from its part's first", "sub\\.s32 (.*), (.*), .*;", "mov.b32 $1, $2;",
                0, "\\+8\\]"},
               {"the first block of a part takes the part before", "setp\\.ge\\.s32", "setp.gt.s32"}},
              /*parts=*/2);
}

TEST_CASE("A mutant of the early exit computes although its predicate does not hold", "[mutations]") {
  const KernelHarness kernel(flat, "sm_80", /*strict=*/false);
  const GpuLaunch launch = kernel.gpuLaunch(kernel.operands(3, false));
  const auto runs = [&](const Mutation &mutation, int predicate, bool negated) {
    INFO(mutation.name);
    const KernelCode mutant = codeWith(launch.code, mutation);
    CHECK_FALSE(runsUnder(launch, predicate, negated));
    CHECK(runsUnder({mutant, launch.operands, launch.resultBytes, launch.extents, launch.grid}, predicate, negated));
  };
  runs({"blocks do not return early", "^\t@%p\\d+ bra .*", "", 0, "not\\.pred"}, 0, false);
  runs({"the predicate is not negated", "xor\\.pred", "or.pred"}, 1, true);
  runs({"any byte counts as true", "setp\\.ne\\.b16", "setp.eq.b16"}, 0, false);
}

// Kernels have separate code for rows that are a multiple of 16 bytes and for others. Mutations apply to the code that
// runs.
constexpr const char *vectors = "ld\\.global\\.v4";

TEST_CASE("Every mutant of a loop is caught", "[mutations]") {
  checkCaught(flat, {swappedSubtraction(vectors),
                     narrowLoad,
                     {"a vector begins an element late", "(st\\.global\\.v4\\.b32.*%rd\\d+)\\]", "$1+4]"},
                     {"a thread past the end takes an element", "setp\\.ge\\.s32", "setp.gt.s32", -1},
                     {"blocks begin at another column", "mul\\.lo\\.s32", "add.s32", 2, "tid\\.x"}});
}

TEST_CASE("Every mutant of a loop with a transposed operand is caught", "[mutations]") {
  checkCaught(
      turned,
      {withoutBarrier("squares are read before all threads have written", 3),
       {"elements of a square are written a line further", "(st\\.shared\\.b32.*%rd\\d+)\\]", "$1+4]", -1},
       {"a square's lines are read at another distance", "(m(?:ad|ul)\\.lo\\.s32.*), 65([,;])", "$1, 64$2", -1},
       {"a square's lines are written at another distance", "(m(?:ad|ul)\\.lo\\.s32.*), 65([,;])", "$1, 64$2", -3},
       swappedSubtraction(vectors)});
}

TEST_CASE("Every mutant of a loop with partial reductions is caught", "[mutations]") {
  checkCaught(sides, {withoutBarrier("sums of columns are read before all threads have written", 2),
                      withoutBarrier("totals are read before all warps have written", 5),
                      {"a maximum is a minimum", "setp\\.gt\\.f32", "setp.lt.f32", 0, "shfl"},
                      missedSum("ld\\.shared\\.v4"),
                      narrowExchange});
}

TEST_CASE("Every mutant of a reduction loop is caught", "[mutations]") {
  checkCaught(columns, {withoutBarrier("sums are read before all threads have written", 2),
                        missedSum("ld\\.shared\\.v4"),
                        narrowExchange,
                        {"threads begin with the second sum", "mov\\.b32(.*), 1;", "mov.b32$1, 2;", -1},
                        {"a thread's rows have another distance", "mul\\.lo\\.s32", "add.s32", -1}});
}

TEST_CASE("Every mutant of a row kernel of one warp a row is caught", "[mutations]") {
  checkCaught(with(rows, 20, 100, "f32"),
              {{"lanes add those too near", "(shfl\\.sync\\.down\\.b32.*), 4, 31", "$1, 2, 31"},
               {"lanes take the total of another lane", "(shfl\\.sync\\.idx\\.b32.*), 0, 31", "$1, 1, 31"},
               {"some lanes miss the exchange", "(shfl\\.sync\\.down\\.b32.*), -1;", "$1, 65535;"},
               {"a maximum is a minimum", "setp\\.gt\\.f32", "setp.lt.f32"},
               {"a store has no guard", "^\t@%p\\d+ bra .*", "", -1},
               swappedSubtraction()});
}

TEST_CASE("Every mutant of a row kernel of several warps a row is caught", "[mutations]") {
  checkCaught(with(rows, 3, 1000, "f32"), {withoutBarrier("warps read totals before all have written", 0),
                                           withoutBarrier("warps write totals while others read those before", 1),
                                           nearLanes("sub\\.f32"), swappedSubtraction()});
}

TEST_CASE("Every mutant of a row kernel whose rows exceed registers is caught", "[mutations]") {
  checkCaught(with(rows, 2, 20000, "f32"), {withoutBarrier("warps read totals before all have written", 0),
                                            withoutBarrier("warps write totals while others read those before", 1),
                                            nearLanes("sub\\.f32"), swappedSubtraction()});
}

TEST_CASE("Every mutant of a finish is caught", "[mutations]") {
  checkCaught(finish, {withoutBarrier("warps read totals before all have written", 0), nearLanes("tid\\.x"),
                       swappedSubtraction(), withoutBarrier("warps write totals while others read those before", 1)});
}

TEST_CASE("Every mutant of a scan is caught", "[mutations]") {
  checkCaught(scan,
              {{"a sum begins with one", "mov\\.b32(.*), 0f00000000;", "mov.b32$1, 0f3F800000;", -1},
               {"elements have another distance", "mad\\.lo\\.s32(.*), (.*), (.*), (.*);", "add.s32$1, $2, $4;", -1},
               {"every second element is left out", "add\\.s32(.*), 1;", "add.s32$1, 2;", -1},
               narrowLoad});
}

TEST_CASE("Every mutant of a scatter is caught", "[mutations]") {
  const KernelHarness kernel(scatter, "sm_80", /*strict=*/true);
  Operands operands = kernel.operands(3, false);
  for (int64_t &index : operands[0].integers)
    index = index % 9; // some are negative
  const std::string cleared = "st\\.global\\.v4\\.b32.*\\{0f00000000";
  checkCaught(
      kernel, operands,
      {{"indices below 0 are not clamped", "max\\.s64(.*), (.*), 0;", "mov.b64$1, $2;", 0, cleared},
       {"warps add the rows of others", "setp\\.eq\\.b32", "setp.ne.b32", 0, cleared},
       {"lanes take another lane's index", "(shfl\\.sync\\.idx\\.b32.*, %r\\d+), %r\\d+, 31", "$1, 0, 31", 0, cleared},
       {"only some lanes tell their index", "(vote\\.sync\\.ballot.*), -1;", "$1, 65535;", 0, cleared},
       {"rows are not cleared", cleared + ".*", ""}});
}

TEST_CASE("Every mutant of a product by multiply-add is caught", "[mutations]") {
  checkCaught(with(with(product, {{"$K", "40"}}), 40, 36, "f32"),
              {withoutBarrier("factors are written while threads read those before", 0),
               withoutBarrier("factors are read before all threads have written", 1),
               withoutBarrier("sums are read before all threads have written", 3),
               {"a sum takes a factor's place", "fma\\.rn\\.f32(.*), (.*), (.*), (.*);", "fma.rn.f32$1, $2, $4, $3;"},
               {"a factor comes from another line", "(ld\\.shared\\.v4.*)\\+144\\]", "$1+288]"}});
}

TEST_CASE("Every mutant of a product by mma.sync is caught", "[mutations]") {
  const std::string stage = "tid\\.x";
  checkCaught(with(with(product, {{"$K", "200"}}), 40, 48, "bf16"),
              {withoutBarrier("factors are read before all threads' copies have come", 0),
               {"threads do not wait for their copies", "cp\\.async\\.wait_group.*", ""},
               {"threads wait for one group of copies fewer", "cp\\.async\\.wait_group\\s+2", "cp.async.wait_group 3"},
               {"copies are put into the group after", "cp\\.async\\.commit_group.*", "", 1},
               {"copies at the edge of K read on", "(cp\\.async\\.cg.*, 16), %r\\d+;", "$1;", -1},
               {"a chunk is not permuted as it is written", "xor\\.b32(.*), (.*), (.*);", "mov.b32$1, $2;", 1, stage},
               {"a fragment is not permuted as it is read", "xor\\.b32(.*), (.*), (.*);", "mov.b32$1, $2;", -1, stage},
               {"matrices are not transposed", "ldmatrix(.*)\\.trans", "ldmatrix$1"},
               {"factors change places", "\\{ *(%r\\d+), *(%r\\d+), *(%r\\d+), *(%r\\d+) *\\},", "{$1, $3, $2, $4},", 1,
                "mma\\.sync"}});
}

TEST_CASE("Every mutant of a product with partial reductions is caught", "[mutations]") {
  checkCaught(layer, {withoutBarrier("products are read before all threads have written", 2),
                      withoutBarrier("sums of columns are read before all threads have written", 4),
                      swappedSubtraction("ld\\.shared"),
                      {"a maximum is a minimum", "setp\\.gt\\.f32", "setp.lt.f32", -1},
                      missedSum("mma\\.sync")});
}
