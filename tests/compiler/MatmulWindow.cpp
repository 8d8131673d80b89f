// Window products with instructions that multiply groups: when they are chosen, all forms of windows, and lost values.
// SPDX-License-Identifier: Apache-2.0
#include "tests/compiler/KernelHarness.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <fmt/format.h>

using namespace halftone;
using halftone::dialect::TensorData;
using halftone::testing::KernelHarness;
using halftone::testing::targetsOfGroups;

namespace {

/// A convolution of an image with the same parameters along both spatial axes.
struct Convolution {
  int64_t examples = 2, extent = 9, taps = 3, stride = 1, dilation = 1, low = 1, hole = 1, places = 9, channels = 16,
          filters = 20;
  std::string element = "bf16", result = "bf16";

  std::string image() const {
    return fmt::format("tensor<{}x{}x{}x{}x{}>", examples, extent, extent, channels, element);
  }
  std::string placesAndTaps() const {
    return fmt::format("{}x{}x{}x{}x{}x{}", examples, places, places, taps, taps, channels);
  }
  std::string window() const {
    return fmt::format("  %0 = halftone.window %x {{stride = array<i64: {0}, {0}>, dilation = array<i64: {1}, {1}>, "
                       "low = array<i64: {2}, {2}>, hole = array<i64: {3}, {3}>}} : {4} to tensor<{5}x{6}>\n",
                       stride, dilation, low, hole, image(), placesAndTaps(), element);
  }
  /// The product of the window with `factor`, over the taps and channels, or over examples and output positions.
  std::string product(const std::string &factor, const std::string &y, bool overPlaces,
                      const char *ofFactor = "0, 1, 2") const {
    const char *over = overPlaces ? "0, 1, 2" : "3, 4, 5";
    return fmt::format("halftone.kernel matmul @k ({0}, {1}) -> ({2})\n"
                       "    attributes {{spec = #halftone.blocks<tile = [24, 64]>}} {{\n^bb0(%x: {0}, %w: {1}):\n{3}"
                       "  %1 = halftone.contract %0, %w {{lhs_contract = array<i64: {4}>, rhs_contract = array<i64: "
                       "{7}>}} : (tensor<{5}x{6}>, {1}) -> {2}\n  halftone.yield %1 : {2}\n}}\n",
                       image(), factor, y, window(), over, placesAndTaps(), element, ofFactor);
  }
  std::string forward() const {
    return product(fmt::format("tensor<{}x{}x{}x{}x{}>", taps, taps, channels, filters, element),
                   fmt::format("tensor<{}x{}x{}x{}x{}>", examples, places, places, filters, result), false);
  }
  /// A convolution whose kernel has its filters before its channels, as the gradient by the image reads it.
  std::string turned() const {
    return product(fmt::format("tensor<{}x{}x{}x{}x{}>", taps, taps, filters, channels, element),
                   fmt::format("tensor<{}x{}x{}x{}x{}>", examples, places, places, filters, result), false, "0, 1, 3");
  }
  std::string byKernel() const {
    return product(fmt::format("tensor<{}x{}x{}x{}x{}>", examples, places, places, filters, element),
                   fmt::format("tensor<{}x{}x{}x{}x{}>", taps, taps, channels, filters, result), true);
  }
};

/// The product's name; "" for multiply-adds.
std::string productOf(const KernelHarness &kernel) {
  const std::string schedule = kernel.schedule(), key = "product = ";
  const size_t at = schedule.find(key);
  return at == std::string::npos ? ""
                                 : schedule.substr(at + key.size(), schedule.find_first_of(",>", at) - at - key.size());
}

bool scheduleHas(const KernelHarness &kernel, const char *parameter) {
  return kernel.schedule().find(parameter) != std::string::npos;
}

std::string chosen(const std::string &target, const std::string &text, bool strict = false) {
  return productOf(KernelHarness(text, target, strict));
}

/// `convolution` with the extents and `low` of Keras's padding; its other parameters are given.
Convolution padded(Convolution convolution, const std::string &padding) {
  const int64_t reach = (convolution.taps - 1) * convolution.dilation + 1;
  convolution.places = (convolution.extent + convolution.stride - 1) / convolution.stride;
  const int64_t total =
      std::max<int64_t>((convolution.places - 1) * convolution.stride + reach - convolution.extent, 0);
  convolution.low = padding == "causal" ? reach - 1 : padding == "same" ? total / 2 : 0;
  if (padding == "valid")
    convolution.places = std::max<int64_t>(convolution.extent - reach, 0) / convolution.stride + 1;
  return convolution;
}

/// Many convolutions: all numbers of taps with all strides; dilations, paddings, channels and extents alternate.
std::vector<Convolution> manyConvolutions() {
  constexpr int64_t channels[] = {1, 2, 3, 5, 16, 17, 64}, extents[] = {7, 10, 1, 13};
  constexpr const char *paddings[] = {"same", "valid", "causal"};
  std::vector<Convolution> all;
  for (int64_t taps = 1; taps <= 5; ++taps)
    for (int64_t stride = 1; stride <= 3; ++stride)
      for (int64_t round = 0; round < 2; ++round) {
        const auto turn = int64_t(all.size());
        Convolution each{.examples = 1 + turn % 3, .extent = extents[turn % 4], .taps = taps, .stride = stride};
        each.dilation = 1 + (turn / 2) % 2;
        each.channels = channels[turn % 7];
        each.filters = turn % 2 ? 70 : 9;
        all.push_back(padded(each, paddings[turn % 3]));
      }
  // A reversed window, as in the gradient by the image of a strided convolution; and a window with all taps outside.
  all.push_back({.extent = 5, .taps = 3, .dilation = -1, .low = -1, .hole = 2, .places = 9, .channels = 17});
  all.push_back({.extent = 4, .taps = 2, .stride = 3, .low = 40, .places = 5, .channels = 18});
  return all;
}

} // namespace

TEST_CASE("Windows are multiplied in groups unless channels are few", "[kernels]") {
  const std::string zen = "x86_64-unknown-linux-gnu:znver4";
  const Convolution pairs, few{.channels = 3};
  const Convolution fours{.element = "i8", .result = "i32"};
  CHECK(chosen(zen, pairs.forward()) == "vdpbf16ps");
  CHECK(chosen(zen, pairs.byKernel()) == "vdpbf16ps");
  CHECK(chosen(zen, fours.forward()) == "vpdpbusd");
  CHECK(chosen(zen, fours.byKernel()).empty()); // there are no fours of output positions
  CHECK(chosen("sapphirerapids", pairs.forward()) == "tdpbf16ps");
  CHECK(chosen("sapphirerapids", fours.forward()) == "tdpbssd");
  CHECK(chosen("sapphirerapids", pairs.byKernel()) == "tdpbf16ps");
  for (const std::string &text : {few.forward(), few.byKernel()})
    CHECK(chosen(zen, text).empty());
  CHECK(chosen(zen, pairs.forward(), true).empty());
  CHECK(chosen(zen, fours.forward(), true) == "vpdpbusd"); // exact
  CHECK(chosen("x86-64-v4", pairs.forward()).empty());
}

TEST_CASE("Products of windows in pairs are right for all taps, strides, paddings and channels", "[kernels][full]") {
  for (const std::string &target : targetsOfGroups()) {
    int grouped = 0;
    for (const Convolution &each : manyConvolutions())
      for (const std::string &text : {each.forward(), each.byKernel()}) {
        KernelHarness kernel(text, target, false);
        if (target == "sapphirerapids" && (each.filters > 16 || productOf(kernel).empty()))
          continue; // emulation is slow
        CAPTURE(target, text);
        kernel.checkInside(kernel.operands(5, false));
        kernel.checkInside(kernel.operands(6, true));
        grouped += !productOf(kernel).empty();
      }
    CHECK(grouped > 5);
  }
}

TEST_CASE("Windows that are read in their image are right for all taps, strides, paddings and lines", "[kernels]") {
  const auto readsImage = [](const KernelHarness &kernel) { return scheduleHas(kernel, "window = image"); };
  std::vector<Convolution> all;
  constexpr const char *paddings[] = {"same", "valid", "causal"};
  constexpr int64_t channels[] = {16, 18, 20}, extents[] = {7, 9, 14, 17, 11};
  for (int64_t taps = 1; taps <= 5; ++taps)
    for (int64_t stride = 1; stride <= 3; ++stride) {
      const auto turn = all.size();
      Convolution each{.examples = 1 + int64_t(turn % 2), .extent = extents[turn % 5], .taps = taps};
      each.stride = stride, each.dilation = 1 + int64_t(turn / 2 % 2), each.channels = channels[turn % 3];
      each.filters = turn % 2 ? 36 : 17;
      all.push_back(padded(each, paddings[turn % 3]));
    }
  // A reversed window; parts of K that end within a tap; and no tap inside.
  all.push_back({.dilation = -1, .low = -1, .channels = 32, .filters = 32});
  all.push_back({.examples = 1, .extent = 7, .taps = 2, .low = 0, .places = 7, .channels = 1100, .filters = 17});
  all.push_back({.extent = 8, .taps = 2, .low = 40, .places = 8, .filters = 20});
  int inImage = 0;
  for (const std::string &target : {std::string("x86-64-v3"), targetsOfGroups().front()})
    for (const char *element : {"f32", "bf16"})
      for (Convolution each : all) {
        each.element = each.result = element;
        CAPTURE(target, each.forward());
        KernelHarness kernel(each.forward(), target, false);
        if (!readsImage(kernel))
          continue;
        kernel.checkInside(kernel.operands(5, false));
        ++inImage;
        CHECK_FALSE(readsImage(KernelHarness(each.forward(), target, true)));
      }
  CHECK(inImage > 20);
}

TEST_CASE("Products of windows of int8 are exact", "[kernels]") {
  for (const std::string &target : targetsOfGroups())
    for (Convolution each : manyConvolutions()) {
      each.element = "i8", each.result = "i32";
      KernelHarness kernel(each.forward(), target, false);
      CAPTURE(target, each.forward());
      kernel.checkExact(kernel.operands(7, false));
    }
}

TEST_CASE("Windows whose rows are longer than a part of K, and many places, are right", "[kernels]") {
  for (const std::string &target : targetsOfGroups()) {
    if (target == "sapphirerapids")
      continue; // emulation is slow
    const Convolution deep{.extent = 5, .places = 5, .channels = 131}, wide{.examples = 3, .extent = 21, .places = 21};
    for (const std::string &text : {deep.forward(), deep.byKernel(), wide.forward(), wide.byKernel()}) {
      KernelHarness kernel(text, target, false);
      CHECK(productOf(kernel) == "vdpbf16ps");
      CAPTURE(target, text);
      kernel.checkInside(kernel.operands(8, false));
      kernel.checkInside(kernel.operands(9, true));
    }
  }
}

TEST_CASE("Kernels whose channels and filters are exchanged are read in runs of channels", "[kernels]") {
  const auto hasRuns = [](const KernelHarness &kernel) { return scheduleHas(kernel, "depth = runs"); };
  int inPairs = 0;
  for (const std::string &target : {std::string("x86-64-v3"), targetsOfGroups().front()})
    for (const char *element : {"f32", "bf16"})
      for (const int64_t channels : {5, 16, 96}) {
        const Convolution each{.examples = 1,
                               .extent = 5,
                               .dilation = -1,
                               .low = -1,
                               .places = 5,
                               .channels = channels,
                               .filters = 36,
                               .element = element,
                               .result = element};
        CAPTURE(target, element, channels);
        KernelHarness strict(each.turned(), target, true), fast(each.turned(), target, false);
        strict.checkInside(strict.operands(3, false));
        fast.checkInside(fast.operands(4, false));
        fast.checkInside(fast.operands(5, true));
        CHECK(hasRuns(strict) == (channels % 16 == 0));
        inPairs += productOf(fast) == "vdpbf16ps";
      }
  CHECK(inPairs > 0);
}

TEST_CASE("Pairs of a window keep subnormal operands", "[kernels]") {
  const double tiny = 0x1p-130, large = 0x1p120;
  // One output position and one tap: the window is the image. The last row of K is half a pair.
  for (const std::string &target : targetsOfGroups()) {
    // Read directly from the image.
    const Convolution lines{.extent = 8, .places = 8, .filters = 20, .result = "f32"};
    for (const size_t place : {size_t(0), size_t(8 * 16 + 5), size_t(2 * 8 * 8 * 16 - 1)}) {
      KernelHarness kernel(lines.forward(), target, false);
      std::vector<TensorData> operands = kernel.operands(1, false, 0);
      for (double *value : {&operands[0].low[place], &operands[0].high[place]})
        *value = tiny;
      for (std::vector<double> *values : {&operands[1].low, &operands[1].high})
        std::fill(values->begin(), values->end(), large);
      CAPTURE(target, place);
      const std::vector<double> sums = kernel.run(operands)[0].low;
      CHECK(*std::max_element(sums.begin(), sums.end()) == tiny * large);
    }
    for (const int64_t channels : {33, 34}) {
      const Convolution each{.examples = 7,
                             .extent = 3,
                             .taps = 1,
                             .low = 0,
                             .places = 3,
                             .channels = channels,
                             .filters = 9,
                             .result = "f32"};
      for (const bool byKernel : {false, true})
        for (const bool inImage : {false, true}) {
          KernelHarness kernel(byKernel ? each.byKernel() : each.forward(), target, false);
          std::vector<TensorData> operands = kernel.operands(1, false, 0);
          const auto set = [](TensorData &tensor, size_t index, double value) {
            tensor.low[index] = tensor.high[index] = value;
          };
          CAPTURE(target, channels, byKernel, inImage);
          set(operands[0], operands[0].low.size() - 1, inImage ? -tiny : large);
          set(operands[1], operands[1].low.size() - 1, inImage ? large : -tiny);
          CHECK(kernel.run(operands)[0].low.back() == -tiny * large);
        }
    }
  }
}
