// Runs kernels on the emulated CUDA driver, through its cu* functions.
// SPDX-License-Identifier: Apache-2.0
#include "tests/compiler/EmulatedGpu.h"
#include "runtime/plan/GpuAbi.h"
#include "tests/emulator/tests/DriverLibrary.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <iterator>
#include <stdexcept>

namespace halftone::testing {
using emulator::DevicePointer;
using emulator::DriverLibrary;

namespace {

/// The parameters of a kernel's entry point, in order.
class Parameters {
public:
  void add(uint64_t value) { values_.push_back(value); }
  void **pointers() {
    pointers_.clear();
    for (uint64_t &value : values_)
      pointers_.push_back(&value);
    return pointers_.data();
  }

private:
  std::vector<uint64_t> values_; // little-endian, so 32-bit parameters are at the start of their words
  std::vector<void *> pointers_;
};

class Session {
public:
  Session(const GpuLaunch &launch, unsigned seed, bool countsAccesses = false)
      : launch_(launch), driver_({{"HALFTONE_EMULATOR_SEED", std::to_string(seed)},
                                  {"HALFTONE_EMULATOR_ACCESSES", countsAccesses ? "1" : "0"}}) {
    void *module = nullptr;
    check(driver_.call("cuModuleLoadData", &module, static_cast<const void *>(launch.code.code.c_str())), "load");
    check(driver_.call("cuModuleGetFunction", &function_, module, launch.code.symbol.c_str()), "find the entry");
    constexpr int dynamicSharedBytes = 8;
    check(driver_.call("cuFuncSetAttribute", function_, dynamicSharedBytes, int(launch.code.launch.sharedBytes)),
          "set the shared memory");
    for (const std::string &bytes : launch.operands)
      operands_.push_back(upload(bytes));
  }

  std::vector<DevicePointer> newResults() {
    std::vector<DevicePointer> results;
    for (size_t i = 0; i < launch_.resultBytes.size(); ++i) {
      const int operand = launch_.over.empty() ? -1 : launch_.over[i];
      results.push_back(operand >= 0 ? operands_[size_t(operand)]
                                     : driver_.allocate(std::max<size_t>(launch_.resultBytes[i], 1)));
    }
    return results;
  }
  DevicePointer upload(const std::string &bytes) {
    const DevicePointer memory = driver_.allocate(std::max<size_t>(bytes.size(), 1));
    driver_.upload(memory, std::vector<char>(bytes.begin(), bytes.end()));
    return memory;
  }
  std::vector<std::string> download(const std::vector<DevicePointer> &results) {
    std::vector<std::string> all;
    for (size_t i = 0; i < results.size(); ++i) {
      const std::vector<char> bytes = driver_.download<char>(results[i], launch_.resultBytes[i]);
      all.emplace_back(bytes.begin(), bytes.end());
    }
    return all;
  }

  std::vector<emulator::AccessRow> accesses() const {
    return emulator::readAccessTable(driver_.find<const char *()>("halftoneEmulatorAccesses")());
  }

  /// One launch whose parts write these results. There is no table of parts if `asParts` is false.
  void play(const std::vector<std::vector<DevicePointer>> &results, bool asParts, DevicePointer predicate,
            bool negated) {
    Parameters parameters;
    const int64_t buffers = int64_t(operands_.size() + launch_.resultBytes.size());
    if (takesParameters(buffers, int64_t(launch_.extents.size())))
      for (uint64_t word : rowOf(0, results.front(), /*isParameters=*/true))
        parameters.add(word);
    std::string table;
    for (size_t part = 0; asParts && part < results.size(); ++part)
      for (uint64_t word : rowOf(int64_t(part) * launch_.grid, results[part], false))
        table.append(reinterpret_cast<const char *>(&word), sizeof word);
    const int64_t blocks = launch_.grid * int64_t(results.size());
    const int64_t scratchBytes = (launch_.scratchBytes + 63) / 64 * 64;
    parameters.add(asParts ? upload(table) : 0);
    parameters.add(predicate);
    parameters.add(driver_.allocate(size_t(std::max<int64_t>(scratchBytes * blocks, 64))));
    parameters.add(uint64_t(scratchBytes));
    parameters.add(asParts ? results.size() : 0);
    parameters.add(negated);
    check(driver_.call("cuLaunchKernel", function_, unsigned(blocks), 1u, 1u, unsigned(launch_.code.launch.threads), 1u,
                       1u, unsigned(launch_.code.launch.sharedBytes), static_cast<void *>(nullptr),
                       parameters.pointers(), static_cast<void **>(nullptr)),
          "launch");
    check(driver_.call("cuCtxSynchronize"), "run");
  }

private:
  /// The row of the table for one part: its first block (not a parameter of a launch without parts), buffers and
  /// extents.
  std::vector<uint64_t> rowOf(int64_t first, const std::vector<DevicePointer> &results, bool isParameters) const {
    std::vector<uint64_t> row;
    if (!isParameters)
      row.push_back(uint64_t(first));
    row.insert(row.end(), operands_.begin(), operands_.end());
    row.insert(row.end(), results.begin(), results.end());
    row.insert(row.end(), launch_.extents.begin(), launch_.extents.end());
    return row;
  }
  void check(int result, const char *call) const {
    if (result)
      throw std::runtime_error("the emulated driver could not " + std::string(call) + " the kernel: error " +
                               std::to_string(result) + "\n" + driver_.find<const char *()>("halftoneEmulatorFault")());
  }

  const GpuLaunch &launch_;
  DriverLibrary driver_;
  void *function_ = nullptr;
  std::vector<DevicePointer> operands_;
};

} // namespace

GpuOutcome tryOnGpu(const GpuLaunch &launch, int parts, unsigned seed) {
  GpuOutcome outcome;
  try {
    Session session(launch, seed);
    std::vector<std::vector<DevicePointer>> results;
    for (int part = 0; part < std::max(parts, 1); ++part)
      results.push_back(session.newResults());
    session.play(results, parts > 0, 0, false);
    for (const std::vector<DevicePointer> &part : results)
      std::ranges::move(session.download(part), std::back_inserter(outcome.results));
  } catch (const std::runtime_error &error) {
    outcome.fault = error.what();
  }
  return outcome;
}

std::vector<std::string> runOnGpu(const GpuLaunch &launch, int parts, unsigned seed) {
  GpuOutcome outcome = tryOnGpu(launch, parts, seed);
  if (!outcome.fault.empty())
    FAIL(outcome.fault << "\n" << launch.code.code);
  const size_t count = launch.resultBytes.size();
  for (size_t i = count; i < outcome.results.size(); ++i)
    CHECK(outcome.results[i] == outcome.results[i % count]);
  outcome.results.resize(count);
  return std::move(outcome.results);
}

bool runsUnder(const GpuLaunch &launch, int predicate, bool negated) {
  Session session(launch, 0);
  std::vector<DevicePointer> results;
  for (size_t bytes : launch.resultBytes)
    results.push_back(session.upload(std::string(bytes, char(0x5A))));
  const std::vector<std::string> before = session.download(results);
  session.play({results}, false, predicate < 0 ? 0 : session.upload(std::string(1, char(predicate))), negated);
  return session.download(results) != before;
}

std::vector<emulator::AccessRow> accessesOnGpu(const GpuLaunch &launch) {
  Session session(launch, 0, /*countsAccesses=*/true);
  session.play({session.newResults()}, false, 0, false);
  return session.accesses();
}

} // namespace halftone::testing
