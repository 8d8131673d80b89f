// Connects this process with the others, compares facts across them, and gathers rows from all.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/ProcessRun.h"
#include "halftone/Error.h"
#include "runtime/TensorAccess.h"
#include "runtime/base/ConfigurationEpoch.h"
#include "runtime/base/Environment.h"
#include "runtime/base/ForkGate.h"
#include "runtime/base/LibexecFile.h"
#include "runtime/base/Sha256.h"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <mutex>
#include <unistd.h>

namespace halftone {

namespace detail {

namespace {

struct Distributed {
  std::mutex mutex;
  std::optional<distribution::DataParallel> value;
  std::shared_ptr<ProcessGroup> group; // set when joined, kept until the process ends
};
Distributed &distributed() {
  static Distributed &only = *new Distributed;
  return only;
}

std::string mpiLibrary() {
  if (const std::string given = environmentValue("HALFTONE_MPI"); !given.empty())
    return given;
  if (const std::string path = libexecFile("libhalftone-mpi.so", R_OK); !path.empty())
    return path;
  throw Error(
      ErrorKind::runtime_error,
      fmt::format("Cannot find libhalftone-mpi.so, which sends messages by MPI: expected "
                  "libexec/halftone/libhalftone-mpi.so in a folder above {}, or its path in HALFTONE_MPI. It is "
                  "built if CMake finds MPI",
                  ownFile().string()));
}

std::unique_ptr<Communicator> openNamed() {
  StatusOr<std::unique_ptr<Communicator>> opened = openCommunicator(mpiLibrary());
  if (!opened.isOk() && !environmentValue("HALFTONE_MPI").empty() && !isOfEnvironment(opened.status().message()))
    environmentError(opened.status().kind(), "HALFTONE_MPI",
                     "a library that connects the processes: " + opened.status().message())
        .orThrow();
  return std::move(opened).valueOrThrow();
}

std::string textOf(const std::vector<Fact> &facts) {
  std::string text;
  for (const auto &[name, value] : facts)
    text += fmt::format("{}{}{}{}", name, '\0', value, '\0');
  return text;
}
std::vector<Fact> factsOf(const std::string &text) {
  std::vector<std::string> words;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\0', at);
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  std::vector<Fact> facts;
  for (size_t i = 0; i + 1 < words.size(); i += 2)
    facts.emplace_back(words[i], words[i + 1]);
  return facts;
}

/// The first difference between the facts of rank 0 and of another rank.
std::string differenceText(const std::vector<Fact> &first, const std::vector<Fact> &other, size_t rank) {
  for (size_t i = 0; i < std::max(first.size(), other.size()); ++i) {
    if (i < std::min(first.size(), other.size()) && first[i] == other[i])
      continue;
    const auto side = [&](const std::vector<Fact> &facts) {
      return i < facts.size() ? fmt::format("{} {}", facts[i].first, facts[i].second) : std::string("nothing more");
    };
    return fmt::format("The processes of this run do not agree: rank 0 has {}, rank {} has {}", side(first), rank,
                       side(other));
  }
  return "";
}

} // namespace

std::shared_ptr<ProcessGroup> processGroup() {
  Distributed &state = distributed();
  const ForkSafeLock lock(state.mutex);
  return state.value && state.group && state.group->size() > 1 ? state.group : nullptr;
}

bool isFirstProcess() { return distribution::rank() == 0; }

RowRange rowsOf(int64_t rows, int64_t rank, int64_t processes) {
  return {rows / processes * rank + std::min(rank, rows % processes),
          rows / processes * (rank + 1) + std::min(rank + 1, rows % processes)};
}
RowRange ownRows(int64_t rows) { return rowsOf(rows, distribution::rank(), distribution::size()); }

void addLines(std::string_view text, std::vector<Fact> &facts) {
  for (size_t line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    facts.emplace_back(fmt::format("line {} of the program:", line), text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void requireAgreement(ProcessGroup &group, const std::vector<Fact> &facts) {
  const std::string text = textOf(facts);
  std::vector<std::string> all;
  group
      .run("the comparison of the processes",
           [&](Collectives &collectives) -> Status {
             StatusOr<std::vector<std::string>> digests = collectives.gather(sha256(text));
             HALFTONE_RETURN_IF_ERROR(digests.status());
             if (std::ranges::all_of(*digests, [&](const std::string &each) { return each == digests->front(); }))
               return {};
             StatusOr<std::vector<std::string>> texts = collectives.gather(text);
             HALFTONE_RETURN_IF_ERROR(texts.status());
             all = *std::move(texts);
             return {};
           })
      .orThrow();
  for (size_t rank = 1; rank < all.size(); ++rank)
    if (const std::string difference = differenceText(factsOf(all[0]), factsOf(all[rank]), rank); !difference.empty())
      throw Error(ErrorKind::value_error, difference);
}

/// The result that rank 0 reports to all: "" or the kind of an error and its message.
static std::string wordOfFirst(ProcessGroup &group, const std::string &own) {
  std::string first;
  group
      .run("what rank 0 has done",
           [&](Collectives &collectives) -> Status {
             StatusOr<std::vector<std::string>> words = collectives.gather(own);
             HALFTONE_RETURN_IF_ERROR(words.status());
             first = std::move(words->front());
             return {};
           })
      .orThrow();
  return first;
}

void writeInFirst(const std::function<void()> &write) {
  const std::shared_ptr<ProcessGroup> group = processGroup();
  if (!group)
    return write();
  std::string own;
  if (group->rank() == 0)
    try {
      write();
    } catch (const Error &error) {
      own = static_cast<char>(error.kind()) + error.message();
    }
  if (const std::string word = wordOfFirst(*group, own); !word.empty())
    throw Error(static_cast<ErrorKind>(word[0]), word.substr(1));
}

void meet(std::string_view name) {
  if (const std::shared_ptr<ProcessGroup> group = processGroup())
    group->run(name, [](Collectives &collectives) { return collectives.gather("").status(); }).orThrow();
}

Tensor gatherRowsOfAll(ProcessGroup &group, const Tensor &own, int64_t rows) {
  const RowRange ownRange = rowsOf(rows, group.rank(), group.size());
  const Tensor host = TensorAccess::onHost(own);
  if (host.shape().rank() == 0 || host.shape()[0] != std::max<int64_t>(ownRange.count(), 1))
    throw Error(ErrorKind::value_error,
                fmt::format("An output of shape {} does not have one row for each of the {} rows of this process's "
                            "part of the batch: the parts of several processes cannot be concatenated",
                            host.shape().str(), ownRange.count()));
  std::vector<int64_t> dims = host.shape().dims();
  const int64_t rowBytes = TensorAccess::bytes(host) / dims[0];
  dims[0] = rows;
  Tensor all = TensorAccess::allocate(host.dtype(), Shape(dims));
  std::byte *const data = TensorAccess::mutableData(all);
  std::vector<std::span<std::byte>> parts;
  for (int rank = 0; rank < group.size(); ++rank) {
    const RowRange range = rowsOf(rows, rank, group.size());
    parts.emplace_back(data + range.first * rowBytes, static_cast<size_t>(range.count() * rowBytes));
  }
  std::memcpy(parts[static_cast<size_t>(group.rank())].data(), TensorAccess::data(host),
              static_cast<size_t>(ownRange.count() * rowBytes));
  group
      .run(fmt::format("the outputs of {} rows", rows),
           [&](Collectives &collectives) { return collectives.gatherInPlace(parts); })
      .orThrow();
  return all;
}

} // namespace detail

namespace distribution {
using namespace detail;

DataParallel::DataParallel(const DataParallelArgs &args) : args_(args) {
  if (args.communicator != "mpi")
    throw Error(ErrorKind::value_error,
                fmt::format("DataParallel needs `communicator` \"mpi\". Received: communicator={}", args.communicator));
  if (args.check_weights_every < 0)
    throw Error(ErrorKind::value_error, fmt::format("DataParallel needs `check_weights_every` of at least 0. Received: "
                                                    "check_weights_every={}",
                                                    args.check_weights_every));
}

void set_distribution(const std::optional<DataParallel> &value) {
  const std::shared_ptr<ProcessGroup> before = processGroup();
  {
    Distributed &state = distributed();
    const ForkSafeLock lock(state.mutex);
    if (value && !state.group)
      state.group = std::make_shared<ProcessGroup>(openNamed());
    state.value = value;
  }
  if (processGroup() != before)
    bumpConfigurationEpoch(); // programs hold the processes with which they compute sums
}

std::optional<DataParallel> distribution() {
  Distributed &state = distributed();
  const ForkSafeLock lock(state.mutex);
  return state.value;
}

int64_t rank() {
  const std::shared_ptr<ProcessGroup> group = processGroup();
  return group ? group->rank() : 0;
}
int64_t size() {
  const std::shared_ptr<ProcessGroup> group = processGroup();
  return group ? group->size() : 1;
}

void barrier() {
  const ExchangeScope scope("barrier()");
  meet("");
}

ExchangeTimes exchange_times() {
  const std::shared_ptr<ProcessGroup> group = processGroup();
  const GroupTimes times = group ? group->times() : GroupTimes();
  return {times.count, times.seconds, times.waited};
}

} // namespace distribution
} // namespace halftone
