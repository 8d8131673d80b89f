// The schedules of CPUs as attributes: their text, what they reject, and the answers of their interface.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/Schedules.h"
#include "tests/compiler/ScheduleTexts.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::compiler;
using dialect::KernelKind;
using halftone::testing::ScheduleTexts;

TEST_CASE("Schedules of CPUs are printed as they are read, without defaults", "[targets]") {
  ScheduleTexts schedules;
  for (const char *text :
       {"#halftone_cpu.matmul",
        "#halftone_cpu.matmul<product = vdpbf16ps, few_rows = true, window = image, depth = even>",
        "#halftone_cpu.matmul<window = positions, sums = tall, depth = runs>", "#halftone_cpu.matmul<scales = true>",
        "#halftone_cpu.attention", "#halftone_cpu.attention<product = tdpbf16ps>",
        "#halftone_cpu.attention<few_queries = true>",
        "#halftone_cpu.grouped<filters = 2, channels = 4, channel_dim = 3>",
        "#halftone_cpu.grouped<filters = 8, channels = 1>"}) {
    const ScheduleAttrInterface schedule = schedules.read(text);
    INFO(text);
    REQUIRE(schedule);
    CHECK(ScheduleTexts::textOf(schedule) == text);
  }
  CHECK(ScheduleTexts::textOf(schedules.read("#halftone_cpu.matmul<few_rows = false, window = rows>")) ==
        "#halftone_cpu.matmul");
}

TEST_CASE("Schedules of CPUs refuse choices that exclude each other", "[targets]") {
  ScheduleTexts schedules;
  const auto refuses = [&](const std::string &text, const std::string &expected) {
    CHECK_THAT(schedules.refusal("#halftone_cpu." + text), Catch::Contains(expected));
  };
  refuses("matmul<window = image, sums = tall>", "#halftone_cpu.matmul: window = image with sums = tall");
  refuses("matmul<product = vpdpbusd, window = image>",
          "window = image with product = vpdpbusd; expected multiply_add or vdpbf16ps");
  refuses("matmul<product = tdpbf16ps, window = image>", "window = image with product = tdpbf16ps");
  refuses("matmul<product = vdpbf16ps, window = positions>",
          "window = positions with product = vdpbf16ps; expected multiply_add");
  refuses("matmul<product = tdpbssd, sums = tall>", "sums = tall with product = tdpbssd, whose sums are in tiles");
  refuses("matmul<product = vpdpbusd, depth = runs>",
          "depth = runs with product = vpdpbusd; expected multiply_add or vdpbf16ps");
  for (const char *product : {"multiply_add", "vpdpbusd", "tdpbf16ps"})
    refuses(std::string("matmul<product = ") + product + ", depth = even>",
            std::string("depth = even with product = ") + product + "; expected vdpbf16ps");
  refuses("matmul<product = vpdpbusd, scales = true>",
          "scales = true with product = vpdpbusd, which multiplies integers");
  refuses("matmul<window = image, scales = true>", "scales = true with window = image");
  refuses("matmul<product = smmla>", "got: smmla");
  refuses("matmul<colour = blue>", "unknown struct parameter name: colour");
  refuses("attention<product = tdpbssd>", "product = tdpbssd multiplies integers");
  refuses("attention<product = vdpbf16ps, few_queries = true>", "few_queries with product = vdpbf16ps");
  refuses("recurrence<product = tdpbf16ps>", "product = tdpbf16ps; expected multiply_add or vdpbf16ps");
  refuses("grouped<filters = 1, channels = 2, channel_dim = 0>", "expected 2 filters or more");
  refuses("grouped<filters = 2, channels = 0, channel_dim = 0>", "1 channel or more");
  refuses("grouped<filters = 2, channels = 1, channel_dim = -2>", "-1 or a dim");
  refuses("grouped<filters = 2, channels = 3>", "3 channels without a channel_dim; expected 1");
  refuses("grouped<channels = 1>", "filters = 0, channels = 1, channel_dim = -1; expected 2 filters or more");
  refuses("grouped<filters = 2>", "channels = 0, channel_dim = -1; expected 2 filters or more, 1 channel or more");
  refuses("wgmma", "wgmma");
}

TEST_CASE("Schedules say which kernels and numerics they are for", "[targets]") {
  struct Expected {
    const char *text, *strategy;
    std::vector<KernelKind> kinds;
    bool strict, stored;
  };
  const std::vector<KernelKind> matmul{KernelKind::matmul}, forward{KernelKind::attention},
      attention{KernelKind::attention, KernelKind::attention_grad};
  ScheduleTexts schedules;
  for (const Expected &each : {
           Expected{"#halftone_cpu.matmul", "multiply-add", matmul, true, false},
           Expected{"#halftone_cpu.matmul<product = vpdpbusd, few_rows = true>", "vpdpbusd", matmul, true, true},
           Expected{"#halftone_cpu.matmul<product = tdpbssd>", "tdpbssd", matmul, true, true},
           Expected{"#halftone_cpu.matmul<product = vdpbf16ps>", "vdpbf16ps", matmul, false, true},
           Expected{"#halftone_cpu.matmul<product = tdpbf16ps>", "tdpbf16ps", matmul, false, true},
           Expected{"#halftone_cpu.matmul<window = image>", "multiply-add", matmul, false, false},
           Expected{"#halftone_cpu.matmul<scales = true>", "multiply-add", matmul, false, false},
           Expected{"#halftone_cpu.matmul<window = positions, sums = tall>", "multiply-add", matmul, true, false},
           Expected{"#halftone_cpu.attention<product = vdpbf16ps>", "vdpbf16ps", attention, false, false},
           Expected{"#halftone_cpu.attention<few_queries = true>", "multiply-add", forward, false, false},
           Expected{"#halftone_cpu.grouped<filters = 4, channels = 1>",
                    "lanes along groups",
                    {KernelKind::reduction_loop},
                    false,
                    false},
       }) {
    INFO(each.text);
    const ScheduleAttrInterface schedule = schedules.read(each.text);
    REQUIRE(schedule);
    CHECK(schedule.getStrategy() == each.strategy);
    for (uint32_t kind = 0; kind <= dialect::getMaxEnumValForKernelKind(); ++kind)
      CHECK(schedule.fitsKind(KernelKind(kind)) == llvm::is_contained(each.kinds, KernelKind(kind)));
    CHECK(schedule.supports(Numerics::fast()));
    CHECK(schedule.supports(Numerics::strict()) == each.strict);
    CHECK(schedule.takesStoredFactors() == each.stored);
  }
}
