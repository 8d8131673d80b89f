// Messages between processes over MPI, behind the interface of CommunicatorAbi.h.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/Environment.h"
#include "runtime/communication/CommunicatorAbi.h"
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mpi.h>
#include <mutex>
#include <optional>
#include <sched.h>
#include <span>
#include <string>
#include <sys/prctl.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

constexpr int64_t maxBytes = int64_t(1) << 30; // per MPI message, whose count is an int
constexpr int dataTag = 0, farewellTag = 1;

MPI_Comm world = MPI_COMM_NULL;
HalftoneCommunicator self{};
auto &hasLeft = *new std::vector<bool>; // indexed by rank
char farewell = 0;
std::atomic<bool> isAwaited = false; // a thread is blocked on exchanges
double maxSeconds = 0;               // time limit of an exchange; 0 for none
using Label = std::array<char, halftone::labelBytes>;
Label ownLabel{};                       // of the current exchange
auto &labels = *new std::vector<Label>; // received labels, indexed by rank
bool gaveUp = false;                    // because another process did not answer within the time limit

int32_t failure(const std::string &text, char *error, int64_t errorBytes) {
  std::snprintf(error, static_cast<size_t>(errorBytes), "%s", text.c_str());
  return 1;
}

std::string textOf(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  return {text, static_cast<size_t>(length)};
}

/// Receives pending farewells.
void receiveFarewells() {
  for (;;) {
    int isPending = 0;
    MPI_Status status;
    if (MPI_Iprobe(MPI_ANY_SOURCE, farewellTag, world, &isPending, &status) != MPI_SUCCESS || !isPending)
      return;
    char ignored = 0;
    MPI_Recv(&ignored, 1, MPI_CHAR, status.MPI_SOURCE, farewellTag, world, MPI_STATUS_IGNORE);
    hasLeft[static_cast<size_t>(status.MPI_SOURCE)] = true;
  }
}

/// The pending messages of an exchange.
struct Exchange {
  struct Part {
    int rank = 0;
    bool isReceive = false;
    int bytes = 0;
    bool isLabel = false;
  };
  std::vector<MPI_Request> requests;
  std::vector<Part> parts;

  /// Posts the messages of one direction, with a label before the first message to or from each rank.
  int post(std::span<const HalftoneMessage> messages, bool isReceive) {
    std::vector<bool> isLabelled(labels.size());
    for (const HalftoneMessage &message : messages) {
      const auto rank = static_cast<size_t>(message.rank);
      Label &label = isReceive ? labels[rank] : ownLabel;
      if (!isLabelled[rank])
        if (const int code = post({message.rank, label.data(), halftone::labelBytes}, isReceive, true);
            code != MPI_SUCCESS)
          return code;
      isLabelled[rank] = true;
      if (const int code = post(message, isReceive, false); code != MPI_SUCCESS)
        return code;
    }
    return MPI_SUCCESS;
  }
  int post(const HalftoneMessage &message, bool isReceive, bool isLabel) {
    for (int64_t begin = 0; begin == 0 || begin < message.bytes; begin += maxBytes) {
      auto *const data = static_cast<char *>(message.data) + begin;
      const int bytes = static_cast<int>(std::min(maxBytes, message.bytes - begin));
      requests.emplace_back();
      parts.push_back({message.rank, isReceive, bytes, isLabel});
      const int code = isReceive ? MPI_Irecv(data, bytes, MPI_BYTE, message.rank, dataTag, world, &requests.back())
                                 : MPI_Isend(data, bytes, MPI_BYTE, message.rank, dataTag, world, &requests.back());
      if (code != MPI_SUCCESS) {
        requests.pop_back();
        parts.pop_back();
        return code;
      }
    }
    return MPI_SUCCESS;
  }

  /// Describes the first rank that sent a different label; empty if there is none.
  std::string mismatch() {
    for (size_t i = 0; i < parts.size(); ++i)
      if (const Label &label = labels[static_cast<size_t>(parts[i].rank)];
          parts[i].isLabel && parts[i].isReceive && !isOpen(i) && label != ownLabel) {
        std::pair<int, const Label *> first(self.rank, &ownLabel), second(parts[i].rank, &label);
        if (first.first > second.first)
          std::swap(first, second);
        const auto text = [](const Label &of) { return std::string(of.data(), ::strnlen(of.data(), of.size())); };
        return "the processes are not in step: rank " + std::to_string(first.first) + " is in " + text(*first.second) +
               ", rank " + std::to_string(second.first) + " in " + text(*second.second);
      }
    return "";
  }

  /// Describes the first failed message; empty if there is none.
  std::string problem(const std::vector<MPI_Status> &statuses, bool failed) const {
    for (size_t i = 0; i < parts.size(); ++i) {
      const std::string rank = std::to_string(parts[i].rank);
      const int code = failed ? statuses[i].MPI_ERROR : MPI_SUCCESS;
      if (code == MPI_ERR_TRUNCATE)
        return "rank " + rank + " sent more bytes than the " + std::to_string(parts[i].bytes) + " that rank " +
               std::to_string(self.rank) + " expects: the processes are not in step";
      if (code != MPI_SUCCESS && code != MPI_ERR_PENDING)
        return "rank " + rank + ": " + textOf(code);
      int bytes = 0;
      if (code == MPI_SUCCESS && parts[i].isReceive && MPI_Get_count(&statuses[i], MPI_BYTE, &bytes) == MPI_SUCCESS &&
          bytes != parts[i].bytes)
        return "rank " + rank + " sent " + std::to_string(bytes) + " bytes where rank " + std::to_string(self.rank) +
               " expects " + std::to_string(parts[i].bytes) + ": the processes are not in step";
    }
    return "";
  }

  bool isOpen(size_t part) {
    int isDone = 1;
    return requests[part] != MPI_REQUEST_NULL &&
           MPI_Request_get_status(requests[part], &isDone, MPI_STATUS_IGNORE) == MPI_SUCCESS && !isDone;
  }

  /// Describes the first rank that has not answered.
  std::string silent() {
    size_t part = 0;
    while (part + 1 < parts.size() && !isOpen(part))
      ++part;
    char text[200];
    std::snprintf(text, sizeof text,
                  "rank %d has not answered rank %d for %g seconds, the limit set by HALFTONE_EXCHANGE_SECONDS",
                  parts[part].rank, self.rank, maxSeconds);
    return text;
  }

  /// Describes a rank that has left while a message to or from it is pending; empty if there is none. A rank that left
  /// after its last message to this one has already sent that message, so the caller asks twice.
  std::string leaver() {
    receiveFarewells();
    for (size_t i = 0; i < parts.size(); ++i)
      if (hasLeft[static_cast<size_t>(parts[i].rank)] && isOpen(i))
        return "rank " + std::to_string(parts[i].rank) + " has left the run while rank " + std::to_string(self.rank) +
               " waits for it";
    return "";
  }

  /// Cancels messages that can no longer arrive.
  void abandon() {
    for (MPI_Request &request : requests)
      if (request != MPI_REQUEST_NULL) {
        MPI_Cancel(&request);
        MPI_Request_free(&request);
      }
  }
};

/// The interval between polls. After a number of polls the thread sleeps, so that computing threads get the processor.
/// While a thread of this process is blocked on exchanges, sleeping begins some milliseconds later: waking up can take
/// as long as sending a large message.
class Patience {
public:
  Patience() : slack_(::prctl(PR_GET_TIMERSLACK)) { ::prctl(PR_SET_TIMERSLACK, 1000UL); } // nanoseconds
  ~Patience() { ::prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(slack_)); }
  Patience(const Patience &) = delete;
  void once() {
    if (++count_ <= 100)
      return;
    if (staysAwake())
      ::sched_yield();
    else
      ::usleep(count_ > 20000 ? 100 : 10);
  }
  bool isLong() const { return count_ % 64 == 63; }

private:
  bool staysAwake() {
    constexpr double maxSecondsAwake = 0.02;
    if (!isAwaited.load(std::memory_order_relaxed))
      return false;
    const double now = MPI_Wtime();
    if (awakeSince_ == 0)
      awakeSince_ = now;
    return now - awakeSince_ < maxSecondsAwake;
  }

  int64_t count_ = 0;     // number of polls
  double awakeSince_ = 0; // when a blocked thread was first seen; 0: never
  int slack_;
};

int32_t exchange(const char *label, const HalftoneMessage *sends, int64_t sendCount, const HalftoneMessage *receives,
                 int64_t receiveCount, char *error, int64_t errorBytes) {
  Exchange open;
  const auto give = [&](const std::string &text) {
    open.abandon();
    return failure(text, error, errorBytes);
  };
  std::copy_n(label, halftone::labelBytes, ownLabel.begin());
  for (bool isReceive : {true, false})
    if (const int code = open.post(isReceive ? std::span(receives, static_cast<size_t>(receiveCount))
                                             : std::span(sends, static_cast<size_t>(sendCount)),
                                   isReceive);
        code != MPI_SUCCESS)
      return give(textOf(code));
  std::vector<MPI_Status> statuses(open.requests.size());
  Patience patience;
  const double start = MPI_Wtime();
  for (std::string leaver;;) {
    int isDone = 0;
    const int code =
        MPI_Testall(static_cast<int>(open.requests.size()), open.requests.data(), &isDone, statuses.data());
    if (code != MPI_SUCCESS || isDone) {
      std::string problem = open.mismatch();
      if (problem.empty())
        problem = open.problem(statuses, code == MPI_ERR_IN_STATUS);
      if (code != MPI_SUCCESS && problem.empty())
        return give(textOf(code));
      return problem.empty() ? 0 : give(problem);
    }
    if (patience.isLong())
      if (const std::string mismatch = open.mismatch(); !mismatch.empty() || !leaver.empty())
        return give(mismatch.empty() ? leaver : mismatch);
    patience.once();
    if (patience.isLong()) {
      leaver = open.leaver();
      if (leaver.empty() && maxSeconds > 0 && MPI_Wtime() - start > maxSeconds) {
        gaveUp = true;
        return give(open.silent());
      }
    }
  }
}

/// Tells all other processes that this one is ending, and waits for their farewells, so that MPI_Finalize() finds no
/// process in a collective. If one does not answer, the others get a second to report it before the run ends.
void leave() {
  for (int rank = 0; rank < self.size; ++rank)
    if (rank != self.rank)
      MPI_Send(&farewell, 1, MPI_CHAR, rank, farewellTag, world);
  hasLeft[static_cast<size_t>(self.rank)] = true;
  const double start = MPI_Wtime();
  while (std::find(hasLeft.begin(), hasLeft.end(), false) != hasLeft.end()) {
    receiveFarewells();
    if (gaveUp && MPI_Wtime() - start > 1)
      MPI_Abort(world, 1);
    ::usleep(1000);
  }
  MPI_Finalize();
}

int join() {
  int isInitialized = 0, provided = 0, code = MPI_Initialized(&isInitialized);
  if (code == MPI_SUCCESS && !isInitialized) {
    // Otherwise Open MPI warns if a program starts another, such as the reader of HDF5 files.
    ::setenv("OMPI_MCA_mpi_warn_on_fork", "0", 0);
    code = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
  } else if (code == MPI_SUCCESS) {
    code = MPI_Query_thread(&provided);
  }
  if (code == MPI_SUCCESS && provided < MPI_THREAD_SERIALIZED)
    return MPI_ERR_UNSUPPORTED_OPERATION;
  if (code == MPI_SUCCESS)
    code = MPI_Comm_dup(MPI_COMM_WORLD, &world);
  if (code == MPI_SUCCESS)
    code = MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  if (code == MPI_SUCCESS)
    code = MPI_Comm_rank(world, &self.rank);
  if (code == MPI_SUCCESS)
    code = MPI_Comm_size(world, &self.size);
  if (code != MPI_SUCCESS)
    return code;
  self.setAwaited = [](int32_t awaited) { isAwaited = awaited != 0; };
  hasLeft.assign(static_cast<size_t>(self.size), false);
  labels.resize(static_cast<size_t>(self.size));
  self.exchange = exchange;
  if (!isInitialized) // otherwise the program's own code finalizes MPI
    std::atexit(leave);
  return MPI_SUCCESS;
}

/// Initializes MPI on a separate thread. Initialization waits for all processes without a time limit, and a process
/// that ends or hangs before joining never answers. Returns false on timeout; a later call continues to wait.
bool joinsInTime(int &code) {
  struct Joining {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<int> code;
  };
  static Joining *joining = nullptr;
  if (!joining) {
    joining = new Joining;
    const auto work = [state = joining] {
      const int joined = join();
      const std::lock_guard lock(state->mutex);
      state->code = joined;
      state->changed.notify_all();
    };
    try {
      std::thread(work).detach();
    } catch (const std::system_error &) { // no thread could be started: this one joins, however long it takes
      work();
    }
  }
  std::unique_lock lock(joining->mutex);
  const bool isDone = joining->changed.wait_for(lock, std::chrono::duration<double>(maxSeconds),
                                                [] { return joining->code.has_value(); });
  code = joining->code.value_or(MPI_SUCCESS);
  return isDone;
}

} // namespace

extern "C" __attribute__((visibility("default"))) const HalftoneCommunicator *
halftone_open_communicator(int32_t abi, char *error, int64_t errorBytes) {
  if (abi != halftone::communicatorAbi) {
    failure("it belongs to another version of Halftone", error, errorBytes);
    return nullptr;
  }
  if (const std::string bound = halftone::environmentValue("HALFTONE_EXCHANGE_SECONDS"); !bound.empty()) {
    char *end = nullptr;
    constexpr double limit = 1e9; // longer than any run
    maxSeconds = std::strtod(bound.c_str(), &end);
    if (*end || !(maxSeconds > 0) || !(maxSeconds <= limit)) {
      failure("HALFTONE_EXCHANGE_SECONDS=" + bound + ": expected a number of seconds above 0", error, errorBytes);
      return nullptr;
    }
  }
  if (!self.exchange) {
    int code = MPI_SUCCESS;
    if (maxSeconds > 0 && !joinsInTime(code)) {
      char text[200];
      std::snprintf(text, sizeof text,
                    "some process has not joined the run for %g seconds, the limit set by HALFTONE_EXCHANGE_SECONDS",
                    maxSeconds);
      failure(text, error, errorBytes);
      return nullptr;
    }
    if (maxSeconds == 0)
      code = join();
    if (code != MPI_SUCCESS) {
      failure(textOf(code), error, errorBytes);
      return nullptr;
    }
  }
  return &self;
}
