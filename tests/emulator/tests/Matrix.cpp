// mma.sync products, with operands through cp.async and ldmatrix, compared with plain loops.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/Numbers.h"
#include "tests/emulator/tests/KernelRun.h"
#include <catch2/catch.hpp>

using namespace halftone::emulator;

namespace {

/// One warp multiplies A (16 x 32, rows of 16-bit numbers) and B (32 x 8, rows): cp.async to shared memory, ldmatrix, two steps of 16.
std::string productPtx(const std::string &type) {
  std::string body = R"(
.reg .pred %p<3>; .reg .b32 %l, %r<40>; .reg .f32 %f<5>; .reg .b64 %a, %b, %c, %d<9>;
mov.u32 %l, %tid.x; ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; ld.param.u64 %c, [c];
// A: 64 pieces of 16 bytes, B: 32.
mul.wide.u32 %d0, %l, 16; add.s64 %d1, %a, %d0; add.s64 %d2, %b, %d0;
mov.b32 %r0, tileA; mov.b32 %r1, tileB; shl.b32 %r2, %l, 4; add.u32 %r3, %r0, %r2; add.u32 %r4, %r1, %r2;
cp.async.cg.shared.global [%r3], [%d1], 16; cp.async.cg.shared.global [%r3+512], [%d1+512], 16; cp.async.commit_group;
cp.async.cg.shared.global [%r4], [%d2], 16; cp.async.commit_group;
mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000; mov.f32 %f3, 0f00000000; mov.f32 %f4, 0f00000000;
cp.async.wait_group 0; bar.sync 0;
// Row l % 16 of A, half l / 16 of a step; row l % 16 of a step of B.
and.b32 %r5, %l, 15; shr.u32 %r6, %l, 4; shl.b32 %r7, %r5, 6; shl.b32 %r8, %r6, 4; add.u32 %r7, %r7, %r8; add.u32 %r7, %r7, %r0;
shl.b32 %r9, %r5, 4; add.u32 %r9, %r9, %r1;
ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r7];
ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r14, %r15}, [%r9];
mma.sync.aligned.m16n8k16.row.col.f32.TYPE.TYPE.f32 {%f1, %f2, %f3, %f4}, {%r10, %r11, %r12, %r13}, {%r14, %r15}, {%f1, %f2, %f3, %f4};
ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r7+32];
ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r14, %r15}, [%r9+256];
mma.sync.aligned.m16n8k16.row.col.f32.TYPE.TYPE.f32 {%f1, %f2, %f3, %f4}, {%r10, %r11, %r12, %r13}, {%r14, %r15}, {%f1, %f2, %f3, %f4};
shr.u32 %r20, %l, 2; and.b32 %r21, %l, 3; shl.b32 %r22, %r20, 3; shl.b32 %r23, %r21, 1; add.u32 %r22, %r22, %r23;
mul.wide.u32 %d3, %r22, 4; add.s64 %d3, %c, %d3; st.global.v2.f32 [%d3], {%f1, %f2}; st.global.v2.f32 [%d3+256], {%f3, %f4};
ret;)";
  for (size_t place; (place = body.find("TYPE")) != std::string::npos;)
    body.replace(place, 4, type);
  return kernelPtx(".param .u64 a, .param .u64 b, .param .u64 c", body,
                   ".shared .align 16 .b8 tileA[1024];\n.shared .align 16 .b8 tileB[512];");
}

/// A warp that loads the registers of its operands directly from memory, 4 words per lane for A, 2 for B, 4 for the
/// sums.
template <typename Sum>
std::vector<Sum> registerProduct(const std::string &shape, const std::vector<uint32_t> &a,
                                 const std::vector<uint32_t> &b, const std::vector<Sum> &c, uint64_t seed) {
  std::string body = R"(
.reg .b32 %l, %r<20>; .reg .b64 %a, %b, %c, %d<9>; mov.u32 %l, %tid.x; ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; ld.param.u64 %c, [c];
mul.wide.u32 %d0, %l, 16; add.s64 %a, %a, %d0; add.s64 %c, %c, %d0; mul.wide.u32 %d1, %l, 8; add.s64 %b, %b, %d1;
ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%a]; ld.global.v2.b32 {%r4, %r5}, [%b]; ld.global.v4.b32 {%r6, %r7, %r8, %r9}, [%c];
mma.sync.aligned.)" + shape +
                     R"( {%r6, %r7, %r8, %r9}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%r6, %r7, %r8, %r9};
st.global.v4.b32 [%c], {%r6, %r7, %r8, %r9}; ret;)";
  KernelRun run(seed);
  uint64_t sums = run.upload(c);
  run.run(kernelPtx(".param .u64 a, .param .u64 b, .param .u64 c", body), {1, 1, 1}, {32, 1, 1}, 0, run.upload(a),
          run.upload(b), sums);
  return run.download<Sum>(sums, 128);
}

} // namespace

TEST_CASE("A product of f16 and bf16 through cp.async, ldmatrix and mma.sync equals a plain loop") {
  for (bool isHalf : {true, false})
    for (uint64_t seed : {0, 1, 2, 3}) {
      KernelRun run(seed);
      FloatFormat format = isHalf ? halfFormat : bfloatFormat;
      std::vector<uint16_t> a(16 * 32), b(32 * 8);
      std::vector<float> wideA(a.size()), wideB(b.size());
      auto fill = [&](std::vector<uint16_t> &narrow, std::vector<float> &wide, int factor) {
        for (size_t i = 0; i < narrow.size(); ++i) {
          wide[i] = float(int(i * factor % 23) - 11) / 8; // exact in both formats, as all sums are
          narrow[i] = static_cast<uint16_t>(roundTo(format, wide[i], Rounding::Nearest));
        }
      };
      fill(a, wideA, 7);
      fill(b, wideB, 5);
      uint64_t c = run.empty(16 * 8 * 4);
      run.run(productPtx(isHalf ? "f16" : "bf16"), {1, 1, 1}, {32, 1, 1}, 0, run.upload(a), run.upload(b), c);
      auto results = run.download<float>(c, 128);
      for (int row = 0; row < 16; ++row)
        for (int column = 0; column < 8; ++column) {
          float sum = 0;
          for (int k = 0; k < 32; ++k)
            sum += wideA[row * 32 + k] * wideB[k * 8 + column];
          CHECK(results[row * 8 + column] == sum);
        }
    }
}

TEST_CASE("A missing wait before ldmatrix is caught") {
  std::string ptx = productPtx("bf16");
  ptx.replace(ptx.find("wait_group 0"), 12, "wait_group 1");
  KernelRun run;
  std::vector<uint16_t> a(512), b(256);
  CHECK_THAT(run.fault(ptx, {1, 1, 1}, {32, 1, 1}, 0, run.upload(a), run.upload(b), run.empty(512)),
             Catch::Contains("cp.async"));
}

TEST_CASE("m16n8k32 multiplies bytes with their signs and adds to s32") {
  std::vector<uint32_t> a(128), b(64);
  std::vector<int32_t> c(128);
  auto byteOf = [](uint32_t word, int place) { return int32_t(int8_t(word >> (8 * place))); };
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = 0x80ff7f01u * (i + 1), c[i] = int32_t(i) * 1000 - 64000;
  for (size_t i = 0; i < b.size(); ++i)
    b[i] = 0x017f8003u * (i + 3);
  auto results = registerProduct("m16n8k32.row.col.s32.s8.s8.s32", a, b, c, 2);
  for (int lane = 0; lane < 32; ++lane)
    for (int place = 0; place < 4; ++place) {
      int row = lane / 4 + place / 2 * 8, column = lane % 4 * 2 + place % 2;
      int32_t sum = c[lane * 4 + place];
      for (int k = 0; k < 32; ++k) {
        int quad = k % 16 / 4;
        uint32_t wordA = a[(row % 8 * 4 + quad) * 4 + row / 8 + k / 16 * 2],
                 wordB = b[(column * 4 + quad) * 2 + k / 16];
        sum += byteOf(wordA, k % 4) * byteOf(wordB, k % 4);
      }
      CHECK(results[lane * 4 + place] == sum);
    }
}

TEST_CASE("m16n8k8 multiplies tf32, whose low 13 bits do not count") {
  std::vector<uint32_t> a(128), b(64);
  std::vector<float> c(128, 0.5f);
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = std::bit_cast<uint32_t>(float(int(i % 13) - 6)) | 0x1fff;
  for (size_t i = 0; i < b.size(); ++i)
    b[i] = std::bit_cast<uint32_t>(float(int(i % 7) - 3));
  auto results = registerProduct("m16n8k8.row.col.f32.tf32.tf32.f32", a, b, c, 1);
  auto cut = [](uint32_t word) { return std::bit_cast<float>(word & 0xffffe000); };
  for (int lane = 0; lane < 32; ++lane)
    for (int place = 0; place < 4; ++place) {
      int row = lane / 4 + place / 2 * 8, column = lane % 4 * 2 + place % 2;
      float sum = 0.5f;
      for (int k = 0; k < 8; ++k)
        sum += cut(a[(row % 8 * 4 + k % 4) * 4 + row / 8 + k / 4 * 2]) * cut(b[(column * 4 + k % 4) * 2 + k / 4]);
      CHECK(results[lane * 4 + place] == sum);
    }
}

TEST_CASE("Sums of another type than f32 are refused") {
  std::string ptx = productPtx("f16");
  ptx.replace(ptx.find(".f32.f16.f16.f32"), 16, ".f16.f16.f16.f16");
  DeviceMemory memory(1 << 20);
  CHECK_THROWS_WITH(LoadedModule(ptx, memory), Catch::Contains("expected sums of f32"));
}
