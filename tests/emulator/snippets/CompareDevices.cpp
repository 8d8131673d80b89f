// Runs each form of instruction in the emulator and on a CUDA driver, and compares the results bit by bit.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/snippets/CompareDevices.h"
#include "tests/emulator/Block.h"
#include "tests/emulator/LoadedModule.h"
#include <bit>
#include <cmath>
#include <fmt/format.h>

namespace halftone::emulator {

namespace {

constexpr uint32_t threadsOfBlock = 64;

/// The inputs of one launch of a form: its module, each source as bytes, and the number of rows.
struct Job {
  const Form &form;
  std::string ptx;
  std::vector<std::vector<uint64_t>> rows;
  std::vector<std::vector<std::byte>> sources;
  size_t count;

  explicit Job(const Form &form) : form(form), ptx(form.ptx()), rows(rowsOf(form)), count(rows[0].size()) {
    for (size_t i = 0; i < rows.size(); ++i) {
      const size_t bytes = form.sources[i].bits / 8;
      sources.emplace_back(count * bytes);
      for (size_t row = 0; row < count; ++row)
        std::memcpy(sources[i].data() + row * bytes, &rows[i][row], bytes);
    }
  }
  size_t resultBytes() const { return count * form.resultWords * form.resultBits / 8; }
  uint32_t blocks() const { return static_cast<uint32_t>(count / threadsOfBlock); }
};

std::vector<std::byte> runEmulated(const Job &job) {
  DeviceMemory memory(uint64_t(64) << 20);
  auto make = [&](size_t bytes) {
    const uint64_t address = memory.reserve(bytes).value();
    memory.open(address);
    return address;
  };
  std::vector<uint64_t> addresses{make(job.resultBytes())};
  for (const std::vector<std::byte> &source : job.sources) {
    addresses.push_back(make(source.size()));
    memory.write(addresses.back(), source.data(), source.size());
  }
  const LoadedModule module(job.ptx, memory, 90);
  Launch launch{module.find("test"), {job.blocks(), 1, 1}, {threadsOfBlock, 1, 1}, 0, {}};
  launch.parameters.resize(addresses.size() * sizeof(uint64_t));
  std::memcpy(launch.parameters.data(), addresses.data(), launch.parameters.size());
  Random random(0);
  LaunchCounts counts;
  runLaunch(launch, memory, random, counts);
  std::vector<std::byte> results(job.resultBytes());
  memory.read(results.data(), addresses[0], results.size());
  return results;
}

/// The first device of a driver, with a current context.
class Device {
public:
  explicit Device(const CudaLibrary &driver) : driver_(driver) {
    int device = 0, major = 0, minor = 0;
    void *context = nullptr;
    CudaLibrary::must(driver.call("cuInit", 0u));
    CudaLibrary::must(driver.call("cuDeviceGet", &device, 0));
    CudaLibrary::must(driver.call("cuDeviceGetAttribute", &major, 75, device));
    CudaLibrary::must(driver.call("cuDeviceGetAttribute", &minor, 76, device));
    CudaLibrary::must(driver.call("cuDevicePrimaryCtxRetain", &context, device));
    CudaLibrary::must(driver.call("cuCtxSetCurrent", context));
    capability_ = 10 * major + minor;
  }

  uint32_t capability() const { return capability_; }

  std::vector<std::byte> run(const Job &job) const {
    std::vector<DevicePointer> addresses{driver_.allocate(job.resultBytes())};
    for (const std::vector<std::byte> &source : job.sources) {
      addresses.push_back(driver_.allocate(source.size()));
      driver_.upload(addresses.back(), source);
    }
    std::vector<void *> parameters;
    for (DevicePointer &address : addresses)
      parameters.push_back(&address);
    void *module = load(job), *function = nullptr;
    CudaLibrary::must(driver_.call("cuModuleGetFunction", &function, module, "test"));
    CudaLibrary::must(driver_.call("cuLaunchKernel", function, job.blocks(), 1u, 1u, threadsOfBlock, 1u, 1u, 0u,
                                   static_cast<void *>(nullptr), parameters.data(), static_cast<void **>(nullptr)));
    CudaLibrary::must(driver_.call("cuCtxSynchronize"));
    std::vector<std::byte> results = driver_.download<std::byte>(addresses[0], job.resultBytes());
    CudaLibrary::must(driver_.call("cuModuleUnload", module));
    for (DevicePointer address : addresses)
      CudaLibrary::must(driver_.call("cuMemFree_v2", address));
    return results;
  }

private:
  void *load(const Job &job) const {
    char log[1024] = "";
    int options[] = {int(JitOption::ErrorLogBuffer), int(JitOption::ErrorLogBufferSizeBytes)};
    void *values[] = {log, reinterpret_cast<void *>(sizeof(log))}, *module = nullptr;
    if (const int result = driver_.call("cuModuleLoadDataEx", &module, static_cast<const void *>(job.ptx.c_str()), 2u,
                                        static_cast<int *>(options), static_cast<void **>(values)))
      throw std::runtime_error(
          fmt::format("{}: the driver gave the error {} for its PTX: {}", job.form.name, result, log));
    return module;
  }

  const CudaLibrary &driver_;
  uint32_t capability_ = 0;
};

uint64_t wordAt(const std::vector<std::byte> &bytes, size_t place, uint8_t bits) {
  uint64_t word = 0;
  std::memcpy(&word, bytes.data() + place * (bits / 8), bits / 8);
  return word;
}

/// Returns true if both are NaN in the format of the result; for two narrow floats, in each one that differs.
bool areNans(const Form &form, uint64_t a, uint64_t b) {
  if (form.result == Input::F64)
    return std::isnan(std::bit_cast<double>(a)) && std::isnan(std::bit_cast<double>(b));
  if (form.result == Input::F32)
    return std::isnan(std::bit_cast<float>(uint32_t(a))) && std::isnan(std::bit_cast<float>(uint32_t(b)));
  const uint64_t infinity = form.result == Input::F16 ? 0x7c00 : 0x7f80;
  for (int half = 0; half < form.resultBits && form.result != Input::Bits; half += 16) {
    const uint64_t x = a >> half & 0xffff, y = b >> half & 0xffff;
    if (x != y && ((x & 0x7fff) <= infinity || (y & 0x7fff) <= infinity))
      return false;
  }
  return true;
}

/// Returns true if `given` is within the instruction's error of `exact`, which is itself rounded to nearest. Infinity
/// represents 2^128, to which numbers near the limit of f32 may round.
bool isNear(const Tolerance &tolerance, uint64_t exact, uint64_t given) {
  const auto valueOf = [](uint64_t bits) {
    const float value = std::bit_cast<float>(uint32_t(bits));
    return std::isinf(value) ? std::copysign(0x1p128, double(value)) : double(value);
  };
  const double a = valueOf(exact), b = valueOf(given), relative = tolerance.relative ? tolerance.relative + 0x1p-24 : 0;
  return std::fabs(a - b) <= relative * std::fabs(a) + tolerance.absolute + 0x1p-149;
}

constexpr size_t mostDescribed = 8; // of the differing results of a form

std::string describe(const Job &job, size_t place, uint64_t expected, uint64_t given) {
  const size_t row = place / job.form.resultWords;
  std::string inputs;
  for (size_t i = 0; i < job.rows.size(); ++i)
    inputs += fmt::format("{}{:#0{}x}", i ? ", " : "", job.rows[i][row], job.form.sources[i].bits / 4 + 2);
  const int digits = job.form.resultBits / 4 + 2;
  return fmt::format("row {} with the inputs {}: expected {:#0{}x}, got {:#0{}x}", row, inputs, expected, digits, given,
                     digits);
}

/// Compares the results of one form and adds the findings to `total`.
void compare(const Job &job, const std::vector<std::byte> &expected, const std::vector<std::byte> &given,
             Comparison &total, const std::function<void(const std::string &)> &tell) {
  const Form &form = job.form;
  const size_t count = job.count * form.resultWords;
  size_t differing = 0;
  std::string described;
  for (size_t place = 0; place < count; ++place) {
    const uint64_t a = wordAt(expected, place, form.resultBits), b = wordAt(given, place, form.resultBits);
    if (a == b)
      continue;
    if (form.tolerance.anyNan && areNans(form, a, b))
      ++total.nans;
    else if (!form.tolerance.isExact() && isNear(form.tolerance, a, b))
      ++total.moved;
    else if (differing++ < mostDescribed)
      described += "; " + describe(job, place, a, b);
  }
  total.results += count;
  ++total.forms;
  if (!differing)
    return;
  ++total.differing;
  tell(fmt::format("{}: {} of {} results differ{}", form.name, differing, count, described));
}

} // namespace

Comparison compareDevices(const CudaLibrary &driver, const std::string &only,
                          const std::function<void(const std::string &)> &tell) {
  const Device device(driver);
  Comparison total;
  for (const Form &form : allForms()) {
    if (form.name.find(only) == std::string::npos)
      continue;
    if (form.target() > device.capability()) {
      ++total.skipped;
      continue;
    }
    const Job job(form);
    compare(job, runEmulated(job), device.run(job), total, tell);
  }
  return total;
}

} // namespace halftone::emulator
