// The emulated NCCL: nccl* functions over devices of the emulated driver, across threads or processes.
// SPDX-License-Identifier: Apache-2.0
//
// HALFTONE_NCCL names this library in place of NCCL's libnccl.so.2. Environment: HALFTONE_EMULATOR_NCCL (version,
// 22105), HALFTONE_EMULATOR_NCCL_SECONDS (how long a rank waits for the others, 60).
#include "tests/emulator/driver/StreamWork.h"
#include "tests/emulator/nccl/Board.h"
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <functional>
#include <memory>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#define HALFTONE_EMULATED extern "C" __attribute__((visibility("default")))

extern "C" {
int cuCtxGetCurrent(void **context);
int cuCtxGetDevice(int *device);
int cuCtxPushCurrent_v2(void *context);
}

namespace {
using namespace halftone::emulator;
using Clock = std::chrono::steady_clock;

/// ncclResult_t.
enum Result : int { Success = 0, SystemError = 2, InvalidArgument = 4, InvalidUsage = 5, RemoteError = 6 };

struct UniqueId {
  char internal[128];
};

uint64_t number(const char *name, uint64_t otherwise) {
  const char *text = std::getenv(name);
  return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
}

thread_local std::string lastError;
int fail(Result result, std::string text) {
  lastError = std::move(text);
  return result;
}

/// A rank of a group. Work in streams keeps it alive.
struct Comm {
  Board *board = nullptr;
  int rank = 0, ranks = 0;
  void *context = nullptr;
  const std::chrono::seconds patience{number("HALFTONE_EMULATOR_NCCL_SECONDS", 60)};
  std::atomic<uint64_t> pieces{0}, done{0}; ///< chunks queued; chunks completed
  std::atomic<bool> isClosed{false}, hasFailed{false};

  Seat &own() const { return board->seats[static_cast<size_t>(rank)]; }
  bool haveAll(std::atomic<uint64_t> Seat::*count, uint64_t least) const {
    for (int other = 0; other < ranks; ++other)
      if ((board->seats[static_cast<size_t>(other)].*count).load() < least)
        return false;
    return true;
  }
};
struct Handle {
  std::shared_ptr<Comm> comm;
};

/// Returns true once all ranks have come this far, or after a timeout, after which the work fails.
std::function<bool()> onceAll(std::shared_ptr<Comm> comm, std::atomic<uint64_t> Seat::*count, uint64_t least) {
  return [=, start = std::make_shared<Clock::time_point>()] {
    if (*start == Clock::time_point())
      *start = Clock::now();
    return comm->haveAll(count, least) || Clock::now() - *start > comm->patience;
  };
}

void requireAll(Comm &comm, std::atomic<uint64_t> Seat::*count, uint64_t least, const MemoryDoor &memory) {
  if (comm.haveAll(count, least))
    return;
  comm.hasFailed = true;
  memory.fail("emulated NCCL: another rank did not come to a collective");
}

void giveOwn(Comm &comm, uint64_t piece, uint64_t from, const Call &call, const MemoryDoor &memory) {
  requireAll(comm, &Seat::consumed, piece - 1, memory);
  if (call.gives(comm.rank))
    memory.read(comm.board->bytes[static_cast<size_t>(comm.rank)].data(), from, call.elements * bytesOfType(call.type));
  comm.own().call = call;
  comm.own().arrived = piece;
}

void takeAll(Comm &comm, uint64_t piece, uint64_t to, const Call &call, const MemoryDoor &memory) {
  requireAll(comm, &Seat::arrived, piece, memory);
  for (int other = 0; other < comm.ranks; ++other)
    if (const Call &theirs = comm.board->seats[static_cast<size_t>(other)].call; theirs != call) {
      comm.hasFailed = true;
      memory.fail(
          fmt::format("emulated NCCL: rank {} combines {} elements of type {} for root {}, rank {} {} of type {} "
                      "for root {}",
                      comm.rank, call.elements, call.type, call.root, other, theirs.elements, theirs.type, theirs.root)
              .c_str());
    }
  std::vector<std::byte> result(call.elements * bytesOfType(call.type));
  combine(*comm.board, comm.ranks, call, result.data());
  comm.own().consumed = piece;
  if (call.takes(comm.rank))
    memory.write(to, result.data(), result.size());
  comm.done = piece;
}

/// Lets queued work run also while the host does not wait for it. Otherwise a process that waits for another one by
/// other means, such as MPI, would never reach the collective for which that process waits. A GPU runs by itself too.
void runAlone(const std::shared_ptr<Comm> &comm) {
  (void)cuCtxPushCurrent_v2(comm->context);
  for (uint64_t before = 0; !comm->isClosed; before = comm->done) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const uint64_t behind = comm->done;
    if (behind != before || behind == comm->pieces)
      continue;
    for (int i = 0; i < 200 && comm->done == behind && !comm->isClosed; ++i)
      if (halftoneEmulatorRunOne() != 0)
        return;
  }
}

thread_local int groupDepth = 0;
thread_local std::vector<std::function<int()>> groupCalls;

int queueCall(const std::shared_ptr<Comm> &comm, uint64_t from, uint64_t to, const Call &whole, void *stream) {
  const uint64_t size = bytesOfType(whole.type), most = pieceBytes / size;
  for (uint64_t begin = 0; begin < whole.elements; begin += most) {
    const Call call{std::min(most, whole.elements - begin), whole.type, whole.reduction, whole.root};
    const uint64_t piece = ++comm->pieces, offset = begin * size;
    const StreamWork give{onceAll(comm, &Seat::consumed, piece - 1),
                          [=](const MemoryDoor &memory) { giveOwn(*comm, piece, from + offset, call, memory); }};
    const StreamWork take{onceAll(comm, &Seat::arrived, piece),
                          [=](const MemoryDoor &memory) { takeAll(*comm, piece, to + offset, call, memory); }};
    if (halftoneEmulatorQueue(stream, give) != 0 || halftoneEmulatorQueue(stream, take) != 0)
      return fail(InvalidArgument, "the stream is none of the current context");
  }
  return Success;
}

/// Takes a seat, and waits until all others have one.
int join(Comm &comm, const std::string &name) {
  uint32_t free = 0;
  if (!comm.own().isTaken.compare_exchange_strong(free, 1))
    return fail(InvalidUsage, fmt::format("rank {} is there already", comm.rank));
  int device = 0;
  (void)cuCtxGetDevice(&device);
  comm.own().process = ::getpid();
  comm.own().device = device;
  ++comm.board->joined;
  const Clock::time_point start = Clock::now();
  while (comm.board->joined < static_cast<uint32_t>(comm.ranks)) {
    if (Clock::now() - start > comm.patience)
      return fail(SystemError, "not all ranks have come");
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  if (comm.rank == 0)
    Board::forget(name);
  for (int other = 0; other < comm.ranks; ++other)
    if (const Seat &seat = comm.board->seats[static_cast<size_t>(other)];
        other != comm.rank && seat.process == ::getpid() && seat.device == device)
      return fail(InvalidUsage, fmt::format("Duplicate GPU detected : rank {} and rank {} both on CUDA device {}",
                                            comm.rank, other, device));
  return Success;
}

} // namespace

HALFTONE_EMULATED int ncclGetVersion(int *version) {
  *version = static_cast<int>(number("HALFTONE_EMULATOR_NCCL", 22105));
  return Success;
}

HALFTONE_EMULATED const char *ncclGetErrorString(int result) {
  switch (result) {
  case Success:
    return "no error";
  case SystemError:
    return "unhandled system error (run with NCCL_DEBUG=INFO for details)";
  case InvalidArgument:
    return "invalid argument (run with NCCL_DEBUG=WARN for details)";
  case InvalidUsage:
    return "invalid usage (run with NCCL_DEBUG=WARN for details)";
  case RemoteError:
    return "remote process exited or there was a network error";
  default:
    return "unknown result code";
  }
}

HALFTONE_EMULATED const char *ncclGetLastError(void *) { return lastError.c_str(); }

HALFTONE_EMULATED int ncclGetUniqueId(UniqueId *id) {
  static std::atomic<int> count = 0;
  *id = {};
  std::snprintf(id->internal, sizeof id->internal, "/halftone-nccl-%d-%d", int(::getpid()), ++count);
  return Success;
}

HALFTONE_EMULATED int ncclCommInitRank(void **made, int ranks, UniqueId id, int rank) {
  if (ranks < 1 || ranks > mostRanks || rank < 0 || rank >= ranks)
    return fail(InvalidArgument, fmt::format("invalid rank {} of {}", rank, ranks));
  const std::string name(id.internal, ::strnlen(id.internal, sizeof id.internal));
  auto comm = std::make_shared<Comm>();
  comm->rank = rank;
  comm->ranks = ranks;
  if (cuCtxGetCurrent(&comm->context) != 0 || !comm->context)
    return fail(InvalidUsage, "no context is current");
  comm->board = Board::open(name);
  if (!comm->board)
    return fail(SystemError, "no shared memory " + name);
  if (const int result = join(*comm, name); result != Success)
    return result;
  std::thread([comm] { runAlone(comm); }).detach();
  *made = new Handle{std::move(comm)};
  return Success;
}

HALFTONE_EMULATED int ncclCommDestroy(void *given) {
  const std::unique_ptr<Handle> handle(static_cast<Handle *>(given));
  handle->comm->isClosed = true;
  return Success;
}

HALFTONE_EMULATED int ncclCommGetAsyncError(void *comm, int *error) {
  *error = static_cast<Handle *>(comm)->comm->hasFailed ? RemoteError : Success;
  return Success;
}

HALFTONE_EMULATED int ncclGroupStart() {
  ++groupDepth;
  return Success;
}

HALFTONE_EMULATED int ncclGroupEnd() {
  if (groupDepth == 0)
    return fail(InvalidUsage, "no group has been started");
  if (--groupDepth > 0)
    return Success;
  int result = Success;
  for (const auto &call : std::exchange(groupCalls, {}))
    if (result == Success)
      result = call();
  return result;
}

/// Queues the call, immediately or when the group of calls ends.
static int inGroup(const void *from, void *to, const Call &whole, void *comm, void *stream) {
  const int ranks = static_cast<Handle *>(comm)->comm->ranks;
  if (bytesOfType(whole.type) == 0 || (whole.reduction != Call::copy && whole.reduction != 0 && whole.reduction != 2) ||
      whole.root < Call::all || whole.root >= ranks)
    return fail(InvalidArgument,
                fmt::format("type {}, reduction {}, root {} of {}", whole.type, whole.reduction, whole.root, ranks));
  auto call = [=, own = static_cast<Handle *>(comm)->comm] {
    return queueCall(own, reinterpret_cast<uint64_t>(from), reinterpret_cast<uint64_t>(to), whole, stream);
  };
  if (groupDepth == 0)
    return call();
  groupCalls.emplace_back(std::move(call));
  return Success;
}

HALFTONE_EMULATED int ncclAllReduce(const void *from, void *to, size_t count, int type, int reduction, void *comm,
                                    void *stream) {
  return inGroup(from, to, {count, type, reduction}, comm, stream);
}

HALFTONE_EMULATED int ncclReduce(const void *from, void *to, size_t count, int type, int reduction, int root,
                                 void *comm, void *stream) {
  return inGroup(from, to, {count, type, reduction, root}, comm, stream);
}

HALFTONE_EMULATED int ncclBroadcast(const void *from, void *to, size_t count, int type, int root, void *comm,
                                    void *stream) {
  return inGroup(from, to, {count, type, Call::copy, root}, comm, stream);
}
