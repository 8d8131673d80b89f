// Driver errors: each error at several calls, each call with an error, and the state of the GPU afterwards.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/cuda/DriverErrors.h"
#include "runtime/base/OpenFile.h"
#include "tests/runtime/devices/cuda/EmulatedGpu.h"
#include "tests/runtime/devices/cuda/PtxKernels.h"
#include <catch2/catch.hpp>
#include <map>
#include <numeric>
#include <regex>
#include <set>

using namespace halftone;
using cuda::CudaDevice;
using cuda::Reach;

namespace {

/// An error as cuda.h and the driver describe it.
struct KnownError {
  int value;
  std::string symbol, text;
  bool stops; // all work of the process
  cuda::Result result() const { return static_cast<cuda::Result>(value); }
  std::string described() const {
    return symbol.empty() ? "error " + std::to_string(value) + " of the CUDA driver" : text + " (" + symbol + ")";
  }
};

const std::vector<KnownError> &knownErrors() {
  static const auto &known = *new std::vector<KnownError>{
#define HALFTONE_RESULT(name, symbol, value, stops, text) {value, #symbol, text, stops},
#include "tests/emulator/driver/Results.def"
  };
  return known;
}

/// c = a b for square matrices, one block per element of c.
KernelCode matmul(int64_t sharedBytes = 0) {
  return test::gpuKernel("matmul", 3, 1, R"(
  cvt.u32.u64 %r0, %in3;
  div.u32 %r1, %block, %r0;
  rem.u32 %r2, %block, %r0;
  mov.f32 %f0, 0f00000000;
  mov.u32 %r3, 0;
$step:
  mad.lo.u32 %parts, %r1, %r0, %r3;
  mul.wide.u32 %d0, %parts, 4;
  add.s64 %d0, %d0, %in0;
  ld.global.f32 %f1, [%d0];
  mad.lo.u32 %parts, %r3, %r0, %r2;
  mul.wide.u32 %d0, %parts, 4;
  add.s64 %d0, %d0, %in1;
  ld.global.f32 %f2, [%d0];
  fma.rn.f32 %f0, %f1, %f2, %f0;
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p, %r3, %r0;
  @%p bra $step;
  mul.wide.u32 %d0, %block, 4;
  add.s64 %d0, %d0, %in2;
  st.global.f32 [%d0], %f0;)",
                         {.threads = 1, .sharedBytes = sharedBytes});
}

constexpr int64_t width = 4, large = 300000; // in floats; `large` of them exceed a MiB
const std::string key = "matmul", site = "net/dense";

std::vector<float> product(const std::vector<float> &a, const std::vector<float> &b) {
  std::vector<float> c(width * width);
  for (int64_t i = 0; i < width * width; ++i)
    for (int64_t k = 0; k < width; ++k)
      c[i] += a[i / width * width + k] * b[k * width + i % width];
  return c;
}

Status wrong(const std::string &what) { return {ErrorKind::internal_error, "wrong values: " + what}; }

Status upload(CudaDevice &gpu, const DeviceMemory &to, const std::vector<float> &values) {
  return gpu.upload(to.get(), std::as_bytes(std::span(values)));
}

Status expectValues(CudaDevice &gpu, const DeviceMemory &memory, const std::vector<float> &wanted) {
  std::vector<float> got(wanted.size());
  HALFTONE_RETURN_IF_ERROR(gpu.download(std::as_writable_bytes(std::span(got)), memory.get()));
  return got == wanted ? Status() : wrong("a download");
}

/// Two factors and memory for products on a GPU, with the kernel that multiplies them.
struct Matmul {
  std::shared_ptr<const KernelLibrary> library;
  std::vector<DeviceMemory> memory; // a, b, and two results
  std::unique_ptr<DeviceQueue> queue;
  std::vector<float> a = std::vector<float>(width * width), b = a;
  std::vector<void *> buffers;

  Status prepare(CudaDevice &gpu, int64_t sharedBytes) {
    std::iota(a.begin(), a.end(), 1.0f);
    std::iota(b.begin(), b.end(), -3.0f);
    auto loaded = gpu.load({{key, matmul(sharedBytes)}});
    HALFTONE_RETURN_IF_ERROR(loaded.status());
    library = *loaded;
    for (int i = 0; i < 4; ++i) {
      StatusOr<DeviceMemory> made = gpu.allocate(width * width * 4);
      HALFTONE_RETURN_IF_ERROR(made.status());
      memory.push_back(*made);
    }
    HALFTONE_RETURN_IF_ERROR(upload(gpu, memory[0], a));
    HALFTONE_RETURN_IF_ERROR(upload(gpu, memory[1], b));
    buffers = {memory[0].get(), memory[1].get(), memory[2].get()};
    auto made = gpu.makeQueue(0);
    HALFTONE_RETURN_IF_ERROR(made.status());
    queue = *std::move(made);
    return {};
  }
  Launch launch() {
    static const int64_t extent = width;
    return {*library->find(key), &key, width * width, buffers, std::span(&extent, 1), 0, 0, {}, &site};
  }
  /// One launch, whose result the host checks.
  Status multiply(CudaDevice &gpu) {
    queue->begin();
    queue->launch(launch());
    HALFTONE_RETURN_IF_ERROR(queue->finish());
    return expectValues(gpu, memory[2], product(a, b));
  }
};

/// Launches, copies and fills as a list that is played five times, finally with other addresses.
Status playList(CudaDevice &gpu, Matmul &work) {
  StatusOr<DeviceMemory> flag = gpu.allocate(4);
  HALFTONE_RETURN_IF_ERROR(flag.status());
  std::vector<Launch> launches = {work.launch()};
  std::byte *const second = work.memory[3].get();
  const int64_t bytes = width * width * 4;
  std::vector<QueuedOperation> list = {QueuedCopy{work.memory[2].get(), nullptr, bytes, {}}, LaunchParts(launches),
                                       QueuedCopy{second, work.memory[2].get(), bytes, {}},
                                       QueuedCopy{second, nullptr, bytes, {flag->get(), false}}};
  const std::vector<size_t> all = {0, 1, 2, 3};
  for (int play = 0; play < 5; ++play) {
    if (play == 4) { // a a, through the second result
      work.buffers[1] = work.memory[0].get();
      std::get<QueuedCopy>(list[0]).to = second;
    }
    work.queue->begin();
    work.queue->play(list, play == 0 || play == 4 ? std::span(all) : std::span<const size_t>());
    HALFTONE_RETURN_IF_ERROR(work.queue->finish());
    HALFTONE_RETURN_IF_ERROR(expectValues(gpu, work.memory[3], product(work.a, play == 4 ? work.a : work.b)));
  }
  work.buffers[1] = work.memory[1].get();
  return {};
}

/// Uploads through the whole ring, each of which fills a slot.
Status uploadMuch(CudaDevice &gpu) {
  StatusOr<DeviceMemory> memory = gpu.allocate(large * 4);
  HALFTONE_RETURN_IF_ERROR(memory.status());
  std::vector<float> values(large);
  for (int round = 0; round < 4; ++round) {
    std::iota(values.begin(), values.end(), static_cast<float>(round));
    HALFTONE_RETURN_IF_ERROR(upload(gpu, *memory, values));
  }
  return expectValues(gpu, *memory, values);
}

/// Makes every request that a device supports. Returns the first error, or internal_error if a value is wrong.
Status useAll(CudaDevice &gpu) {
  HALFTONE_RETURN_IF_ERROR(uploadMuch(gpu));
  Matmul work;
  HALFTONE_RETURN_IF_ERROR(work.prepare(gpu, 60 << 10));
  HALFTONE_RETURN_IF_ERROR(work.multiply(gpu));
  HALFTONE_RETURN_IF_ERROR(playList(gpu, work));
  while (!gpu.hasFinished(gpu.submission()))
    continue;
  for (int i = 0; i < 3; ++i) // queued work, for which an allocation waits
    HALFTONE_RETURN_IF_ERROR(upload(gpu, work.memory[0], work.a));
  const Status tooLarge = gpu.allocate(int64_t(4) << 30).status(); // all memory of the emulated GPU
  if (tooLarge.isOk() || tooLarge.message().find("out of memory: 4294967296 bytes requested") == std::string::npos)
    return tooLarge.isOk() ? wrong("memory") : tooLarge;
  return {};
}

/// Opens a GPU of the current driver, without resetting anything. Two slots of the ring hold one large upload each.
StatusOr<std::shared_ptr<CudaDevice>> openGpu() {
  auto driver = cuda::Driver::open(HALFTONE_EMULATED_DRIVER);
  HALFTONE_RETURN_IF_ERROR(driver.status());
  return CudaDevice::open(*driver, 0, {.slots = 2, .slotBytes = size_t(5) << 18});
}

Status openAndUse() {
  const auto gpu = openGpu();
  return gpu.isOk() ? useAll(**gpu) : gpu.status();
}

std::string said(const Status &status) { return status.isOk() ? "no error" : status.message(); }

bool holds(const std::string &text, const std::string &part) { return text.find(part) != text.npos; }

/// The call at which a request meets the error, and the words by which the error names the operation.
struct Place {
  const char *call, *doing;
};

/// A request that makes the call.
Status requestAt(CudaDevice &gpu, Matmul &work, std::string_view call) {
  if (call == "cuModuleLoadDataEx" || call == "cuModuleGetFunction") {
    KernelCode other = matmul();
    other.launch.threads = 32; // not loaded yet
    return gpu.load({{"other", other}}).status();
  }
  if (call == "cuMemAllocFromPoolAsync")
    return gpu.allocate(256).status();
  if (call == "cuMemcpyHtoDAsync_v2")
    return upload(gpu, work.memory[0], work.a);
  return work.multiply(gpu);
}

constexpr Place places[] = {{"cuLaunchKernel", "launching kernel matmul of net/dense"},
                            {"cuModuleLoadDataEx", "kernel other"},
                            {"cuModuleGetFunction", "kernel other"},
                            {"cuMemAllocFromPoolAsync", "256 bytes"},
                            {"cuMemcpyHtoDAsync_v2", "an upload"},
                            {"cuEventRecord", "ending a submission"},
                            {"cuEventSynchronize", "a download"},
                            {"cuCtxPushCurrent_v2", "entering the GPU's context"}};

/// The request at which the error occurs fails with it. After an error of the process each later request fails too;
/// after any other error none does.
void checkErrorAt(const KnownError &error, const Place &place) {
  INFO(error.symbol << " of " << place.call);
  const test::EmulatedGpu gpu;
  Matmul work;
  REQUIRE(work.prepare(*gpu, 0).isOk());
  test::failCall(place.call, 1, error.value);
  const Status status = requestAt(*gpu, work, place.call);
  if (error.symbol == "CUDA_ERROR_OUT_OF_MEMORY" && place.call == std::string("cuMemAllocFromPoolAsync")) {
    CHECK(status.isOk()); // the second attempt had memory
  } else if (error.symbol == "CUDA_ERROR_NOT_FOUND" && place.call == std::string("cuModuleGetFunction")) {
    CHECK(said(status) == "kernel other: the code has no entry 'matmul'");
  } else {
    INFO(status.str());
    CHECK_FALSE(status.isOk());
    CHECK(holds(said(status), error.described()));
    CHECK(holds(said(status), place.doing));
    CHECK(holds(said(status), std::string(cuda::adviceOn(error.result()))));
    const bool blamesCode = cuda::reachOf(error.result()) == Reach::code && holds(place.call, "cuModuleLoad");
    REQUIRE_FALSE(status.isOk());
    CHECK(status.kind() == (blamesCode ? ErrorKind::value_error : ErrorKind::device_error));
    if (error.symbol == "CUDA_ERROR_OUT_OF_MEMORY" && place.call != std::string("cuCtxPushCurrent_v2"))
      CHECK(holds(said(status), " free"));
  }
  const Status after = work.multiply(*gpu);
  INFO(after.str());
  CHECK(after.isOk() == !error.stops);
  if (!error.stops)
    return;
  CHECK(holds(said(status), "; the GPU does no further work for this process"));
  CHECK(said(after) == said(status));
  CHECK(said(gpu->allocate(16).status()) == said(status));
  CHECK(said(upload(*gpu, work.memory[0], work.a)) == said(status));
}

} // namespace

TEST_CASE("Each error of the driver says what was being done, and ends the work of its request or of the process") {
  for (const KnownError &error : knownErrors())
    if (error.value != 0)
      checkErrorAt(error, places[0]);
}

TEST_CASE("Each error of the driver does the same at other calls", "[full]") {
  for (const Place &place : places)
    for (const KnownError &error : knownErrors())
      if (error.value != 0)
        checkErrorAt(error, place);
}

TEST_CASE("An error that no release of CUDA describes belongs to its request and is named by its number") {
  checkErrorAt({1234, "", "", false}, places[0]);
}

namespace {

/// Calls whose errors a request need not report: they close something, or request something useful but not required.
const std::set<std::string> &mayBeSilent() {
  static const auto &calls =
      *new std::set<std::string>{"cuGetErrorName",      "cuGetErrorString",   "cuDevicePrimaryCtxRelease_v2",
                                 "cuCtxPopCurrent_v2",  "cuMemGetInfo_v2",    "cuMemPoolDestroy",
                                 "cuStreamSynchronize", "cuMemPoolTrimTo",    "cuMemFreeAsync",
                                 "cuMemFreeHost",       "cuStreamDestroy_v2", "cuStreamQuery",
                                 "cuEventDestroy_v2",   "cuModuleUnload",     "cuGraphDestroy",
                                 "cuGraphExecDestroy",  "cuEventQuery"};
  return calls;
}

/// The number of calls of each function while a GPU is opened, used and closed.
std::map<std::string, uint64_t> callCounts() {
  test::resetEmulated();
  const Status status = openAndUse();
  INFO(status.str());
  REQUIRE(status.isOk());
  std::map<std::string, uint64_t> counts;
  for (const std::string call : cuda::functionNames)
    counts[call] = test::callsOf(call);
  return counts;
}

/// The n-th call fails with an error of its request: the error is reported, and the GPU continues to work.
void checkOneFailure(const std::string &call, uint64_t nth) {
  INFO(call << ", call " << nth);
  test::resetEmulated();
  test::failCall(call, nth, 999);
  Status status;
  {
    const auto gpu = openGpu();
    status = gpu.isOk() ? useAll(**gpu) : gpu.status();
    test::failCall(call, 0, 0);
    const Status after = gpu.isOk() ? useAll(**gpu) : openAndUse();
    INFO(status.str() << ", then " << after.str());
    CHECK(after.isOk());
  }
  const std::string left = test::objectsLeft();
  INFO(status.str());
  CHECK((status.isOk() ? mayBeSilent().contains(call) || nth > 1 : holds(said(status), "CUDA_ERROR_UNKNOWN")));
  CHECK((left.empty() || mayBeSilent().contains(call) || call == "cuCtxPushCurrent_v2"));
  CHECK((left.empty() || left.size() < 60)); // not growing with each request
  CHECK(test::emulatorFault().empty());
}

/// The n-th call fails with an error of the process: each later request gives the same error, and closing succeeds.
void checkLastFailure(const std::string &call, uint64_t nth) {
  INFO(call << ", call " << nth);
  test::resetEmulated();
  test::failCall(call, nth, 700);
  const auto gpu = openGpu();
  const Status status = gpu.isOk() ? useAll(**gpu) : gpu.status();
  if (status.isOk() || !gpu.isOk())
    return; // it occurred while the GPU was opened or closed
  INFO(status.str());
  CHECK(holds(said(status), "CUDA_ERROR_ILLEGAL_ADDRESS"));
  CHECK(said(useAll(**gpu)) == said(status));
  CHECK((*gpu)->hasFinished((*gpu)->submission()));
}

void checkCalls(uint64_t most) {
  for (const auto &[call, count] : callCounts()) {
    if (call == "cuGetErrorName" || call == "cuGetErrorString") // called only after an error
      continue;
    INFO(call);
    CHECK(count > 0);
    for (uint64_t nth = 1; nth <= std::min(count, most); ++nth) {
      checkOneFailure(call, nth);
      checkLastFailure(call, nth);
    }
  }
}

} // namespace

TEST_CASE("An error of any call of the driver is one error, after which the GPU works and nothing is left behind") {
  checkCalls(1);
}

TEST_CASE("So is an error of a later call", "[full]") { checkCalls(8); }

TEST_CASE("A GPU that is closed leaves nothing behind") {
  test::resetEmulated();
  REQUIRE(openAndUse().isOk());
  CHECK(test::objectsLeft().empty());
}

TEST_CASE("A driver that fails while it is opened says which step failed, and why") {
  const auto refusal = [](const std::string &call, int result) {
    test::resetEmulated();
    test::failCall(call, 1, result);
    const Status status = openGpu().status();
    REQUIRE_FALSE(status.isOk());
    CHECK(status.kind() == ErrorKind::device_error);
    return status.message();
  };
  CHECK_THAT(refusal("cuInit", 803),
             Catch::Contains("does not start: system has unsupported display driver / cuda driver "
                             "combination (CUDA_ERROR_SYSTEM_DRIVER_MISMATCH); libcuda.so.1 and "
                             "the kernel driver come from different releases"));
  CHECK_THAT(refusal("cuInit", 804), Catch::Contains("cuda-compat"));
  CHECK_THAT(refusal("cuInit", 802), Catch::Contains("nvidia-fabricmanager"));
  CHECK_THAT(refusal("cuInit", 100), Catch::EndsWith("finds no GPU"));
  CHECK_THAT(refusal("cuDeviceGetCount", 999), Catch::Contains("cannot count its GPUs: unknown error"));
  CHECK_THAT(refusal("cuDeviceGet", 101), Catch::Contains("CUDA_VISIBLE_DEVICES"));
  CHECK_THAT(refusal("cuDevicePrimaryCtxRetain", 46),
             Catch::StartsWith("cuda:0: opening the GPU: CUDA-capable device(s) is/are busy or unavailable "
                               "(CUDA_ERROR_DEVICE_UNAVAILABLE); another process holds the GPU"));
  CHECK_THAT(refusal("cuMemPoolCreate", 801), Catch::StartsWith("cuda:0: creating a memory pool: "));
}

TEST_CASE("Code that the driver cannot compile is refused with what is missing") {
  const test::EmulatedGpu gpu;
  const auto refusal = [&](int result, const std::string &version) {
    KernelCode code = matmul();
    code.code.replace(code.code.find("8.0"), 3, version);
    for (const char *call : {"cuModuleLoadDataEx"}) {
      test::failCall(call, 1, result);
      const Status status = gpu->load({{"k", code}}).status();
      if (!status.isOk())
        return said(status);
    }
    return std::string("no error");
  };
  CHECK_THAT(refusal(221, "8.0"), Catch::StartsWith("cuda:0: loading kernel k: PTX JIT compiler library not found") &&
                                      Catch::Contains("install libnvidia-ptxjitcompiler.so.1") &&
                                      Catch::Contains("libnvidia-ptxjitcompiler1"));
  CHECK_THAT(
      refusal(222, "8.0"),
      Catch::StartsWith("kernel k: the driver cannot compile it: ") &&
          Catch::EndsWith(
              ": the code is PTX 8.0, which needs a driver 525 or newer (CUDA 12.0); the driver is for CUDA 12.0"));
  CHECK_THAT(refusal(223, "8.0"), Catch::Contains("CUDA_DISABLE_PTX_JIT"));
}

TEST_CASE("The text of a kernel tells which driver it needs") {
  CHECK(cuda::neededBy(".version 8.7\n.target sm_100") == "PTX 8.7, which needs a driver 570 or newer (CUDA 12.8)");
  CHECK(cuda::neededBy("//\n.version\t8.0\n") == "PTX 8.0, which needs a driver 525 or newer (CUDA 12.0)");
  CHECK(cuda::neededBy(".version 99.9") == "PTX 99.9, which needs a newer driver");
  for (const char *text : {"", ".target sm_80", ".version", ".version x"})
    CHECK(cuda::neededBy(text) == "PTX of unknown version");
}

TEST_CASE("The list of errors that end all work is that of cuda.h, and both lists of results have its values") {
#ifdef HALFTONE_CUDA_HEADER
  const StatusOr<std::string> header = readFile(HALFTONE_CUDA_HEADER);
  REQUIRE(header.isOk());
  std::map<std::string, const KnownError *> known;
  for (const KnownError &error : knownErrors())
    known[error.symbol] = &error;
  const size_t begin = header->find("typedef enum cudaError_enum"), end = header->find("} CUresult;");
  REQUIRE(begin < end);
  REQUIRE(end != header->npos);
  const std::string list = header->substr(begin, end - begin);
  // Errors of the list that end the process although their description in cuda.h does not say so.
  const std::set<std::string> more = {"CUDA_ERROR_DEINITIALIZED", "CUDA_ERROR_ECC_UNCORRECTABLE",
                                      "CUDA_ERROR_NVLINK_UNCORRECTABLE", "CUDA_ERROR_CONTEXT_IS_DESTROYED"};
  const std::regex entry(R"((CUDA_\w+)\s*=\s*(\d+))"),
      lastWords(R"(same\s+error|cannot\s+be\s+used\s+anymore|relaunched)");
  size_t from = 0;
  int entries = 0;
  for (auto found = std::sregex_iterator(list.begin(), list.end(), entry); found != std::sregex_iterator(); ++found) {
    std::string comment = list.substr(from, static_cast<size_t>(found->position()) - from);
    from = static_cast<size_t>(found->position() + found->length());
    comment = std::regex_replace(comment, std::regex(R"([\s*]+)"), " ");
    const std::string symbol = found->str(1);
    const int value = std::stoi(found->str(2));
    const bool stops = std::regex_search(comment, lastWords) || more.contains(symbol);
    INFO(symbol << " " << comment);
    ++entries;
    CHECK((cuda::reachOf(static_cast<cuda::Result>(value)) == Reach::process) == stops);
    if (auto own = known.find(symbol); own != known.end()) { // newer releases have more errors
      CHECK(own->second->value == value);
      CHECK(own->second->stops == stops);
    }
#define HALFTONE_DRIVER_RESULT(name, theirs, number, reach, advice)                                                    \
  if (symbol == #theirs)                                                                                               \
    CHECK((number) == value);
#include "runtime/devices/cuda/DriverResults.def"
  }
  CHECK(entries > 80);
#else
  WARN("skipped: cuda.h is not installed, or CUDA_HOME does not name its toolkit");
#endif
}
