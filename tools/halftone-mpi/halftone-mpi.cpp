// Messages between processes by MPI, behind the interface of CommunicatorAbi.h.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/communication/CommunicatorAbi.h"
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mpi.h>
#include <sched.h>
#include <string>
#include <sys/prctl.h>
#include <unistd.h>
#include <vector>

namespace {

constexpr int64_t mostBytes = int64_t(1) << 30; // of one MPI message, whose count is an int
constexpr int dataTag = 0, farewellTag = 1;

MPI_Comm world = MPI_COMM_NULL;
HalftoneCommunicator self{};
std::vector<bool> hasLeft; // by rank
char farewell = 0;
std::atomic<bool> isAwaited = false; // a thread has nothing to do but wait for exchanges
double mostSeconds = 0;              // of an exchange; 0 for no bound
bool gaveUp = false;                 // because another process did not answer within the bound

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

/// Takes the farewells that have come.
void hearFarewells() {
  for (;;) {
    int isThere = 0;
    MPI_Status status;
    if (MPI_Iprobe(MPI_ANY_SOURCE, farewellTag, world, &isThere, &status) != MPI_SUCCESS || !isThere)
      return;
    char ignored = 0;
    MPI_Recv(&ignored, 1, MPI_CHAR, status.MPI_SOURCE, farewellTag, world, MPI_STATUS_IGNORE);
    hasLeft[static_cast<size_t>(status.MPI_SOURCE)] = true;
  }
}

/// The parts of an exchange that are under way.
struct Exchange {
  struct Part {
    int rank = 0;
    bool isReceive = false;
    int bytes = 0;
  };
  std::vector<MPI_Request> requests;
  std::vector<Part> parts;

  int post(const HalftoneMessage &message, bool isReceive) {
    for (int64_t begin = 0; begin == 0 || begin < message.bytes; begin += mostBytes) {
      auto *const data = static_cast<char *>(message.data) + begin;
      const int bytes = static_cast<int>(std::min(mostBytes, message.bytes - begin));
      requests.emplace_back();
      parts.push_back({message.rank, isReceive, bytes});
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

  /// A text about the first message that failed; empty if none did.
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

  /// A text about the first rank that has not answered.
  std::string silent() {
    size_t part = 0;
    while (part + 1 < parts.size() && !isOpen(part))
      ++part;
    char text[200];
    std::snprintf(text, sizeof text,
                  "rank %d has not answered rank %d for %g seconds, the bound that HALFTONE_EXCHANGE_SECONDS sets",
                  parts[part].rank, self.rank, mostSeconds);
    return text;
  }

  /// A text about a rank that has left while a message to or from it is open; empty if there is none. A rank that left
  /// behind its last message to this one has sent it, so the caller asks twice.
  std::string leaver() {
    hearFarewells();
    for (size_t i = 0; i < parts.size(); ++i)
      if (hasLeft[static_cast<size_t>(parts[i].rank)] && isOpen(i))
        return "rank " + std::to_string(parts[i].rank) + " has left the run while rank " + std::to_string(self.rank) +
               " waits for it";
    return "";
  }

  /// Messages that can no longer come are given up.
  void abandon() {
    for (MPI_Request &request : requests)
      if (request != MPI_REQUEST_NULL) {
        MPI_Cancel(&request);
        MPI_Request_free(&request);
      }
  }
};

/// The time between two looks for messages. After some looks it is sleep, so that threads that compute have the processor.
/// While a thread of this process does nothing but wait for exchanges, the sleep begins some milliseconds later: waking up
/// can take as long as sending a large message.
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
    constexpr double mostSecondsAwake = 0.02;
    if (!isAwaited.load(std::memory_order_relaxed))
      return false;
    const double now = MPI_Wtime();
    if (awakeSince_ == 0)
      awakeSince_ = now;
    return now - awakeSince_ < mostSecondsAwake;
  }

  int64_t count_ = 0;     // of looks
  double awakeSince_ = 0; // when a thread was first seen to wait; 0: none was
  int slack_;
};

int32_t exchange(const HalftoneMessage *sends, int64_t sendCount, const HalftoneMessage *receives, int64_t receiveCount,
                 char *error, int64_t errorBytes) {
  Exchange open;
  const auto give = [&](const std::string &text) {
    open.abandon();
    return failure(text, error, errorBytes);
  };
  for (bool isReceive : {true, false})
    for (int64_t i = 0; i < (isReceive ? receiveCount : sendCount); ++i)
      if (const int code = open.post((isReceive ? receives : sends)[i], isReceive); code != MPI_SUCCESS)
        return give("rank " + std::to_string((isReceive ? receives : sends)[i].rank) + ": " + textOf(code));
  std::vector<MPI_Status> statuses(open.requests.size());
  Patience patience;
  const double start = MPI_Wtime();
  for (std::string leaver;;) {
    int isDone = 0;
    const int code =
        MPI_Testall(static_cast<int>(open.requests.size()), open.requests.data(), &isDone, statuses.data());
    if (code != MPI_SUCCESS || isDone) {
      const std::string problem = open.problem(statuses, code == MPI_ERR_IN_STATUS);
      if (code != MPI_SUCCESS && problem.empty())
        return give(textOf(code));
      return problem.empty() ? 0 : give(problem);
    }
    if (!leaver.empty())
      return give(leaver);
    patience.once();
    if (patience.isLong()) {
      leaver = open.leaver();
      if (leaver.empty() && mostSeconds > 0 && MPI_Wtime() - start > mostSeconds) {
        gaveUp = true;
        return give(open.silent());
      }
    }
  }
}

/// Tells all others that this process ends, and waits for theirs, so that MPI_Finalize() meets nobody in a collective. If
/// one does not answer, the others get a second to report so, and then the run ends.
void leave() {
  for (int rank = 0; rank < self.size; ++rank)
    if (rank != self.rank)
      MPI_Send(&farewell, 1, MPI_CHAR, rank, farewellTag, world);
  hasLeft[static_cast<size_t>(self.rank)] = true;
  const double start = MPI_Wtime();
  while (std::find(hasLeft.begin(), hasLeft.end(), false) != hasLeft.end()) {
    hearFarewells();
    if (gaveUp && MPI_Wtime() - start > 1)
      MPI_Abort(world, 1);
    ::usleep(1000);
  }
  MPI_Finalize();
}

int join() {
  int isInitialized = 0, provided = 0, code = MPI_Initialized(&isInitialized);
  if (code == MPI_SUCCESS && !isInitialized) {
    // Without this, Open MPI would print a warning if a program starts another, as the reader of HDF5 files is.
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
  self.exchange = exchange;
  self.setAwaited = [](int32_t awaited) { isAwaited = awaited != 0; };
  hasLeft.assign(static_cast<size_t>(self.size), false);
  if (!isInitialized) // else the program's own code finalizes MPI
    std::atexit(leave);
  return MPI_SUCCESS;
}

} // namespace

extern "C" __attribute__((visibility("default"))) const HalftoneCommunicator *
halftone_open_communicator(int32_t abi, char *error, int64_t errorBytes) {
  if (abi != halftone::communicatorAbi) {
    failure("it belongs to another version of Halftone", error, errorBytes);
    return nullptr;
  }
  if (const char *bound = ::secure_getenv("HALFTONE_EXCHANGE_SECONDS"); bound && *bound) {
    char *end = nullptr;
    mostSeconds = std::strtod(bound, &end);
    if (*end || !(mostSeconds > 0)) {
      failure("HALFTONE_EXCHANGE_SECONDS needs a count of seconds above 0. Received: " + std::string(bound), error,
              errorBytes);
      return nullptr;
    }
  }
  if (world == MPI_COMM_NULL)
    if (const int code = join(); code != MPI_SUCCESS) {
      failure(textOf(code), error, errorBytes);
      return nullptr;
    }
  return &self;
}
