// Kernels that LLVM compiles from LLVM IR: the emulator supports the PTX of the NVPTX backend.
// SPDX-License-Identifier: Apache-2.0
#include "tests/TemporaryFolder.h"
#include "tests/emulator/Numbers.h"
#include "tests/emulator/tests/KernelRun.h"
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <sstream>

using namespace halftone::emulator;

namespace {

const std::string intrinsics = R"(
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare <8 x float> @llvm.maximum.v8f32(<8 x float>, <8 x float>)
declare void @llvm.nvvm.barrier0()
declare float @llvm.nvvm.shfl.sync.down.f32(i32, float, i32, i32)
declare i32 @llvm.ctpop.i32(i32)
declare i32 @llvm.fshl.i32(i32, i32, i32)
declare i32 @llvm.smax.i32(i32, i32)
declare i32 @llvm.fptosi.sat.i32.f32(float)
declare double @llvm.fma.f64(double, double, double)
declare float @llvm.sqrt.f32(float)
declare float @llvm.roundeven.f32(float)
)";

/// y = max(x * x + x, 0) in bf16, eight at a time.
const std::string elementwiseIr = R"(
define ptx_kernel void @test(ptr addrspace(1) %x, ptr addrspace(1) %y, i64 %n) "nvvm.maxntid"="128" {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %p = mul i32 %b, 128
  %i = add i32 %p, %t
  %e = sext i32 %i to i64
  %c = icmp slt i64 %e, %n
  br i1 %c, label %go, label %end
go:
  %xa = getelementptr <8 x bfloat>, ptr addrspace(1) %x, i64 %e
  %v = load <8 x bfloat>, ptr addrspace(1) %xa, align 16
  %f = fpext <8 x bfloat> %v to <8 x float>
  %g = fmul contract <8 x float> %f, %f
  %h = fadd contract <8 x float> %g, %f
  %q = call <8 x float> @llvm.maximum.v8f32(<8 x float> %h, <8 x float> zeroinitializer)
  %r = fptrunc <8 x float> %q to <8 x bfloat>
  %ya = getelementptr <8 x bfloat>, ptr addrspace(1) %y, i64 %e
  store <8 x bfloat> %r, ptr addrspace(1) %ya, align 16
  br label %end
end:
  ret void
}
)";

/// A switch over integer idioms, f16 and f64.
const std::string mixedIr = R"(
define ptx_kernel void @test(ptr addrspace(1) %out, i32 %m, half %h) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %d = sdiv i32 %t, %m
  %r = srem i32 %t, 6
  %th = sitofp i32 %t to half
  %s = fadd half %th, %h
  %sf = fpext half %s to float
  switch i32 %r, label %other [ i32 0, label %zero
    i32 1, label %one
    i32 2, label %zero
    i32 3, label %three
    i32 4, label %one ]
zero:
  %c = call i32 @llvm.ctpop.i32(i32 %t)
  %ce = zext i32 %c to i64
  br label %end
one:
  %f = call i32 @llvm.fshl.i32(i32 %t, i32 %m, i32 13)
  %fe = sext i32 %f to i64
  br label %end
three:
  %q = call float @llvm.sqrt.f32(float %sf)
  %e = call float @llvm.roundeven.f32(float %q)
  %i = call i32 @llvm.fptosi.sat.i32.f32(float %e)
  %ie = sext i32 %i to i64
  br label %end
other:
  %w = sext i32 %t to i64
  %x = mul i64 %w, -7000000000
  %y = ashr i64 %x, 3
  %td = sitofp i32 %t to double
  %fm = call double @llvm.fma.f64(double %td, double %td, double 0.5)
  %fi = fptosi double %fm to i64
  %z = xor i64 %y, %fi
  br label %end
end:
  %v = phi i64 [ %ce, %zero ], [ %fe, %one ], [ %ie, %three ], [ %z, %other ]
  %n = call i32 @llvm.smax.i32(i32 %d, i32 3)
  %ne = sext i32 %n to i64
  %sum = add i64 %v, %ne
  %a = getelementptr i64, ptr addrspace(1) %out, i32 %t
  store i64 %sum, ptr addrspace(1) %a
  ret void
}
)";

/// A block sum: a loop, shuffles, and shared memory of static and dynamic size.
const std::string reductionIr = R"(
@parts = internal addrspace(3) global [8 x float] undef, align 16
@dynamic = external addrspace(3) global [0 x float], align 16
define ptx_kernel void @test(ptr addrspace(1) %x, ptr addrspace(1) %out, i32 %n) "nvvm.maxntid"="256" {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %head
head:
  %i = phi i32 [ %t, %entry ], [ %next, %body ]
  %s = phi float [ 0.0, %entry ], [ %add, %body ]
  %c = icmp slt i32 %i, %n
  br i1 %c, label %body, label %done
body:
  %xa = getelementptr float, ptr addrspace(1) %x, i32 %i
  %v = load float, ptr addrspace(1) %xa
  %add = fadd float %s, %v
  %next = add i32 %i, 256
  br label %head
done:
  %a = call float @llvm.nvvm.shfl.sync.down.f32(i32 -1, float %s, i32 16, i32 31)
  %s1 = fadd float %s, %a
  %b = call float @llvm.nvvm.shfl.sync.down.f32(i32 -1, float %s1, i32 8, i32 31)
  %s2 = fadd float %s1, %b
  %d = call float @llvm.nvvm.shfl.sync.down.f32(i32 -1, float %s2, i32 4, i32 31)
  %s3 = fadd float %s2, %d
  %e = call float @llvm.nvvm.shfl.sync.down.f32(i32 -1, float %s3, i32 2, i32 31)
  %s4 = fadd float %s3, %e
  %f = call float @llvm.nvvm.shfl.sync.down.f32(i32 -1, float %s4, i32 1, i32 31)
  %s5 = fadd float %s4, %f
  %lane = and i32 %t, 31
  %first = icmp eq i32 %lane, 0
  br i1 %first, label %part, label %join
part:
  %w = lshr i32 %t, 5
  %pa = getelementptr float, ptr addrspace(3) @parts, i32 %w
  store float %s5, ptr addrspace(3) %pa
  %da = getelementptr float, ptr addrspace(3) @dynamic, i32 %w
  store float 1.0, ptr addrspace(3) %da
  br label %join
join:
  call void @llvm.nvvm.barrier0()
  %v8 = load <4 x float>, ptr addrspace(3) @parts, align 16
  %hi = getelementptr float, ptr addrspace(3) @parts, i32 4
  %v9 = load <4 x float>, ptr addrspace(3) %hi, align 16
  %sum4 = fadd <4 x float> %v8, %v9
  %k0 = extractelement <4 x float> %sum4, i32 0
  %k1 = extractelement <4 x float> %sum4, i32 1
  %k2 = extractelement <4 x float> %sum4, i32 2
  %k3 = extractelement <4 x float> %sum4, i32 3
  %u0 = fadd float %k0, %k1
  %u1 = fadd float %k2, %k3
  %u2 = fadd float %u0, %u1
  %la = getelementptr float, ptr addrspace(3) @dynamic, i32 7
  %one = load float, ptr addrspace(3) %la
  %total = fadd float %u2, %one
  %oa = getelementptr float, ptr addrspace(1) %out, i32 %t
  store float %total, ptr addrspace(1) %oa
  ret void
}
)";

/// The PTX of `ir` for sm_80.
std::string compile(const std::string &ir) {
  halftone::TemporaryFolder folder;
  std::string source = folder.write("kernel.ll", intrinsics + ir), target = folder / "kernel.ptx";
  std::string command = std::string(HALFTONE_LLC) + " -O3 -mcpu=sm_80 -mattr=+ptx80 " + source + " -o " + target;
  REQUIRE(std::system(command.c_str()) == 0);
  std::stringstream text;
  text << std::ifstream(target).rdbuf();
  return text.str();
}

uint16_t toBfloat(float value) { return roundTo(bfloatFormat, value, Rounding::Nearest); }
float fromBfloat(uint16_t bits) { return toFloat(BFloat{bits}); }

} // namespace

TEST_CASE("LLVM's loads of 16 bytes, narrow conversions and guards run as their IR says") {
  std::string ptx = compile(elementwiseIr);
  constexpr int64_t vectors = 150;
  std::vector<uint16_t> x(vectors * 8);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = toBfloat(float(int(i) - 600) * 0.013f);
  KernelRun run(1);
  uint64_t y = run.empty(vectors * 16);
  run.run(ptx, {2, 1, 1}, {128, 1, 1}, 0, run.upload(x), y, vectors);
  auto results = run.download<uint16_t>(y, x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    float value = fromBfloat(x[i]);
    CHECK(results[i] == toBfloat(std::max(std::fma(value, value, value), 0.0f)));
  }
}

TEST_CASE("LLVM's switches, integer idioms, f16 and f64 run as their IR says") {
  std::string ptx = compile(mixedIr);
  for (uint64_t seed : {0, 4}) {
    KernelRun run(seed);
    uint64_t out = run.empty(96 * 8);
    run.run(ptx, {1, 1, 1}, {96, 1, 1}, 0, out, int32_t(7), uint16_t(0x4200)); // 3 in f16
    auto results = run.download<int64_t>(out, 96);
    for (int32_t t = 0; t < 96; ++t) {
      int64_t v;
      switch (t % 6) {
      case 0:
      case 2:
        v = std::popcount(uint32_t(t));
        break;
      case 1:
      case 4:
        v = int32_t(uint32_t(t) << 13 | uint32_t(7) >> 19);
        break;
      case 3:
        v = int64_t(std::nearbyint(std::sqrt(float(t + 3))));
        break;
      default:
        v = (int64_t(t) * -7000000000 >> 3) ^ (int64_t(t) * t);
      }
      CHECK(results[t] == v + std::max(t / 7, 3));
    }
  }
}

TEST_CASE("LLVM's shared memory, barriers, shuffles and loops run as their IR says") {
  std::string ptx = compile(reductionIr);
  std::vector<float> x(1000);
  float expected = 1;
  for (size_t i = 0; i < x.size(); ++i)
    expected += x[i] = float(i % 17); // sums are exact in any order
  for (uint64_t seed : {0, 1, 2}) {
    KernelRun run(seed);
    uint64_t out = run.empty(1024);
    run.run(ptx, {1, 1, 1}, {256, 1, 1}, 32, run.upload(x), out, int32_t(1000));
    CHECK(run.download<float>(out, 256) == std::vector<float>(256, expected));
  }
}
