// Kernel packs: round trips, and damaged, foreign and untrusted files, which give no code.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan/KernelPack.h"
#include "runtime/base/CacheFolder.h"
#include "runtime/base/FileLimits.h"
#include "runtime/base/Sha256.h"
#include "runtime/base/SizedText.h"
#include "tests/TemporaryFolder.h"
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <sys/stat.h>
#include <thread>
#include <tuple>
#include <unistd.h>

using namespace halftone;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
namespace fs = std::filesystem;

namespace {

const std::string codeId = "0.2.0-0123456789abcdef", magic = "halftone pack 1\n";

std::string keyOf(char digit) { return std::string(64, digit); }

/// Two kernels, of which one uses the core.
std::map<std::string, KernelCode> sample() {
  KernelCode matmul{"halftone_aa", "matmul", "triple|cpu|", "module {}",
                    std::string("\x7f"
                                "ELF\0 code",
                                10)};
  matmul.method = "4 x 24 sums";
  matmul.launch = {128, 4096};
  matmul.uses = {keyOf('c')};
  return {{keyOf('a'), matmul},
          {keyOf('b'), {"halftone_bb", "loop", "triple|cpu|", "", "loop code"}},
          {keyOf('c'), {"halftone_core_c", "core", "triple|cpu|", "", "core code"}}};
}

std::string contents(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

bool areEqual(const KernelCode &a, const KernelCode &b) { return writeKernelCode(a) == writeKernelCode(b); }

/// The number of kernels of sample() that the pack has.
int found(const KernelPack &pack) {
  int count = 0;
  for (const auto &[key, kernel] : sample())
    if (const std::optional<KernelCode> code = pack.find(key)) {
      CHECK(areEqual(*code, kernel));
      ++count;
    }
  return count;
}

/// A file of the format with this index and these bytes after it.
std::string sealed(const std::string &index, const std::string &entries) {
  std::string file = magic + sha256(index);
  putString(file, index);
  return file + entries;
}

using Rows = std::vector<std::tuple<std::string, uint64_t, uint64_t>>; // key, offset, size

std::string indexOf(const Rows &rows, std::optional<uint64_t> count = {}, const std::string &id = codeId) {
  std::string index;
  putString(index, id);
  putSize(index, count.value_or(rows.size()));
  for (const auto &[key, offset, size] : rows) {
    putString(index, key);
    putSize(index, offset);
    putSize(index, size);
  }
  return index;
}

struct Folder : TemporaryFolder {
  std::string pack = *this / "kernels.pack";

  int64_t save() const { return saveKernelPack(pack, codeId, sample()).valueOrThrow(); }
  std::shared_ptr<const KernelPack> open() const { return KernelPack::open(pack, codeId).valueOrThrow(); }
  /// The error of a file with these bytes.
  Status refusal(const std::string &bytes) const {
    write("other.pack", bytes);
    fs::permissions(*this / "other.pack", fs::perms::owner_read | fs::perms::owner_write);
    return KernelPack::open(*this / "other.pack", codeId).status();
  }
};

} // namespace

TEST_CASE("A pack gives back the kernels and cores that were saved, and equal kernels give equal bytes", "[pack]") {
  const Folder folder;
  const int64_t bytes = folder.save();
  CHECK(found(*folder.open()) == 3);
  CHECK_FALSE(folder.open()->find(keyOf('d')));
  CHECK_FALSE(folder.open()->find(""));
  const std::string whole = contents(folder.pack);
  CHECK(std::ssize(whole) == bytes);
  CHECK(whole.starts_with(magic));
  folder.save();
  CHECK(contents(folder.pack) == whole);
  CHECK(folder.entries() == 1); // no temporary file is left
  // An entry has the bytes that the cache on disk stores.
  for (const auto &[key, kernel] : sample())
    CHECK_THAT(whole, Contains(cacheEntry(kernelEntryMagic, key, writeKernelCode(kernel))));
  REQUIRE(saveKernelPack(folder.pack, codeId, {}).isOk());
  CHECK(found(*folder.open()) == 0);
}

TEST_CASE("A damaged byte makes a pack invalid, or one of its entries absent", "[pack]") {
  const Folder folder;
  folder.save();
  const std::string whole = contents(folder.pack);
  const size_t entries = whole.find(kernelEntryMagic);
  REQUIRE(entries != whole.npos);
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string bytes = whole;
    bytes[i] = char(bytes[i] ^ 0x10);
    std::ofstream(folder.pack, std::ios::binary) << bytes;
    INFO("byte " << i << " of " << whole.size() << "; entries begin at " << entries);
    const auto pack = KernelPack::open(folder.pack, codeId);
    REQUIRE(pack.isOk() == (i >= entries));
    if (pack.isOk())
      REQUIRE(found(**pack) == 2);
    else
      REQUIRE(pack.status().kind() == ErrorKind::value_error);
  }
  for (size_t size = 0; size < whole.size(); ++size) {
    INFO("cut to " << size);
    REQUIRE(folder.refusal(whole.substr(0, size)).kind() == ErrorKind::value_error);
  }
  CHECK_THAT(folder.refusal(whole + "x").message(), EndsWith("there are bytes that belong to no entry"));
}

TEST_CASE("An index that does not describe its file is refused, even if its checksum is right", "[pack]") {
  const Folder folder;
  const std::string entry = cacheEntry(kernelEntryMagic, keyOf('a'), writeKernelCode(sample().at(keyOf('a')))),
                    other = cacheEntry(kernelEntryMagic, keyOf('b'), writeKernelCode(sample().at(keyOf('b'))));
  const uint64_t size = entry.size(), both = size + other.size();
  const auto refused = [&](const Rows &rows, std::optional<uint64_t> count = {}) {
    const Status status = folder.refusal(sealed(indexOf(rows, count), entry + other));
    REQUIRE_FALSE(status.isOk());
    CHECK(status.kind() == ErrorKind::value_error);
    return status.message();
  };
  const auto a = std::tuple(keyOf('a'), uint64_t(0), size), b = std::tuple(keyOf('b'), size, uint64_t(other.size()));
  CHECK(folder.refusal(sealed(indexOf({a, b}), entry + other)).isOk()); // each file below differs in one respect
  CHECK_THAT(refused({b, a}), EndsWith("an entry that does not follow the previous one in the file"));
  CHECK_THAT(refused({a, a}), EndsWith("the keys of its index are not in ascending order"));
  CHECK_THAT(refused({{keyOf('b'), 0, size}, {keyOf('a'), size, other.size()}}),
             EndsWith("the keys of its index are not in ascending order"));
  for (const uint64_t offset : {uint64_t(0), size - 1, size + 1, both, ~uint64_t(0), uint64_t(1) << 63})
    CHECK_THAT(refused({a, {keyOf('b'), offset, other.size()}}),
               EndsWith("does not follow the previous one in the file"));
  for (const uint64_t length : {other.size() + 1, ~uint64_t(0), ~uint64_t(0) - size + 1, uint64_t(1) << 63})
    CHECK_THAT(refused({a, {keyOf('b'), size, length}}), EndsWith("does not follow the previous one in the file"));
  CHECK_THAT(refused({a, {keyOf('b'), size, other.size() - 1}}), EndsWith("bytes that belong to no entry"));
  CHECK_THAT(refused({a}), EndsWith("bytes that belong to no entry"));
  CHECK_THAT(refused({a, b}, 1), EndsWith("bytes that belong to no entry"));
  for (const uint64_t count : {uint64_t(3), ~uint64_t(0), uint64_t(1) << 63})
    CHECK_THAT(refused({a, b}, count), EndsWith("its index is cut short"));
  CHECK_THAT(folder.refusal(sealed("", "")).message(), EndsWith("its index is cut short"));
  std::string longIndex = magic + sha256("");
  putSize(longIndex, ~uint64_t(0));
  CHECK_THAT(folder.refusal(longIndex).message(), Contains("an index of 18446744073709551615 bytes"));

  // A key with the entry of another key has no entry.
  REQUIRE(folder.refusal(sealed(indexOf({{keyOf('b'), 0, size}}), entry)).isOk());
  const auto renamed = KernelPack::open(folder / "other.pack", codeId).valueOrThrow();
  CHECK_FALSE(renamed->find(keyOf('a')));
  CHECK_FALSE(renamed->find(keyOf('b')));
}

TEST_CASE("A pack of another code generation is refused, with both versions", "[pack]") {
  const Folder folder;
  folder.save();
  const Status status = KernelPack::open(folder.pack, "0.3.0-fedcba9876543210").status();
  REQUIRE_FALSE(status.isOk());
  CHECK(status.kind() == ErrorKind::value_error);
  CHECK(status.message() ==
        folder.pack + ": a kernel pack of the code generation " + codeId + "; this library has 0.3.0-fedcba9876543210");
  CHECK_THAT(folder.refusal(sealed(indexOf({}, 0, "\x1b[2J"), "")).message(), Contains("generation \\1B[2J;"));
  CHECK_THAT(folder.refusal("halftone pack 2\n" + std::string(100, 'x')).message(),
             EndsWith("not a kernel pack: it does not begin with \"halftone pack 1\""));
}

TEST_CASE("A file that others may have written, or that is no regular file, is refused", "[pack]") {
  const Folder folder;
  const mode_t before = ::umask(0);
  folder.save();
  ::umask(before);
  CHECK(found(*folder.open()) == 3); // it is written without the permissions that open() rejects
  const auto refusal = [&](const std::string &path) {
    const Status status = KernelPack::open(path, codeId).status();
    REQUIRE_FALSE(status.isOk());
    CHECK(status.kind() == ErrorKind::io_error);
    return status.message();
  };
  for (const fs::perms permission : {fs::perms::group_write, fs::perms::others_write}) {
    fs::permissions(folder.pack, permission, fs::perm_options::add);
    CHECK(refusal(folder.pack) == "cannot read " + folder.pack + ": it can be written by other users");
    fs::permissions(folder.pack, permission, fs::perm_options::remove);
  }
  if (::geteuid() == 0) {
    REQUIRE(::chown(folder.pack.c_str(), 12345, 12345) == 0);
    CHECK(refusal(folder.pack) == "cannot read " + folder.pack + ": it belongs to another user");
    REQUIRE(::chown(folder.pack.c_str(), 0, 0) == 0);
  }
  CHECK_THAT(refusal(folder / "absent"), EndsWith("absent: No such file or directory"));
  CHECK_THAT(refusal(folder.path), EndsWith("Is a directory"));
  fs::resize_file(folder.pack, detail::maxKernelPackBytes + 1); // a sparse file
  CHECK_THAT(refusal(folder.pack), EndsWith("it has more than 1073741824 bytes"));
  CHECK(saveKernelPack(folder / "absent/kernels.pack", codeId, sample()).status().kind() == ErrorKind::io_error);
}

TEST_CASE("An open pack is read to its end if the file is replaced, and loses entries if it is cut short", "[pack]") {
  const Folder folder;
  folder.save();
  const auto pack = folder.open();
  REQUIRE(saveKernelPack(folder.pack, codeId, {}).isOk());
  CHECK(found(*folder.open()) == 0);
  CHECK(found(*pack) == 3);
  folder.save();
  const auto cut = folder.open();
  const auto size = fs::file_size(folder.pack);
  fs::resize_file(folder.pack, size - 1);
  CHECK(found(*cut) == 2);
  fs::resize_file(folder.pack, 0);
  CHECK(found(*cut) == 0);
}

TEST_CASE("A variable lists packs, of which invalid ones are skipped with one warning", "[pack]") {
  const Folder folder;
  folder.save();
  std::map<std::string, KernelCode> other = sample();
  other[keyOf('b')].code = "second code";
  other[keyOf('d')] = other[keyOf('b')];
  REQUIRE(saveKernelPack(folder / "second.pack", codeId, other).isOk());
  REQUIRE(saveKernelPack(folder / "foreign.pack", "0.1.0-0000000000000000", other).isOk());
  const char *const variable = "HALFTONE_TEST_PACKS";
  const auto packsOf = [&](const std::string &value) {
    REQUIRE(::setenv(variable, value.c_str(), 1) == 0);
    return std::make_unique<KernelPacks>(codeId, variable);
  };
  CHECK_FALSE(packsOf("")->find(keyOf('a')));
  CHECK(packsOf("::")->warning().empty());
  const auto both = packsOf(folder.pack + "::" + folder / "second.pack" + ":");
  CHECK(both->warning().empty());
  CHECK(both->find(keyOf('b'))->code == "loop code"); // of the first pack
  CHECK(both->find(keyOf('d'))->code == "second code");
  CHECK_FALSE(both->find(keyOf('e')));
  const std::string value = folder / "absent" + ":" + folder / "foreign.pack" + ":" + folder.pack;
  const auto one = packsOf(value);
  CHECK(one->warning() == std::string(variable) + "=" + value +
                              ": expected kernel packs of this version, separated by ':'; cannot read " +
                              folder / "absent" + ": No such file or directory; " + folder / "foreign.pack" +
                              ": a kernel pack of the code generation 0.1.0-0000000000000000; this library has " +
                              codeId);
  CHECK(one->find(keyOf('a')));
  CHECK_FALSE(one->find(keyOf('d')));
  ::unsetenv(variable);
}

TEST_CASE("Packs are added and searched by several threads, and a path that is added again is reread", "[pack]") {
  const Folder folder;
  folder.save();
  KernelPacks packs(codeId, "HALFTONE_TEST_PACKS");
  REQUIRE(packs.add(folder.pack).isOk());
  CHECK_FALSE(packs.add(folder / "absent").isOk());
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        wrong += !packs.add(folder.pack).isOk();
        for (const auto &[key, kernel] : sample()) {
          const std::optional<KernelCode> code = packs.find(key);
          wrong += !code || !areEqual(*code, kernel);
        }
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(wrong == 0);
  REQUIRE(saveKernelPack(folder.pack, codeId, {}).isOk());
  CHECK(packs.find(keyOf('a')));
  REQUIRE(packs.add(folder.pack).isOk());
  CHECK_FALSE(packs.find(keyOf('a')));
}
