// Parts of batches, agreement between processes (represented by threads), and the arguments of a distribution.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/ProcessRun.h"
#include "halftone/Error.h"
#include "tests/runtime/communication/Threads.h"
#include <catch2/catch.hpp>
#include <cstdlib>

using namespace halftone;
using namespace halftone::detail;
using namespace halftone::test;

namespace {

/// The text that `body` throws in each thread; "" if it throws nothing.
std::vector<std::string> errorsOf(int size, const std::function<void(ProcessGroup &)> &body) {
  auto post = std::make_shared<Post>();
  std::vector<std::string> errors(static_cast<size_t>(size));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      ProcessGroup group(std::make_unique<ThreadCommunicator>(post, rank, size));
      try {
        body(group);
      } catch (const Error &error) {
        errors[static_cast<size_t>(rank)] = std::string(name(error.kind())) + ": " + error.message();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  return errors;
}

} // namespace

TEST_CASE("Each row of a batch is the part of one process, and parts differ by one row at most") {
  for (int64_t rows : {0, 1, 2, 3, 10, 97})
    for (int64_t processes : {1, 2, 3, 4, 8}) {
      int64_t next = 0;
      for (int64_t rank = 0; rank < processes; ++rank) {
        const RowRange range = rowsOf(rows, rank, processes);
        CHECK(range.first == next);
        CHECK(range.count() >= rows / processes);
        CHECK(range.count() <= rows / processes + 1);
        next = range.last;
      }
      CHECK(next == rows);
    }
}

TEST_CASE("Processes that agree go on; all others throw one error with both sides") {
  const std::vector<Fact> facts{{"layer 'dense'", "of policy float32"}, {"data", "of 3 batches"}};
  CHECK(errorsOf(3, [&](ProcessGroup &group) { requireAgreement(group, facts); }) == std::vector<std::string>(3));
  const std::vector<std::string> errors = errorsOf(3, [&](ProcessGroup &group) {
    std::vector<Fact> own = facts;
    if (group.rank() == 2)
      own[1].second = "of 4 batches";
    requireAgreement(group, own);
  });
  CHECK(errors == std::vector<std::string>(3,
                                           "ValueError: The processes of this run do not agree: rank 0 has data of 3 "
                                           "batches, rank 2 has data of 4 batches"));
  const std::vector<std::string> shorter = errorsOf(2, [&](ProcessGroup &group) {
    requireAgreement(group, group.rank() == 1 ? std::vector<Fact>{facts[0]} : facts);
  });
  CHECK(shorter == std::vector<std::string>(2,
                                            "ValueError: The processes of this run do not agree: rank 0 has data of 3 "
                                            "batches, rank 1 has nothing more"));
}

TEST_CASE("Every process gets the rows of all; an output without a row for each input is refused") {
  for (int64_t rows : {1, 2, 7}) {
    const std::vector<std::string> errors = errorsOf(3, [&](ProcessGroup &group) {
      const RowRange own = rowsOf(rows, group.rank(), group.size());
      std::vector<float> values;
      for (int64_t row = own.first; row < own.last; ++row)
        values.insert(values.end(), {static_cast<float>(row), static_cast<float>(-row)});
      if (values.empty())
        values = {9, 9}; // the row of a process without rows
      const auto count = static_cast<int64_t>(values.size()) / 2;
      const std::vector<float> all =
          gatherRowsOfAll(group, Tensor(std::move(values), {count, 2}), rows).to_vector<float>();
      for (int64_t row = 0; row < rows; ++row)
        if (all[static_cast<size_t>(2 * row)] != static_cast<float>(row) ||
            all[static_cast<size_t>(2 * row + 1)] != static_cast<float>(-row))
          throw Error(ErrorKind::internal_error, "another row");
    });
    CHECK(errors == std::vector<std::string>(3));
  }
  for (const std::string &error :
       errorsOf(2, [&](ProcessGroup &group) { (void)gatherRowsOfAll(group, Tensor::zeros({3, 2}), 4); }))
    CHECK_THAT(error,
               Catch::Contains("ValueError: An output of shape (3, 2) does not have one row for each of the 2 rows"));
}

TEST_CASE("A process without a distribution is rank 0 of 1; wrong arguments are refused") {
  CHECK(distribution::rank() == 0);
  CHECK(distribution::size() == 1);
  CHECK(!distribution::distribution());
  CHECK(processGroup() == nullptr);
  CHECK(isFirstProcess());
  CHECK(distribution::exchange_times().count == 0);
  distribution::barrier(); // returns immediately
  bool isWritten = false;
  writeInFirst([&] { isWritten = true; });
  CHECK(isWritten);
  distribution::set_distribution(std::nullopt); // does not join a group
  const auto textOf = [](const distribution::DataParallelArgs &args) -> std::string {
    try {
      (void)distribution::DataParallel(args);
    } catch (const Error &error) {
      return error.what();
    }
    return "";
  };
  CHECK(textOf({}).empty());
  CHECK(textOf({.check_weights_every = 10, .shard_optimizer_state = true}).empty());
  CHECK_THAT(textOf({.communicator = "tcp"}), Catch::Contains("ValueError") && Catch::Contains("communicator=tcp"));
  CHECK_THAT(textOf({.check_weights_every = -1}),
             Catch::Contains("ValueError") && Catch::Contains("check_weights_every=-1"));
}

TEST_CASE("A library that cannot be opened is one error, and the process stays alone") {
  ::setenv("HALFTONE_MPI", "/nowhere/libhalftone-mpi.so", 1);
  try {
    distribution::set_distribution(distribution::DataParallel());
    FAIL("it was opened");
  } catch (const Error &error) {
    CHECK(error.kind() == ErrorKind::runtime_error);
    CHECK_THAT(error.message(), Catch::StartsWith("HALFTONE_MPI=/nowhere/libhalftone-mpi.so: expected a library that "
                                                  "connects the processes: cannot use /nowhere/libhalftone-mpi.so"));
  }
  ::unsetenv("HALFTONE_MPI");
  CHECK(!distribution::distribution());
  CHECK(distribution::size() == 1);
}
