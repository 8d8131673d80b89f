// Compares the cores that read a window from its image, called alone and by kernels, with plain loops.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/matmul/LinesCores.h"
#include "tests/compiler/KernelText.h"
#include "tests/compiler/TypedBuffer.h"
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <set>

using namespace halftone;
using namespace halftone::compiler;

namespace {

struct AxisNumbers {
  int64_t positions, taps, extent, paddingLow = 0, stride = 1, dilation = 1;
};

/// A window of a random image, and the part of its matrix that is multiplied.
struct WindowCase {
  std::vector<AxisNumbers> axes;
  int64_t channels = 3, examples = 2, first = 0, skipped = 0; // positions before and after the multiplied ones
  int64_t firstDepth = 0, skippedDepth = 0;                   // likewise, indices of K
  bool continues = false;

  int64_t product(int64_t AxisNumbers::*number) const {
    return std::accumulate(axes.begin(), axes.end(), int64_t(1),
                           [&](int64_t all, const AxisNumbers &axis) { return all * (axis.*number); });
  }
  int64_t rows() const { return examples * product(&AxisNumbers::positions) - first - skipped; }
  int64_t depth() const { return product(&AxisNumbers::taps) * channels - firstDepth - skippedDepth; }
  /// The element of the image that the matrix has at [position][k], or -1 if that is outside.
  int64_t elementAt(int64_t position, int64_t k) const {
    int64_t tap = k / channels, pitch = channels, offset = k % channels;
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
      const int64_t index =
          position % axis->positions * axis->stride + tap % axis->taps * axis->dilation - axis->paddingLow;
      if (index < 0 || index >= axis->extent)
        return -1;
      offset += index * pitch;
      pitch *= axis->extent;
      position /= axis->positions;
      tap /= axis->taps;
    }
    return position * pitch + offset;
  }
};

LinesCore linesCore(const CpuTarget &cpu, int64_t vectors, llvm::SmallVector<int64_t, 5> positions, size_t rank) {
  const SumRule rule{&rowOf(cpu::Product::multiply_add), cpu.math.hasFma, /*ordered=*/false};
  return {rule, "f32", cpu.vectorBytes / 4, vectors, std::move(positions), rank};
}

using Numbers = std::vector<int64_t>; // of all axes

template <size_t... I>
void callLines(const Loaded &loaded, const WindowCase &each, const Numbers &numbers, const float *image, const float *b,
               float *sums, int64_t sumsPitch, std::index_sequence<I...>) {
  using Lines =
      void(const float *image, int64_t channels, int64_t first, int64_t rows, const float *b, int64_t firstDepth,
           int64_t countDepth, float *sums, int64_t sumsPitch, bool continues, decltype(int64_t(I))... ofAxes);
  auto *const lines = reinterpret_cast<Lines *>(reinterpret_cast<void *>(loaded.function));
  lines(image, each.channels, each.first, each.rows(), b, each.firstDepth, each.depth(), sums, sumsPitch,
        each.continues, numbers[I]...);
}

void callLines(const Loaded &loaded, const WindowCase &each, const float *image, const float *b, float *sums,
               int64_t sumsPitch) {
  Numbers numbers;
  for (const AxisNumbers &axis : each.axes)
    for (const int64_t number : {axis.positions, axis.taps, axis.extent, axis.paddingLow, axis.stride, axis.dilation})
      numbers.push_back(number);
  if (each.axes.size() == 1)
    callLines(loaded, each, numbers, image, b, sums, sumsPitch, std::make_index_sequence<6>());
  else if (each.axes.size() == 2)
    callLines(loaded, each, numbers, image, b, sums, sumsPitch, std::make_index_sequence<12>());
  else
    callLines(loaded, each, numbers, image, b, sums, sumsPitch, std::make_index_sequence<18>());
}

void checkLines(const Loaded &loaded, const CpuTarget &cpu, const LinesCore &core, const WindowCase &each) {
  std::mt19937 random(unsigned(each.rows() * 31 + each.depth()));
  std::normal_distribution<float> normal;
  // The image lies between NaNs, which a read outside of it would find.
  const int64_t elements = each.examples * each.product(&AxisNumbers::extent) * each.channels, around = 64;
  std::vector<float> image(size_t(elements + 2 * around), std::numeric_limits<float>::quiet_NaN());
  std::generate_n(image.begin() + around, elements, [&] { return normal(random); });
  const int64_t columns = core.vectors * core.lanes, pitch = columns + 3, sizeOfB = each.depth() * columns;
  std::vector<float> storage(size_t(sizeOfB + 16)), sums(size_t(std::max<int64_t>(each.rows(), 1) * pitch));
  void *at = storage.data();
  size_t room = storage.size() * sizeof(float);
  auto *const b = static_cast<float *>(std::align(64, size_t(sizeOfB) * sizeof(float), at, room));
  std::generate_n(b, sizeOfB, [&] { return normal(random); });
  std::generate(sums.begin(), sums.end(), [&] { return normal(random); });
  std::vector<float> expected = sums;
  for (int64_t row = 0; row < each.rows(); ++row) {
    float *const sumsOfRow = &expected[size_t(row * pitch)];
    if (!each.continues)
      std::fill_n(sumsOfRow, columns, 0.0F);
    for (int64_t k = 0; k < each.depth(); ++k)
      if (const int64_t element = each.elementAt(each.first + row, each.firstDepth + k); element >= 0)
        for (int64_t column = 0; column < columns; ++column) {
          const float x = image[size_t(around + element)], y = b[k * columns + column], sum = sumsOfRow[column];
          sumsOfRow[column] = cpu.math.hasFma ? std::fma(x, y, sum) : x * y + sum;
        }
  }
  callLines(loaded, each, image.data() + around, b, sums.data(), pitch);
  CAPTURE(cpu.name, core.core().symbol, each.axes.size(), each.axes.back().positions, each.axes.back().taps,
          each.axes.back().extent, each.axes.back().stride, each.axes.back().dilation, each.first, each.firstDepth);
  CHECK(sums == expected);
}

/// Axes with all relations between the positions, the taps and the image.
const AxisNumbers axesOfAllKinds[] = {
    {.positions = 17, .taps = 3, .extent = 17, .paddingLow = 1},
    {.positions = 15, .taps = 3, .extent = 30, .paddingLow = 1, .stride = 2},
    {.positions = 16, .taps = 5, .extent = 16, .paddingLow = 8, .dilation = 4},
    {.positions = 9, .taps = 3, .extent = 9, .paddingLow = -1, .dilation = -1}, // reversed
    {.positions = 6, .taps = 2, .extent = 4, .paddingLow = 40},                 // all taps outside
    {.positions = 8, .taps = 4, .extent = 1, .paddingLow = 3},
    {.positions = 7, .taps = 3, .extent = 0, .paddingLow = 1},
    {.positions = 5, .taps = 2, .extent = 3, .paddingLow = 1, .stride = 4, .dilation = 5},
    {.positions = 4, .taps = 9, .extent = 6, .paddingLow = 4},
    {.positions = 1, .taps = 1, .extent = 1},
};

/// A kernel that multiplies a window with one spatial axis by a matrix, [k][n]; its dims are m, n and k.
std::string kernelOf(const AxisNumbers &axis, bool fewRows) {
  return halftone::testing::with(R"(
#rows = affine_map<(m, n, k) -> (m, k)>
#columns = affine_map<(m, n, k) -> (k, n)>
#sums = affine_map<(m, n, k) -> (m, n)>
#plain = affine_map<(m, n) -> (m, n)>
func.func @kernel(%m: index, %n: index, %k: index, %tm: index, %tn: index, %positions: index, %taps: index,
                  %extent: index, %low: index, %channels: index,
                  %a: tensor<?x?xf32> {halftone.window = array<i64: $STRIDE, $DILATION, 1>}, %b: tensor<?x?xf32>)
    -> tensor<?x?xf32> attributes {halftone.kind = "matmul", halftone.outer = 0 : i64,
                                   halftone.roles = array<i64: 0, 1, 1, 1>, halftone.lookup_arguments = 5 : i64,
                                   halftone.schedule = #halftone_cpu.matmul<few_rows = $FEW, window = image>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %c = linalg.generic {halftone.combine = ["sum"], halftone.dims = array<i64: 0, 1, 2>,
                       indexing_maps = [#rows, #columns, #sums],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%f : tensor<?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y fastmath<contract> : f32
    %s = arith.addf %o, %p fastmath<contract> : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  %r = tensor.empty(%m, %n) : tensor<?x?xf32>
  %y = linalg.generic {halftone.combine = [""], halftone.dims = array<i64: 0, 1>, indexing_maps = [#plain, #plain],
                       iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<?x?xf32>) outs(%r : tensor<?x?xf32>) {
  ^bb0(%x: f32, %o: f32):
    %d = arith.addf %x, %x : f32
    linalg.yield %d : f32
  } -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
)",
                                 {{"$STRIDE", std::to_string(axis.stride)},
                                  {"$DILATION", std::to_string(axis.dilation)},
                                  {"$FEW", fewRows ? "true" : "false"}});
}

/// Runs the kernel for a window, and compares twice its sums, accumulated in the order of K.
void checkKernel(const CpuTarget &cpu, const WindowCase &each, bool fewRows, int64_t columns) {
  const AxisNumbers &axis = each.axes[0];
  const std::string text = kernelOf(axis, fewRows);
  const Loaded code = loadKernel(text, cpu);
  const int64_t rows = each.rows(), depth = each.depth(), tileRows = std::max<int64_t>(axis.positions, 1), width = 64;
  const std::vector<int64_t> extents{rows,           columns,   depth,       tileRows,        width,
                                     axis.positions, axis.taps, axis.extent, axis.paddingLow, each.channels};
  Buffer image = random("f32", each.examples * axis.extent * each.channels, 1), b = random("f32", depth * columns, 2),
         result, scratch;
  allocate(result, "f32", rows * columns);
  allocate(scratch, "i8", scratchOf(text, extents, cpu));
  std::memset(scratch.data(), 0xff, scratch.values.size()); // NaNs, which no result may contain
  std::memset(scratch.data(), 0, 8);
  void *buffers[] = {image.data(), b.data(), result.data()};
  code.function(buffers, extents.data(), 0, (rows + tileRows - 1) / tileRows * ((columns + width - 1) / width),
                scratch.data());
  std::vector<double> expected, found;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      float sum = 0;
      for (int64_t k = 0; k < depth; ++k)
        if (const int64_t element = each.elementAt(row, k); element >= 0) {
          const auto x = float(image.values[size_t(element)]), y = float(b.values[size_t(k * columns + column)]);
          sum = cpu.math.hasFma ? std::fma(x, y, sum) : x * y + sum;
        }
      expected.push_back(sum + sum);
      found.push_back(decode(result.data() + (row * columns + column) * 4, "f32"));
    }
  CAPTURE(cpu.name, fewRows, columns, axis.positions, axis.taps, axis.extent, axis.stride, axis.dilation);
  CHECK(found == expected);
}

} // namespace

TEST_CASE("Kernels that read an image call a core, which adds in the order of K", "[kernels]") {
  for (const std::string &name : runnableTargets()) {
    const CpuTarget cpu = targetNamed(name);
    for (const AxisNumbers &axis : axesOfAllKinds)
      checkKernel(cpu, {.axes = {axis}, .channels = 16}, /*fewRows=*/false, 37);
    // Few rows, and a slice of K per tap.
    checkKernel(cpu, {.axes = {axesOfAllKinds[0]}, .channels = 300, .examples = 1}, /*fewRows=*/true, 70);
  }
}

TEST_CASE("A core of lines sums any number of positions with any position of the taps relative to the image",
          "[kernels]") {
  for (const std::string &name : targetsOfMath())
    for (const auto &[vectors, groups] : {std::pair(int64_t(1), llvm::SmallVector<int64_t, 5>{4, 1}),
                                          std::pair(int64_t(2), llvm::SmallVector<int64_t, 5>{6, 4, 3, 1}),
                                          std::pair(int64_t(2), llvm::SmallVector<int64_t, 5>{14, 7, 4, 2, 1})}) {
      const CpuTarget cpu = targetNamed(name);
      const LinesCore core = linesCore(cpu, vectors, groups, 1);
      const Loaded loaded = loadCore(core.core(), cpu);
      for (const AxisNumbers &axis : axesOfAllKinds)
        checkLines(loaded, cpu, core, {.axes = {axis}});
      for (int64_t positions = 1; positions < 30; ++positions)
        for (const int64_t paddingLow : {0, 1, 2}) // the last taps are outside, or the first ones, or both
          checkLines(loaded, cpu, core,
                     {.axes = {{positions, 3, positions, paddingLow}}, .continues = positions % 2 == 1});
    }
}

TEST_CASE("A core of lines sums a part of the positions and a slice of K, along several axes", "[kernels]") {
  for (const std::string &name : runnableTargets()) {
    const CpuTarget cpu = targetNamed(name);
    const LinesCore plane = linesCore(cpu, 2, {6, 4, 3, 1}, 2), volume = linesCore(cpu, 1, {4, 1}, 3);
    const Loaded ofPlane = loadCore(plane.core(), cpu), ofVolume = loadCore(volume.core(), cpu);
    for (const AxisNumbers &outer : axesOfAllKinds)
      for (const AxisNumbers &inner : axesOfAllKinds) {
        WindowCase each{.axes = {outer, inner}};
        checkLines(ofPlane, cpu, plane, each);
        each.first = inner.positions / 2, each.skipped = 1; // begins and ends within a line
        each.firstDepth = inner.taps * each.channels / 2, each.skippedDepth = 1, each.continues = true;
        checkLines(ofPlane, cpu, plane, each);
        each.first += each.rows(); // no positions
        checkLines(ofPlane, cpu, plane, each);
      }
    for (const AxisNumbers &axis : axesOfAllKinds) {
      WindowCase each{.axes = {{2, 2, 3}, axis, {8, 3, 8, 1}}, .channels = 2};
      each.axes[0].stride = -1, each.axes[0].paddingLow = -1; // only the last axis goes forward
      checkLines(ofVolume, cpu, volume, each);
    }
  }
}

TEST_CASE("The symbol of a core of lines names all that decides its code", "[kernels]") {
  const LinesCore plain = linesCore(targetNamed("x86-64-v4"), 2, {14, 7, 4, 2, 1}, 2);
  CHECK(plain.core().symbol == "halftone_core_lines_multiply_add_f32_fused_of_2_axes_14_7_4_2_1x2");
  CHECK(plain.core().method == "14 x 32 sums in registers");
  std::vector<LinesCore> all(7, plain);
  all[1].rule.fuses = false;
  all[2].rule.widens = true;
  all[3].rule.product = &rowOf(cpu::Product::vdpbf16ps);
  all[4].positions = {7, 1};
  all[5].vectors = 1;
  all[6].rank = 3;
  std::set<std::string> symbols;
  for (const LinesCore &each : all)
    symbols.insert(each.core().symbol);
  CHECK(symbols.size() == all.size());
}
