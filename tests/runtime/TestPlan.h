// Hand-written plans and kernels, for tests of code that verifies, stores or plays plans.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/KernelLibrary.h"
#include "runtime/plan/Executable.h"
#include <map>
#include <string>

namespace halftone::test {

/// Kernels that are ordinary functions.
struct FunctionLibrary final : KernelLibrary {
  std::map<std::string, CpuKernelFunction> functions;
  FunctionLibrary() = default;
  FunctionLibrary(std::map<std::string, CpuKernelFunction> list) : functions(std::move(list)) {}
  StatusOr<KernelHandle> find(const std::string &key) const override {
    auto found = functions.find(key);
    if (found == functions.end())
      return Status(ErrorKind::key_error, "no code for kernel " + key);
    return KernelHandle(found->second);
  }
};

inline constexpr int64_t blockElements = 8;

/// The elements [begin, end) of a range of blocks, for kernels whose only extent is the number of elements.
inline std::pair<int64_t, int64_t> elementsOf(const int64_t *extents, int64_t blockBegin, int64_t blockEnd) {
  return {blockBegin * blockElements, std::min(extents[0], blockEnd * blockElements)};
}

/// (a, b) -> a + b, float32, through scratch.
inline void addKernel(void *const *buffers, const int64_t *extents, int64_t begin, int64_t end, void *scratch) {
  auto *a = static_cast<const float *>(buffers[0]), *b = static_cast<const float *>(buffers[1]);
  auto *out = static_cast<float *>(buffers[2]), *sum = static_cast<float *>(scratch);
  auto [from, to] = elementsOf(extents, begin, end);
  for (int64_t i = from; i < to; ++i) {
    sum[i % blockElements] = a[i] + b[i];
    out[i] = sum[i % blockElements];
  }
}

/// (a) -> a * 0.5 + 1, float32.
inline void halveKernel(void *const *buffers, const int64_t *extents, int64_t begin, int64_t end, void *) {
  auto *a = static_cast<const float *>(buffers[0]);
  auto *out = static_cast<float *>(buffers[1]);
  auto [from, to] = elementsOf(extents, begin, end);
  for (int64_t i = from; i < to; ++i)
    out[i] = a[i] * 0.5f + 1.0f;
}

inline std::shared_ptr<const KernelLibrary> testKernels() {
  return std::make_shared<FunctionLibrary>(
      std::map<std::string, CpuKernelFunction>{{"add", addKernel}, {"halve", halveKernel}});
}

inline LaunchStep launchOf(std::string kernel, int64_t elements, std::vector<SlotId> operands,
                           std::vector<SlotId> results) {
  LaunchStep step;
  step.kernel = std::move(kernel);
  step.grid = (elements + blockElements - 1) / blockElements;
  step.operandCount = static_cast<int64_t>(operands.size());
  step.buffers = std::move(operands);
  step.buffers.insert(step.buffers.end(), results.begin(), results.end());
  step.extents = {elements};
  step.scratchBytes = blockElements * 4;
  step.site = 0;
  step.cost = 1e6; // worth several threads at any extent
  return step;
}

/// Over n float32 elements, with feeds x and go, variable @w and fetches y and old:
///   a := x + w;  h := a * 0.5 + 1;  y := h;  old := w;  if go: w := h + c;  else: w := 0
/// Slots: 0 x, 1 go, 2 w, 3 y, 4 old, 5 a, 6 h, 7 c (a constant of ones).
inline Executable testExecutable(int64_t n = 100) {
  const TensorType vector{float32, {n}}, flag{DType::bool_, {}};
  const int64_t room = (vector.bytes() + bufferAlignment - 1) / bufferAlignment * bufferAlignment;
  Executable exe;
  exe.name = "step";
  exe.buildId = "test";
  exe.signature.feeds = {{"x", vector}, {"go", flag}};
  exe.signature.fetches = {{"y", vector}, {"old", vector}};
  exe.variables = {{"w", "net/w", vector, true, true}};
  std::string ones;
  const float one = 1;
  for (int64_t i = 0; i < n; ++i)
    ones.append(reinterpret_cast<const char *>(&one), sizeof one);
  exe.constants = {ones};
  exe.kernels["add"] = {"add", "loop", "x86-64-v2", "linalg text", "object", "32-byte vectors"};
  exe.kernels["halve"] = {"halve", "loop", "x86-64-v2", "", "object"};
  exe.sites = {{"net/dense_1 train.cpp:42"}};
  exe.ledger = {{"net/dense_1", "%3", float32, float16, true, false, 400, "policy", "train.cpp:42"}};
  exe.plan.slots = {{SlotKind::feed, vector, 0},     {SlotKind::feed, flag, 1},      {SlotKind::variable, vector, 0},
                    {SlotKind::fetch, vector, 0},    {SlotKind::fetch, vector, 1},   {SlotKind::arena, vector, 0},
                    {SlotKind::arena, vector, room}, {SlotKind::constant, vector, 0}};
  LaunchStep update = launchOf("add", n, {6, 7}, {2});
  update.predicate = Predicate{1, false};
  exe.plan.steps = {launchOf("add", n, {0, 2}, {5}),
                    launchOf("halve", n, {5}, {6}),
                    CopyStep{6, 3, {}},
                    CopyStep{2, 4, {}},
                    update,
                    CopyStep{-1, 2, Predicate{1, true}}};
  exe.plan.arenaBytes = 2 * room;
  exe.plan.largestLiveBytes = 2 * room;
  return exe;
}

/// Like testExecutable(), but y is the sum of h over all processes, which is in flight while the variable is updated.
///   ...; s := all_reduce h; old := w; if go: ...; wait; y := s
/// Slot 8 is s.
inline Executable sharingExecutable(int64_t n = 100) {
  Executable exe = testExecutable(n);
  const int64_t room = exe.plan.arenaBytes / 2;
  exe.plan.slots.push_back({SlotKind::arena, exe.plan.slots[5].type, 2 * room});
  std::vector<Step> &steps = exe.plan.steps;
  steps[2] = CollectiveStep{CollectiveKind::sum, {6}, {8}};
  steps.emplace_back(WaitStep{});
  steps.emplace_back(CopyStep{8, 3, {}});
  exe.plan.arenaBytes = exe.plan.largestLiveBytes = 3 * room;
  return exe;
}

/// Like sharingExecutable(), but process `rank` of two receives its part of the sum of h, and then the whole sum, s, of
/// parts of n / 3 and 2 n / 3 elements. Slot 9 is the part.
inline Executable dividingExecutable(int64_t n, int64_t rank) {
  Executable exe = sharingExecutable(n);
  const std::vector<int64_t> offsets{0, n / 3, n};
  const int64_t own = rank == 0 ? n / 3 : n - n / 3;
  exe.plan.slots.push_back({SlotKind::arena, {DType::float32, {own}}, exe.plan.arenaBytes});
  exe.plan.arenaBytes = exe.plan.largestLiveBytes = exe.plan.arenaBytes / 3 * 4;
  std::vector<Step> &steps = exe.plan.steps;
  steps[2] = CollectiveStep{CollectiveKind::scattered_sum, {6}, {9}, {offsets}, rank};
  steps.insert(steps.end() - 1, {CollectiveStep{CollectiveKind::gather, {9}, {8}, {offsets}, rank}, WaitStep{}});
  return exe;
}

} // namespace halftone::test
