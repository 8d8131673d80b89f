// Writes kernels as PTX.
// SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/devices/cuda/PtxKernels.h"
#include "runtime/plan/GpuAbi.h"
#include "tests/runtime/RepeatPlans.h"
#include <fmt/format.h>

namespace halftone::test {
namespace {

std::string parameterList(int buffers, int extents) {
  std::string text;
  if (takesParameters(buffers, extents))
    for (int i = 0; i < buffers + extents; ++i)
      text += fmt::format(".param .{} in{}, ", i < buffers ? "u64" : "s64", i);
  return text + ".param .u64 table, .param .u64 predicate, .param .u64 scratch, .param .u64 scratchBytes, "
                ".param .u32 parts, .param .u32 negated";
}

constexpr const char *leaveUnlessPredicate = R"(
  ld.param.u64 %at, [predicate];
  setp.eq.u64 %p, %at, 0;
  @%p bra $runs;
  ld.global.u8 %byte, [%at];
  setp.ne.u16 %p, %byte, 0;
  selp.u32 %r0, 1, 0, %p;
  ld.param.u32 %r1, [negated];
  setp.eq.u32 %p, %r0, %r1;
  @%p ret;
$runs:
  mov.u32 %block, %ctaid.x;
  cvt.u64.u32 %own, %block;
  ld.param.u64 %scratch, [scratch];
  ld.param.u64 %at, [scratchBytes];
  mad.lo.u64 %scratch, %at, %own, %scratch;
  ld.param.u32 %parts, [parts];
)";

/// The last part that begins at or before the block.
constexpr const char *findPart = R"(
$table:
  ld.param.u64 %at, [table];
$next:
  sub.u32 %parts, %parts, 1;
  setp.eq.u32 %p, %parts, 0;
  @%p bra $found;
  ld.global.u64 %first, [%at+{stride}];
  setp.gt.u64 %p, %first, %own;
  @%p bra $found;
  add.s64 %at, %at, {stride};
  bra.uni $next;
$found:
  ld.global.u64 %first, [%at];
  cvt.u32.u64 %r0, %first;
  sub.u32 %block, %block, %r0;
)";

} // namespace

KernelCode gpuKernel(const std::string &symbol, int buffers, int extents, const std::string &body, LaunchShape shape) {
  const int count = buffers + extents;
  std::string text =
      fmt::format(".version 8.0\n.target sm_80\n.address_size 64\n.extern .shared .align 16 .b8 shared[];\n"
                  ".visible .entry {}({})\n{{\n  .reg .pred %p;\n  .reg .b16 %byte;\n"
                  "  .reg .b32 %block, %parts, %r<4>;\n"
                  "  .reg .b64 %at, %own, %first, %scratch, %d<4>, %in<{}>;\n  .reg .f32 %f<4>;\n",
                  symbol, parameterList(buffers, extents), count + 1);
  text += leaveUnlessPredicate;
  if (takesParameters(buffers, extents)) {
    text += "  setp.ne.u32 %p, %parts, 0;\n  @%p bra $table;\n";
    for (int i = 0; i < count; ++i)
      text += fmt::format("  ld.param.u64 %in{}, [in{}];\n", i, i);
    text += "  bra.uni $body;\n";
  }
  std::string search = findPart;
  for (size_t at = search.find("{stride}"); at != search.npos; at = search.find("{stride}"))
    search.replace(at, 8, std::to_string(8 * (count + 1)));
  text += search;
  for (int i = 0; i < count; ++i)
    text += fmt::format("  ld.global.u64 %in{}, [%at+{}];\n", i, 8 * (i + 1));
  text += "$body:\n" + body + "\n  ret;\n}\n";
  return {symbol, "loop", "nvptx|sm_80|ptx80", "", text, "", shape};
}

KernelCode countingKernel(bool usesScratch) {
  std::string body = R"(
  cvt.u64.u32 %d0, %block;
  min.u64 %d0, %d0, %in1;
  shl.b64 %d0, %d0, 2;
  add.s64 %d0, %d0, %in0;
  ld.global.u32 %r0, [%d0];
  add.u32 %r0, %r0, 1;
  st.global.u32 [%d0], %r0;)";
  if (usesScratch)
    body += "\n  mov.u16 %byte, 90;\n  st.global.u8 [%scratch], %byte;\n  st.global.u8 [%scratch+255], %byte;";
  return gpuKernel("count", 1, 1, body);
}

KernelCode addingKernel() {
  return gpuKernel("add", 1, 1, R"(
  mul.wide.u32 %d0, %block, 4;
  add.s64 %d0, %d0, %in0;
  ld.global.u32 %r0, [%d0];
  cvt.u32.u64 %r1, %in1;
  add.u32 %r0, %r0, %r1;
  st.global.u32 [%d0], %r0;)");
}

namespace {

/// Eight threads per block, one per element: `compute` changes %f0, the element of the first operand, whose offset in
/// bytes is %d0.
KernelCode elementwise(const std::string &symbol, int buffers, const std::string &compute) {
  const std::string extent = "%in" + std::to_string(buffers), result = "%in" + std::to_string(buffers - 1);
  return gpuKernel(symbol, buffers, 1,
                   R"(
  mov.u32 %r0, %tid.x;
  shl.b32 %r1, %block, 3;
  add.u32 %r0, %r0, %r1;
  cvt.u64.u32 %d0, %r0;
  setp.ge.u64 %p, %d0, )" +
                       extent +
                       R"(;
  @%p ret;
  shl.b64 %d0, %d0, 2;
  add.s64 %d1, %in0, %d0;
  ld.global.f32 %f0, [%d1];)" +
                       compute + "\n  add.s64 %d1, " + result + ", %d0;\n  st.global.f32 [%d1], %f0;",
                   {.threads = blockElements});
}

} // namespace

static KernelCode comparingKernel() {
  return gpuKernel("below", 3, 1, R"(
  mov.u32 %r0, %tid.x;
  or.b32 %r0, %r0, %block;
  setp.ne.u32 %p, %r0, 0;
  @%p ret;
  ld.global.f32 %f0, [%in0];
  ld.global.f32 %f1, [%in1];
  setp.lt.f32 %p, %f0, %f1;
  selp.u32 %r0, 1, 0, %p;
  st.global.u8 [%in2], %r0;)",
                   {.threads = blockElements});
}

std::map<std::string, KernelCode> planKernels() {
  return {
      {"add", elementwise("add", 3, R"(
  add.s64 %d1, %in1, %d0;
  ld.global.f32 %f1, [%d1];
  add.rn.f32 %f0, %f0, %f1;
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %d2, %r0, 4;
  add.s64 %d2, %d2, %scratch;
  st.global.f32 [%d2], %f0;
  ld.global.f32 %f0, [%d2];)")},
      {"below", comparingKernel()},
      {"halve", elementwise("halve", 2, "\n  mul.rn.f32 %f0, %f0, 0f3F000000;\n  add.rn.f32 %f0, %f0, 0f3F800000;")}};
}

} // namespace halftone::test
