// Hand-written plans with repeats, and their results.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Tensor.h"
#include "tests/runtime/TestPlan.h"
#include <span>
#include <vector>

namespace halftone::test {

/// (a, b) -> a[0] < b[0], one i1.
inline void belowKernel(void *const *buffers, const int64_t *, int64_t begin, int64_t, void *) {
  if (begin == 0)
    *static_cast<bool *>(buffers[2]) =
        *static_cast<const float *>(buffers[0]) < *static_cast<const float *>(buffers[1]);
}

inline std::shared_ptr<const KernelLibrary> repeatKernels() {
  return std::make_shared<FunctionLibrary>(
      std::map<std::string, CpuKernelFunction>{{"add", addKernel}, {"halve", halveKernel}, {"below", belowKernel}});
}

/// A plan, its feeds, and its expected fetches.
struct RepeatCase {
  const char *name;
  Executable exe;
  std::vector<std::vector<float>> feeds, fetches;
};

/// Returns the feeds as copies, whose memory is aligned as a device needs it; a vector's may not be.
inline std::vector<Tensor> tensorsOf(const RepeatCase &each) {
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < each.feeds.size(); ++i)
    tensors.emplace_back(std::span(each.feeds[i]), Shape(each.exe.signature.feeds[i].type.shape));
  return tensors;
}

inline Executable emptyExecutable() {
  Executable exe;
  exe.name = "loop";
  exe.buildId = "test";
  for (const char *kernel : {"add", "halve", "below"})
    exe.kernels[kernel] = {kernel, "loop", "x86-64-v2", "", "object"};
  exe.sites = {{"net/scan train.cpp:7"}};
  return exe;
}

/// Small integers and half-integers, different for each `salt`.
inline std::vector<float> floatsOf(int64_t count, int salt) {
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(0.5f * static_cast<float>((i * 7 + salt * 5) % 23) - 3);
  return values;
}

/// The storage of a carry: two alternating slots, or a stack with all of its values.
enum class CarryPlace { two_slots, stack };

/// Over rows of n float32, n a multiple of 16, with feeds x (count rows) and h:
///   count times: h := h + x[t]; y[t] := h * 0.5 + 1
/// and the fetches last (the last h) and y. From the last row to the first if `reverse`.
inline RepeatCase scanCase(int64_t count, int64_t n, bool reverse, CarryPlace place) {
  const TensorType row{float32, {n}}, rows{float32, {count, n}};
  const int64_t bytes = row.bytes(), first = reverse ? (count - 1) * bytes : 0, stride = reverse ? -bytes : bytes;
  const bool isStack = place == CarryPlace::stack;
  RepeatCase made{isStack ? "a stack" : "two slots", emptyExecutable(), {}, {}};
  Executable &exe = made.exe;
  exe.signature.feeds = {{"x", rows}, {"h", row}};
  exe.signature.fetches = {{"last", row}, {"y", rows}};
  const Stride read = isStack ? Stride{bytes} : Stride{bytes, 2, 0},
               write = isStack ? Stride{bytes} : Stride{bytes, 2, 1};
  exe.plan.slots = {{SlotKind::feed, row, 0, first, {{stride}}},
                    {SlotKind::feed, row, 1},
                    {SlotKind::arena, row, 0, 0, {read}},
                    {SlotKind::arena, row, 0, isStack ? bytes : 0, {write}},
                    {SlotKind::fetch, row, 1, first, {{stride}}},
                    {SlotKind::fetch, row, 0},
                    {SlotKind::arena, row, 0},
                    {SlotKind::arena, row, 0, (isStack ? count : count % 2) * bytes}};
  exe.plan.steps = {CopyStep{1, 6, {}}, RepeatStep{count, 2}, launchOf("add", n, {2, 0}, {3}),
                    launchOf("halve", n, {3}, {4}), CopyStep{7, 5, {}}};
  exe.plan.arenaBytes = exe.plan.largestLiveBytes = (isStack ? count + 1 : 2) * bytes;
  const std::vector<float> x = floatsOf(count * n, 1), h = floatsOf(n, 2);
  made.feeds = {x, h};
  made.fetches = {h, std::vector<float>(x.size())};
  for (int64_t step = 0; step < count; ++step)
    for (int64_t i = 0; i < n; ++i) {
      const auto at = static_cast<size_t>((reverse ? count - 1 - step : step) * n + i);
      float &carry = made.fetches[0][static_cast<size_t>(i)];
      carry += x[at];
      made.fetches[1][at] = carry * 0.5f + 1;
    }
  return made;
}

/// A repeat in a repeat, with feeds x (outer, inner, n) and h:
///   outer times: { g := h; inner times: { g := g + x[o][t]; y[o][t] := g * 0.5 + 1 }; h := g + h }
/// with g and h in place, and fetches last, the last h, and y.
inline RepeatCase nestedCase(int64_t outer, int64_t inner, int64_t n) {
  const TensorType row{float32, {n}}, all{float32, {outer, inner, n}};
  const int64_t bytes = row.bytes();
  RepeatCase made{"a repeat in a repeat", emptyExecutable(), {}, {}};
  Executable &exe = made.exe;
  exe.signature.feeds = {{"x", all}, {"h", row}};
  exe.signature.fetches = {{"last", row}, {"y", all}};
  exe.plan.slots = {{SlotKind::feed, row, 0, 0, {{inner * bytes}, {bytes}}},
                    {SlotKind::feed, row, 1},
                    {SlotKind::arena, row, 0},     // h
                    {SlotKind::arena, row, bytes}, // g
                    {SlotKind::fetch, row, 1, 0, {{inner * bytes}, {bytes}}},
                    {SlotKind::fetch, row, 0}};
  exe.plan.steps = {CopyStep{1, 2, {}},
                    RepeatStep{outer, 5},
                    CopyStep{2, 3, {}},
                    RepeatStep{inner, 2},
                    launchOf("add", n, {3, 0}, {3}),
                    launchOf("halve", n, {3}, {4}),
                    launchOf("add", n, {3, 2}, {2}),
                    CopyStep{2, 5, {}}};
  exe.plan.arenaBytes = exe.plan.largestLiveBytes = 2 * bytes;
  const std::vector<float> x = floatsOf(outer * inner * n, 3), h = floatsOf(n, 4);
  made.feeds = {x, h};
  made.fetches = {h, std::vector<float>(x.size())};
  std::vector<float> &last = made.fetches[0];
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < n; ++i) {
      float g = last[static_cast<size_t>(i)];
      for (int64_t t = 0; t < inner; ++t) {
        const auto at = static_cast<size_t>((o * inner + t) * n + i);
        g += x[at];
        made.fetches[1][at] = g * 0.5f + 1;
      }
      last[static_cast<size_t>(i)] += g;
    }
  return made;
}

/// With feeds v, limit and one of n elements each:
///   while v[0] < limit[0], at most `most` times: v := v + one
/// and fetch v, which then is from + steps in each element; limit[0] is `limit`.
inline RepeatCase whileCase(int64_t most, float from, float limit, int64_t n = 16) {
  const TensorType row{float32, {n}}, flag{DType::bool_, {}};
  RepeatCase made{"while", emptyExecutable(), {}, {}};
  Executable &exe = made.exe;
  exe.signature.feeds = {{"v", row}, {"limit", row}, {"one", row}};
  exe.signature.fetches = {{"v", row}};
  const int64_t room = (row.bytes() + bufferAlignment - 1) / bufferAlignment * bufferAlignment;
  exe.plan.slots = {{SlotKind::feed, row, 0},      {SlotKind::feed, row, 1},
                    {SlotKind::feed, row, 2},      {SlotKind::arena, row, 0},
                    {SlotKind::arena, flag, room}, {SlotKind::arena, flag, room + bufferAlignment},
                    {SlotKind::fetch, row, 0}};
  const Predicate running{4, false};
  LaunchStep decide = launchOf("below", 1, {3, 1}, {5}), add = launchOf("add", n, {3, 2}, {3});
  LaunchStep again = launchOf("below", 1, {3, 1}, {5});
  add.predicate = again.predicate = running;
  // A launch must not write its own predicate. Once `again` no longer runs, the byte that it leaves is 0.
  exe.plan.steps = {
      CopyStep{0, 3, {}}, decide, CopyStep{5, 4, {}}, RepeatStep{most, 3, running}, add, again, CopyStep{5, 4, {}},
      CopyStep{3, 6, {}}};
  exe.plan.arenaBytes = exe.plan.largestLiveBytes = room + 2 * bufferAlignment;
  const auto full = [&](float value) { return std::vector<float>(static_cast<size_t>(n), value); };
  made.feeds = {full(from), full(limit), full(1)};
  float v = from;
  for (int64_t step = 0; step < most && v < limit; ++step)
    v += 1;
  made.fetches = {std::vector<float>(static_cast<size_t>(n), v)};
  return made;
}

inline std::vector<RepeatCase> repeatCases() {
  std::vector<RepeatCase> cases;
  for (const int64_t count : {1, 2, 3, 4, 5, 6, 17})
    for (const CarryPlace place : {CarryPlace::two_slots, CarryPlace::stack})
      for (const bool reverse : {false, true})
        cases.push_back(scanCase(count, 32, reverse, place));
  for (const int64_t outer : {1, 2, 7})
    for (const int64_t inner : {1, 3, 6})
      cases.push_back(nestedCase(outer, inner, 16));
  for (const float steps : {0, 1, 2, 5, 9})
    cases.push_back(whileCase(9, 0, steps));
  cases.push_back(whileCase(9, 0, 100)); // ends with its count
  return cases;
}

} // namespace halftone::test
