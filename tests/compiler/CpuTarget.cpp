// CPU targets by name, and facts about them.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/matmul/Products.h"
#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

using namespace halftone;
using namespace halftone::compiler;

namespace {
CpuTarget found(std::string_view name) {
  auto target = CpuTarget::find(name);
  INFO(target.status().str());
  REQUIRE(target.isOk());
  return *target;
}

/// The names of the target's products, in order.
std::string productsOf(const CpuTarget &target) {
  std::string names;
  for (const ProductRow *row : target.products)
    names += (names.empty() ? "" : " ") + reportName(row->product).str();
  return names;
}
} // namespace

TEST_CASE("The x86-64 levels have the vectors of their level", "[targets]") {
  const CpuTarget v2 = found("x86-64-v2"), v3 = found("x86-64-v3"), v4 = found("x86-64-v4");
  CHECK(v2.vectorBytes == 16);
  CHECK_FALSE(v2.math.hasFma);
  CHECK_FALSE(v2.math.convertsF16);
  CHECK_FALSE(v2.hasMaskedMemory);
  CHECK(v2.math.hasRounding);
  CHECK(v3.vectorBytes == 32);
  CHECK(v3.math.hasFma);
  CHECK(v3.math.convertsF16);
  CHECK_FALSE(v3.hasMaskedMemory);
  CHECK(v3.vectorRegisters == 16);
  CHECK(v4.vectorBytes == 64);
  CHECK(v4.hasMaskedMemory);
  CHECK(v4.vectorRegisters == 32);
  CHECK(productsOf(v4) == "multiply-add");
  CHECK(v2.key() != v3.key());
}

TEST_CASE("targets are found by names of CPU models and of other architectures", "[targets]") {
  const CpuTarget spr = found("sapphirerapids");
  CHECK(spr.vectorBytes == 64);
  CHECK(productsOf(spr) == "tdpbf16ps tdpbssd vdpbf16ps vpdpbusd multiply-add");
  CHECK(productsOf(found("x86_64-unknown-linux-gnu:znver5")) == "vdpbf16ps vpdpbusd multiply-add");
  CHECK(productsOf(found("x86_64-unknown-linux-gnu:cascadelake")) == "vpdpbusd multiply-add");
  const CpuTarget arm = found("aarch64-unknown-linux-gnu:neoverse-n1");
  CHECK(arm.vectorBytes == 16);
  CHECK(arm.math.hasFma);
  CHECK(arm.math.convertsF16);
  CHECK(productsOf(arm) == "multiply-add");
  CHECK(found("aarch64-unknown-linux-gnu").processor == "generic");
  CHECK(found("riscv64-unknown-linux-gnu").vectorBytes == 16);
  CHECK_FALSE(found("x86_64-unknown-linux-gnu").math.hasRounding);
}

TEST_CASE("The host is a target", "[targets]") {
  const CpuTarget host = found("host");
  CHECK_FALSE(host.processor.empty());
  CHECK(host.vectorBytes >= 16);
  CHECK(host.key() == found("host").key());
}

TEST_CASE("An emulated CPU has that CPU's vectors and instructions, less tiles, and this machine's code", "[targets]") {
  const CpuTarget host = found("host"), spr = found("emulated:sapphirerapids");
  CHECK(spr.vectorBytes == 64);
  CHECK(productsOf(spr) == "vdpbf16ps vpdpbusd multiply-add");
  CHECK(spr.processor == host.processor);
  CHECK(spr.key().starts_with(host.key()));
  CHECK(spr.key() != host.key());
  CHECK(spr.key() != found("emulated:x86-64-v4").key());
}

TEST_CASE("An unknown target is refused, with what was expected", "[targets]") {
  for (const char *name :
       {"", "x86-64-v9", "toaster", "x86_64-unknown-linux-gnu:toaster", "nvptx64-nvidia-cuda", "i386-unknown-linux-gnu",
        "powerpc64-unknown-linux-gnu", "x86_64-pc-windows-msvc", "x86_64-apple-darwin", ":", "-", "a-b-c:", "HOST",
        "x86_64-unknown-linux-gnu:i386", "emulated:", "emulated:toaster", "emulated:emulated:x86-64-v4",
        "emulated:aarch64-unknown-linux-gnu"}) {
    auto target = CpuTarget::find(name);
    INFO(name);
    REQUIRE_FALSE(target.isOk());
    CHECK(target.status().kind() == ErrorKind::value_error);
    CHECK_THAT(target.status().message(), Catch::Contains("expected \"host\", \"x86-64-v2\""));
  }
}

TEST_CASE("Targets may be looked up from many threads", "[targets]") {
  std::vector<std::thread> threads;
  std::vector<int64_t> widths(8);
  for (size_t i = 0; i < widths.size(); ++i)
    threads.emplace_back([&, i] {
      if (auto target = CpuTarget::find(i % 2 ? "x86-64-v3" : "x86-64-v4"); target.isOk())
        widths[i] = target->vectorBytes;
    });
  for (std::thread &thread : threads)
    thread.join();
  for (size_t i = 0; i < widths.size(); ++i)
    CHECK(widths[i] == (i % 2 ? 32 : 64));
}
