// Plan files: round trips, damage, and random bytes.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan/PlanFile.h"
#include "tests/TemporaryFolder.h"
#include "tests/runtime/RepeatPlans.h"
#include <catch2/catch.hpp>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <random>
#include <unistd.h>
#include <zlib.h>

using namespace halftone;
namespace fs = std::filesystem;

namespace {

/// Gives damaged bytes a correct checksum, as an attacker would.
void seal(std::string &bytes) {
  if (bytes.size() < 16)
    return;
  auto crc = static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef *>(bytes.data()) + 16, bytes.size() - 16));
  for (int i = 0; i < 4; ++i)
    bytes[12 + i] = static_cast<char>(crc >> (8 * i));
}

/// The bytes of testExecutable() without the numbers of cores of both kernels, which follow code, method and
/// launch shape.
std::string withoutCores(std::string bytes) {
  const std::string code = "object";
  size_t at = bytes.find(code);
  bytes.erase(at + code.size() + 8 + std::string("32-byte vectors").size() + 16, 8);
  at = bytes.find(code, at + code.size());
  bytes.erase(at + code.size() + 8 + 16, 8);
  return bytes;
}

/// A plan that fetches a shadow of @w instead of its own result.
Executable shadowed(int64_t n) {
  Executable exe = test::testExecutable(n);
  exe.plan.slots.push_back({SlotKind::shadow, exe.variables[0].type, 0});
  exe.shadows = {{"w_halved", "halve,100", exe.variables[0].type, 0, {}, false, test::launchOf("halve", n, {2}, {8})}};
  std::get<CopyStep>(exe.plan.steps[2]).from = 8;
  return exe;
}

using Folder = TemporaryFolder;

} // namespace

TEST_CASE("an executable survives being written and read") {
  Executable exe = shadowed(100);
  LaunchStep part = std::get<LaunchStep>(exe.plan.steps[0]);
  part.joined = true;
  part.buffers[2] = 6;
  exe.plan.steps.insert(exe.plan.steps.begin() + 1, part);
  const std::string bytes = writeExecutable(exe);
  StatusOr<Executable> read = readExecutable(bytes);
  INFO(read.status().str());
  REQUIRE(read.isOk());
  CHECK(writeExecutable(*read) == bytes);
  CHECK(print(*read) == print(exe));
  CHECK(read->buildId == "test");
  CHECK(read->constants == exe.constants);
  CHECK(read->kernels.at("add").code == "object");
  CHECK(read->kernels.at("add").description == "linalg text");
  REQUIRE(read->ledger.size() == 1);
  CHECK(read->ledger[0].to == float16);
  CHECK(read->ledger[0].storage);
  CHECK_FALSE(read->ledger[0].fused);
  CHECK(read->signature.feeds == exe.signature.feeds);
  REQUIRE(read->shadows.size() == 1);
  CHECK(read->shadows[0].function == "halve,100");
  CHECK(read->shadows[0].refresh.buffers == std::vector<SlotId>{2, 8});
  CHECK(std::get<LaunchStep>(read->plan.steps[1]).joined);
  CHECK(std::get<LaunchStep>(read->plan.steps[5]).predicate->slot == 1);
  CHECK(std::get<CopyStep>(read->plan.steps[6]).predicate->negated);
}

TEST_CASE("a plan file holds collectives") {
  const Executable exe = test::sharingExecutable();
  const StatusOr<Executable> read = readExecutable(writeExecutable(exe));
  REQUIRE(read.isOk());
  CHECK(print(*read) == print(exe));
  CHECK(std::get<CollectiveStep>(read->plan.steps[2]).to == std::vector<SlotId>{8});
  CHECK(std::holds_alternative<WaitStep>(read->plan.steps[6]));

  const Executable divided = test::dividingExecutable(90, 1);
  const StatusOr<Executable> readDivided = readExecutable(writeExecutable(divided));
  REQUIRE(readDivided.isOk());
  CHECK(print(*readDivided) == print(divided));
  const CollectiveStep &scatter = std::get<CollectiveStep>(readDivided->plan.steps[2]);
  CHECK(scatter.kind == CollectiveKind::scattered_sum);
  CHECK(scatter.offsets == std::vector<std::vector<int64_t>>{{0, 30, 90}});
  CHECK(scatter.rank == 1);
}

TEST_CASE("a plan file holds repeats and strides") {
  for (const test::RepeatCase &each : test::repeatCases()) {
    const StatusOr<Executable> read = readExecutable(writeExecutable(each.exe));
    INFO(read.status().str());
    REQUIRE(read.isOk());
    CHECK(print(*read) == print(each.exe));
  }
  const StatusOr<Executable> read = readExecutable(writeExecutable(test::whileCase(9, 0, 1).exe));
  CHECK(std::get<RepeatStep>(read->plan.steps[3]).running == Predicate{4, false});
  CHECK(readExecutable(writeExecutable(test::scanCase(3, 16, true, test::CarryPlace::two_slots).exe))
            ->plan.slots[3]
            .strides == std::vector<Stride>{{64, 2, 1}});
}

TEST_CASE("a plan file of version 8, whose slots have no offset and no strides, is read") {
  const std::string now = writeExecutable(test::testExecutable(5));
  std::string bytes = withoutCores(now);
  // The offset of each slot and its number of strides follow the kind, dtype, number of extents, extents and index.
  size_t at = bytes.find("train.cpp:42", bytes.find("net/dense_1") + 40) + 12; // the end of the ledger
  at += 8;                                                                     // the count of slots
  for (const Slot &slot : test::testExecutable(5).plan.slots) {
    at += 8 * (4 + slot.type.shape.size());
    bytes.erase(at, 16);
  }
  REQUIRE(bytes.size() == now.size() - 2 * 8 - 8 * 16);
  bytes[8] = 8;
  seal(bytes);
  const StatusOr<Executable> read = readExecutable(bytes);
  INFO(read.status().str());
  REQUIRE(read.isOk());
  CHECK(writeExecutable(*read) == now);
}

TEST_CASE("a plan file of version 9, whose kernels use no cores, is read") {
  const std::string now = writeExecutable(test::testExecutable(5));
  std::string bytes = withoutCores(now);
  bytes[8] = 9;
  seal(bytes);
  const StatusOr<Executable> read = readExecutable(bytes);
  INFO(read.status().str());
  REQUIRE(read.isOk());
  CHECK(writeExecutable(*read) == now);
}

TEST_CASE("a plan file holds cores, and one with a core that is missing is refused") {
  Executable exe = test::testExecutable(5);
  exe.kernels["c"] = {"halftone_core_sums", "core", "x86-64-v2", "", "object"};
  exe.kernels["add"].uses = {"c"};
  const StatusOr<Executable> read = readExecutable(writeExecutable(exe));
  INFO(read.status().str());
  REQUIRE(read.isOk());
  CHECK(read->kernels.at("add").uses == std::vector<std::string>{"c"});
  CHECK(read->kernels.at("c").isCore());
  CHECK(read->kernels.at("c").symbol == "halftone_core_sums");
  exe.kernels.erase("c");
  CHECK_THAT(readExecutable(writeExecutable(exe)).status().message(),
             Catch::Contains("kernel add uses c, which is missing"));
}

TEST_CASE("a plan file is refused with the reason") {
  std::string bytes = writeExecutable(test::testExecutable());
  auto messageOf = [](const std::string &b) {
    StatusOr<Executable> read = readExecutable(b);
    REQUIRE(!read.isOk());
    CHECK(read.status().kind() == ErrorKind::value_error);
    return read.status().message();
  };
  CHECK_THAT(messageOf(""), Catch::Contains("magic"));
  CHECK_THAT(messageOf("PK\3\4 and more than sixteen bytes"), Catch::Contains("magic"));
  CHECK_THAT(messageOf(bytes.substr(0, bytes.size() / 2)), Catch::Contains("checksum"));
  std::string other = bytes;
  for (const char version : {7, 11}) {
    other[8] = version;
    CHECK_THAT(messageOf(other), Catch::Contains(fmt::format("format version {}, this library reads versions 8 to 10",
                                                             static_cast<int>(version))));
  }
  other = bytes;
  other[100] ^= 1;
  CHECK_THAT(messageOf(other), Catch::Contains("checksum"));
  other = bytes.substr(0, bytes.size() - 3);
  seal(other);
  CHECK_THAT(messageOf(other), Catch::Contains("ends within a number at byte"));
  other = bytes + "x";
  seal(other);
  CHECK_THAT(messageOf(other), Catch::Contains("bytes after the end at byte"));
  other = bytes;
  other[16 + 6] = 1; // a byte of the name's length
  seal(other);
  CHECK_THAT(messageOf(other), Catch::Contains("a length of 281474976710660 exceeds the remaining bytes"));
  Executable bad = test::testExecutable();
  bad.plan.slots[0].index = 5;
  CHECK_THAT(messageOf(writeExecutable(bad)), Catch::Contains("slot 0: feed 5 does not exist"));
}

static void mutate(const std::string &good, int leastAccepted) {
  std::mt19937 random(7);
  auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  int accepted = 0, refused = 0;
  for (int round = 0; round < 10000; ++round) {
    std::string bytes = good;
    for (size_t changes = 1 + below(4); changes > 0; --changes) {
      const size_t at = below(bytes.size());
      switch (below(6)) {
      case 0:
        bytes[at] = static_cast<char>(random());
        break;
      case 1:
        bytes[at] ^= static_cast<char>(1 << below(8));
        break;
      case 2:
        bytes.erase(at, 1 + below(40));
        break;
      case 3:
        bytes.insert(at, bytes.substr(below(bytes.size()), below(40)));
        break;
      case 4:
        bytes.resize(at);
        break;
      default:
        for (size_t i = at; i < std::min(bytes.size(), at + 8); ++i)
          bytes[i] = i == at + 7 && random() % 2 ? '\x7f' : '\xff';
      }
      if (bytes.empty())
        bytes = "H";
    }
    if (round % 10 != 0) { // a correct checksum, so that the reader reaches the fields
      if (bytes.size() >= 12)
        bytes.replace(0, 12, good, 0, 12);
      seal(bytes);
    }
    StatusOr<Executable> read = readExecutable(bytes);
    if (read.isOk()) {
      ++accepted;
      CHECK(verify(*read).isOk());
      CHECK(!print(*read).empty());
      continue;
    }
    ++refused;
    if (read.status().kind() != ErrorKind::value_error || read.status().message().empty())
      FAIL("round " << round << ": " << read.status().str());
  }
  INFO(accepted << " accepted");
  CHECK(refused > 5000);
  CHECK(accepted > leastAccepted); // plans with other names or other code are valid
}

TEST_CASE("10,000 mutated plan files end in an error or a verified plan") { mutate(writeExecutable(shadowed(5)), 100); }

TEST_CASE("10,000 mutated files of plans with repeats end in an error or a verified plan") {
  mutate(writeExecutable(test::nestedCase(3, 5, 16).exe), 100);
}

TEST_CASE("every length of a cut plan file is refused") {
  const std::string good = writeExecutable(test::testExecutable(5));
  for (size_t length = 0; length < good.size(); ++length) {
    std::string bytes = good.substr(0, length);
    seal(bytes);
    if (readExecutable(bytes).isOk())
      FAIL("accepted at " << length);
  }
  CHECK(readExecutable(good).isOk());
}

TEST_CASE("a plan file on disk is replaced whole, and each error names its path") {
  Folder folder;
  const std::string path = folder.path / "step.plan";
  const Executable exe = test::testExecutable();
  REQUIRE(saveExecutable(exe, path).isOk());
  REQUIRE(saveExecutable(exe, path).isOk()); // over its own file
  StatusOr<Executable> read = loadExecutable(path);
  REQUIRE(read.isOk());
  CHECK(writeExecutable(*read) == writeExecutable(exe));
  CHECK(std::distance(fs::directory_iterator(folder.path), {}) == 1);

  Status missing = loadExecutable(folder.path / "none.plan").status();
  CHECK(missing.kind() == ErrorKind::io_error);
  CHECK_THAT(missing.message(), Catch::Contains("none.plan: No such file"));
  Status directory = loadExecutable(folder.path).status();
  CHECK(directory.kind() == ErrorKind::io_error);
  CHECK_THAT(directory.message(), Catch::Contains("Is a directory"));
  Status unwritable = saveExecutable(exe, folder.path / "no" / "step.plan");
  CHECK(unwritable.kind() == ErrorKind::io_error);
  CHECK_THAT(unwritable.message(), Catch::Contains("step.plan: No such file"));
  Status ontoFolder = saveExecutable(exe, folder.path);
  CHECK(ontoFolder.kind() == ErrorKind::io_error);
  std::ofstream(path) << "";
  Status empty = loadExecutable(path).status();
  CHECK(empty.kind() == ErrorKind::value_error);
  CHECK_THAT(empty.message(), Catch::Contains("step.plan: not a plan file"));
}
