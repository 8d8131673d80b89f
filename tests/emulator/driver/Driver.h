// The state behind the driver functions: identical devices, their contexts, and the objects that handles name.
// SPDX-License-Identifier: Apache-2.0
//
// Environment, read at cuInit: HALFTONE_EMULATOR_SEED (orders, 0: as written; registers), HALFTONE_EMULATOR_CAPABILITY
// (80), HALFTONE_EMULATOR_MEMORY (bytes), HALFTONE_EMULATOR_DRIVER (version, 12000), HALFTONE_EMULATOR_DEVICES (number,
// 1), HALFTONE_EMULATOR_STUB (1: like the stub library with which programs are linked), HALFTONE_EMULATOR_POOLS (0:
// like a GPU without memory pools, 1), HALFTONE_EMULATOR_FAIL ("cuLaunchKernel 3 700": the third call of this function
// returns this result), HALFTONE_EMULATOR_ACCESSES (1: wavefronts and sectors are counted, AccessCounts.h).
#pragma once
#include "tests/emulator/Block.h"
#include "tests/emulator/LoadedModule.h"
#include "tests/emulator/driver/DriverTypes.h"
#include "tests/emulator/driver/Failures.h"
#include "tests/emulator/driver/Streams.h"
#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>

#define HALFTONE_EMULATED extern "C" __attribute__((visibility("default")))

namespace halftone::emulator {

/// A function that returns a result other than success.
struct DriverError {
  Result result;
};

/// Fails with InvalidValue unless `holds`.
inline void expect(bool holds, Result otherwise = Result::InvalidValue) {
  if (!holds)
    throw DriverError{otherwise};
}

struct Function {
  /// The static and dynamic shared memory of a launch together are limited to the maximum static memory of a kernel,
  /// unless its attribute is raised.
  Function(std::shared_ptr<LoadedModule> module, const Kernel *kernel)
      : module(std::move(module)), kernel(kernel),
        dynamicSharedLimit(LoadedModule::mostStaticBytes - kernel->staticSharedBytes) {}

  std::shared_ptr<LoadedModule> module;
  const Kernel *kernel;
  uint32_t dynamicSharedLimit; ///< per launch; the attribute of a function may raise it
};

struct LaunchShape {
  std::array<uint32_t, 3> grid;
  std::array<uint32_t, 3> threads;
  uint32_t sharedBytes;
};

struct LoadedImage {
  std::shared_ptr<LoadedModule> module;
  std::map<std::string, std::unique_ptr<Function>, std::less<>> functions;
};

struct Settings {
  uint64_t seed = 0;
  uint32_t capability = 80;
  uint64_t memory = uint64_t(4) << 30;
  int driverVersion = 12000;
  int devices = 1;
  bool isStub = false;
  bool hasPools = true;
  bool countsAccesses = false;

  static Settings fromEnvironment();
  uint32_t sharedBytesPerBlock() const;
};

/// A memory pool, as far as streams can observe it: an allocation in one stream waits for memory that another stream
/// freed, if the pool may add dependencies. The emulated driver always does so, a GPU's driver only if it finds no
/// better memory.
struct Pool {
  bool addsDependencies = true;
  const Stream *freedIn = nullptr; ///< the stream in which its memory was last freed
  std::shared_ptr<Mark> freed;
};

/// Releases the driver's lock for a moment. The caller holds it once.
void letOthersWork();

/// Everything that belongs to the context of one device.
struct Context {
  Context(const Settings &settings, int device)
      : settings(settings), device(device), memory(settings.memory), random(settings.seed),
        streams(random, letOthersWork) {
    if (settings.countsAccesses)
      counts.accesses.emplace();
  }
  ~Context();
  Context(const Context &) = delete;
  Context &operator=(const Context &) = delete;

  Settings settings;
  int device;
  int retained = 0;
  Result sticky = Result::Success; ///< the result of the fault that stopped the context
  DeviceMemory memory;             ///< outlives the members below
  Random random;
  Streams streams;
  LaunchCounts counts;
  std::map<const void *, size_t> pinned; ///< host memory that copies read late: start -> bytes
  std::unordered_map<const void *, std::unique_ptr<LoadedImage>> images;
  std::set<const Function *> functions;
  std::unordered_map<const void *, std::unique_ptr<Event>> events;
  std::map<const void *, std::unique_ptr<Pool>> pools;
  std::map<uint64_t, Pool *> poolOf; ///< the pool of each allocation, by address
  uint64_t poolWaits = 0;            ///< dependencies between streams added by allocations
  uint64_t idleWaits = 0;            ///< host waits that ended with no work left
  std::map<const void *, std::shared_ptr<void>> graphs, executions;
  uint64_t releaseThreshold = 0;

  /// Runs `finish`, by which the host waits for queued work.
  template <class F> void wait(F finish) {
    const bool wasIdle = streams.isIdle();
    finish();
    idleWaits += !wasIdle && streams.isIdle();
  }
  bool isPinned(const void *start, size_t bytes) const;
  Stream *streamOf(void *handle);
  Event &eventOf(void *handle);
  Function &functionOf(void *handle);
  /// Names the existing objects, as "2 events, 1 module".
  std::string left() const;
};

class Driver {
public:
  static Driver &get();

  std::recursive_mutex mutex;
  bool isInitialised = false;
  Settings settings;
  std::map<int, std::unique_ptr<Context>> contexts; ///< by device
  std::string faultText;                            ///< text of the last fault
  std::string leftText;                             ///< of the last closed context
  Failures failures = Failures::fromEnvironment();
  std::string accessTable; ///< the last one requested

  bool holds(const Context *context) const;
  /// Stops the context: it does no further work, and each function returns this result.
  static void stop(Context &context, Result result);
  /// Records the context's fault, prints it, and drops all work queued there.
  Result note(Context &context, const Fault &fault);
};

/// The object named by `handle` in one of a context's tables.
template <typename T> T &objectOf(const std::map<const void *, std::shared_ptr<void>> &table, const void *handle) {
  auto found = table.find(handle);
  expect(found != table.end(), Result::InvalidHandle);
  return *static_cast<T *>(found->second.get());
}

/// Adds a new object to the table and returns its handle.
template <typename T> void *addObject(std::map<const void *, std::shared_ptr<void>> &table, T object) {
  auto made = std::make_shared<T>(std::move(object));
  table[made.get()] = made;
  return made.get();
}

/// The context that the calling thread has made current.
extern thread_local Context *currentContext;
/// The contexts that were current before the thread pushed others, oldest first.
extern thread_local std::vector<Context *> contextsBelow;

/// Runs f(context) as a driver function: under the lock, with a current context and no earlier fault. `function` is the
/// name of the calling driver function.
template <typename F> int withContext(F f, const char *function = __builtin_FUNCTION()) {
  Driver &driver = Driver::get();
  std::lock_guard lock(driver.mutex);
  const Result planned = driver.failures.next(function);
  if (planned != Result::Success && stopsContext(planned) && driver.holds(currentContext))
    driver.stop(*currentContext, planned);
  if (planned != Result::Success)
    return static_cast<int>(planned);
  if (!driver.isInitialised)
    return static_cast<int>(Result::NotInitialized);
  if (!driver.holds(currentContext))
    return static_cast<int>(Result::InvalidContext);
  Context &context = *currentContext;
  if (context.sticky != Result::Success)
    return static_cast<int>(context.sticky);
  try {
    f(context);
    return static_cast<int>(Result::Success);
  } catch (const DriverError &error) {
    return static_cast<int>(error.result);
  } catch (const Fault &fault) {
    return static_cast<int>(driver.note(context, fault));
  } catch (const std::bad_alloc &) {
    return static_cast<int>(Result::OutOfMemory);
  }
}

/// A launch with its parameters copied from `parameters`, one pointer per parameter. Checks its shape against the
/// kernel and the device.
Launch makeLaunch(const Context &context, const Function &function, const LaunchShape &shape, void **parameters);
void runIn(Context &context, const Launch &launch);

} // namespace halftone::emulator
