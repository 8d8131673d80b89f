// The cache of kernel code: entries that it keeps and rejects, and damaged entries, which it never returns.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/KernelCache.h"
#include "tests/TemporaryFolder.h"
#include <catch2/catch.hpp>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace halftone;
using namespace halftone::compiler;
namespace fs = std::filesystem;

namespace {

struct Folder : TemporaryFolder {
  std::string cache() const { return (path / "a" / "cache").string(); }
  fs::path file(const std::string &key) const { return path / "a" / "cache" / codeId() / key; }
};

const std::string key = std::string(64, 'a');

KernelCode sample(const std::string &code = std::string("\x7f"
                                                        "ELF\0 code",
                                                        10)) {
  return {"halftone_aa", "loop", "triple|cpu|", "module {}", code};
}

std::string contents(const fs::path &path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

} // namespace

TEST_CASE("A kernel comes back from memory, and from disk in a later process", "[cache]") {
  Folder folder;
  {
    KernelCache cache(folder.cache());
    CHECK(cache.warning().empty());
    CHECK_FALSE(cache.find(key));
    CHECK(cache.insert(key, sample())->code == sample().code);
    auto found = cache.find(key);
    REQUIRE(found);
    CHECK(found->source == KernelCache::Source::memory);
  }
  KernelCache later(folder.cache());
  auto found = later.find(key);
  REQUIRE(found);
  CHECK(found->source == KernelCache::Source::disk);
  CHECK(found->kernel->symbol == "halftone_aa");
  CHECK(found->kernel->kind == "loop");
  CHECK(found->kernel->target == "triple|cpu|");
  CHECK(found->kernel->description == "module {}");
  CHECK(found->kernel->code == sample().code);
  CHECK(later.find(key)->source == KernelCache::Source::memory);
  CHECK_FALSE(later.find(std::string(64, 'b')));
  struct stat status;
  REQUIRE(::stat((folder.path / "a" / "cache").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0700);
}

TEST_CASE("An entry holds the keys of the cores that a kernel uses", "[cache]") {
  Folder folder;
  KernelCode kernel = sample();
  kernel.uses = {std::string(64, 'c'), std::string(64, 'd')};
  KernelCache(folder.cache()).insert(key, kernel);
  const auto found = KernelCache(folder.cache()).find(key);
  REQUIRE(found);
  CHECK(found->source == KernelCache::Source::disk);
  CHECK(found->kernel->uses == kernel.uses);
}

TEST_CASE("The code in memory is bounded, and that which was used last stays", "[cache]") {
  Folder folder;
  const auto keyOf = [](int i) { return std::string(62, 'b') + std::to_string(10 + i); };
  KernelCache cache(folder.cache(), usualCacheLimit, 5000);
  for (int i = 0; i < 20; ++i) {
    cache.insert(keyOf(i), sample(std::string(1000, static_cast<char>('A' + i))));
    CHECK(cache.bytesInMemory() <= 5000);
    CHECK(cache.find(keyOf(0))->kernel->code == std::string(1000, 'A'));
  }
  CHECK(cache.bytesInMemory() > 3000);
  CHECK(cache.find(keyOf(0))->source == KernelCache::Source::memory); // it was used repeatedly
  CHECK(cache.find(keyOf(19))->source == KernelCache::Source::memory);
  const auto early = cache.find(keyOf(5));
  REQUIRE(early);
  CHECK(early->source == KernelCache::Source::disk);
  CHECK(early->kernel->code == std::string(1000, 'F'));
  KernelCache small("none", usualCacheLimit, 10); // keeps the last entry, however large
  small.insert(keyOf(1), sample(std::string(1000, 'x')));
  CHECK(small.find(keyOf(1)));
  small.insert(keyOf(2), sample(std::string(1000, 'y')));
  CHECK_FALSE(small.find(keyOf(1)));
  CHECK(small.find(keyOf(2)));
}

TEST_CASE("A damaged file counts as none and is written anew", "[cache]") {
  Folder folder;
  KernelCache(folder.cache()).insert(key, sample());
  const std::string whole = contents(folder.file(key));
  REQUIRE(whole.size() > 100);
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = char(damaged[i] ^ 0x10);
    std::ofstream(folder.file(key), std::ios::binary) << damaged;
    INFO("byte " << i);
    REQUIRE_FALSE(KernelCache(folder.cache()).find(key));
  }
  for (size_t size = 0; size < whole.size(); ++size) {
    std::ofstream(folder.file(key), std::ios::binary) << whole.substr(0, size);
    INFO("cut to " << size);
    REQUIRE_FALSE(KernelCache(folder.cache()).find(key));
  }
  std::ofstream(folder.file(key), std::ios::binary) << whole << "x";
  CHECK_FALSE(KernelCache(folder.cache()).find(key));
  KernelCache(folder.cache()).insert(key, sample());
  CHECK(contents(folder.file(key)) == whole);
  // A file that is renamed to another key must not serve that key.
  fs::copy_file(folder.file(key), folder.file(std::string(64, 'b')));
  CHECK_FALSE(KernelCache(folder.cache()).find(std::string(64, 'b')));
}

TEST_CASE("An entry in the folder of another build is never found", "[cache]") {
  Folder folder;
  KernelCache(folder.cache()).insert(key, sample("old code"));
  const fs::path own = folder.file(key).parent_path(), other = own.parent_path() / "0.0.1-0123456789abcdef";
  const std::string before = contents(folder.file(key));
  REQUIRE(KernelCache(folder.cache()).find(key));
  fs::rename(own, other);
  KernelCache cache(folder.cache());
  CHECK_FALSE(cache.find(key));
  CHECK(cache.warning().empty());
  cache.insert(key, sample("new code"));
  CHECK(KernelCache(folder.cache()).find(key)->kernel->code == "new code");
  CHECK(contents(other / key) == before); // the other build may still need it
}

TEST_CASE("An entry of another format counts as none and is written anew", "[cache]") {
  Folder folder;
  KernelCache(folder.cache()).insert(key, sample());
  const std::string whole = contents(folder.file(key)), magic = whole.substr(0, whole.find('\n') + 1);
  std::string body = whole.substr(magic.size() + 8 + key.size() + 64 + 8); // after the key, the digest and the size
  REQUIRE(magic.starts_with("halftone kernel "));
  const auto entry = [&](const std::string &magicBytes, const std::string &entryKey, const std::string &bytes) {
    CacheFolder(folder.cache(), codeId(), magicBytes, usualCacheLimit).write(entryKey, bytes);
    fs::rename(folder.file(entryKey), folder.file(key));
  };
  entry(magic, key, body);
  REQUIRE(contents(folder.file(key)) == whole); // so each entry below differs from a valid one in only one respect
  SECTION("of an earlier format") { entry("halftone kernel 2\n", key, body); }
  SECTION("of a later format") { entry("halftone kernel 999\n", key, body); }
  SECTION("of another cache") { entry("halftone other 1\n", key, body); }
  SECTION("of another key") { entry(magic, std::string(64, 'b'), body); }
  SECTION("with a field more") { entry(magic, key, body + std::string(8, '\0')); }
  SECTION("with a field less") { entry(magic, key, body.substr(0, body.size() - 8)); }
  SECTION("with no field") { entry(magic, key, ""); }
  KernelCache cache(folder.cache());
  CHECK_FALSE(cache.find(key));
  CHECK(cache.warning().empty());
  cache.insert(key, sample());
  CHECK(contents(folder.file(key)) == whole);
}

TEST_CASE("Folders that others could have filled are refused", "[cache]") {
  Folder folder;
  const auto warning = [&] {
    KernelCache cache(folder.cache());
    cache.insert(key, sample()); // the cache in memory still works
    CHECK(cache.find(key)->source == KernelCache::Source::memory);
    return cache.warning();
  };
  fs::create_directories(folder.path / "a");
  SECTION("a symlink") {
    fs::create_directories(folder.path / "b");
    fs::create_directory_symlink(folder.path / "b", folder.path / "a" / "cache");
    CHECK_THAT(warning(), Catch::EndsWith("is a symlink; expected a folder"));
    CHECK(fs::is_empty(folder.path / "b"));
  }
  SECTION("a symlink below") {
    fs::create_directories(folder.path / "b");
    fs::create_directories(folder.path / "a" / "cache");
    fs::create_directory_symlink(folder.path / "b", folder.path / "a" / "cache" / codeId());
    CHECK_THAT(warning(), Catch::EndsWith("is a symlink; expected a folder"));
    CHECK(fs::is_empty(folder.path / "b"));
  }
  SECTION("writable by others") {
    fs::create_directories(folder.path / "a" / "cache");
    fs::permissions(folder.path / "a" / "cache", fs::perms::all);
    CHECK_THAT(warning(), Catch::Contains("can be written by other users"));
  }
  SECTION("a file") {
    std::ofstream(folder.path / "a" / "cache") << "x";
    CHECK_THAT(warning(), Catch::Contains("is not a folder"));
  }
  SECTION("an entry that is a symlink") {
    KernelCache(folder.cache()).insert(key, sample());
    fs::rename(folder.file(key), folder.path / "elsewhere");
    fs::create_symlink(folder.path / "elsewhere", folder.file(key));
    CHECK_FALSE(KernelCache(folder.cache()).find(key));
  }
  SECTION("an entry that is a pipe") {
    KernelCache cache(folder.cache());
    REQUIRE(::mkfifo(folder.file(key).c_str(), 0600) == 0);
    CHECK_FALSE(cache.find(key));
  }
}

TEST_CASE("A file that is no entry is not read beyond its header", "[cache]") {
  Folder folder;
  const auto bytesRead = [] {
    std::ifstream stream("/proc/self/io");
    std::string word;
    int64_t bytes = 0;
    stream >> word >> bytes;
    return bytes;
  };
  KernelCache(folder.cache()).insert(key, sample());
  constexpr int64_t huge = 200 << 20;
  SECTION("of nothing") { std::ofstream(folder.file(key), std::ios::binary | std::ios::trunc) << ""; }
  SECTION("with an entry at its front") {}
  fs::resize_file(folder.file(key), huge); // a sparse file
  const int64_t before = bytesRead();
  CHECK_FALSE(KernelCache(folder.cache()).find(key));
  CHECK(bytesRead() - before < (1 << 20));
}

TEST_CASE("an entry that could not be written is reported for good, whatever is written later", "[cache]") {
  Folder folder;
  KernelCache cache(folder.cache());
  const fs::path build = folder.file(key).parent_path();
  fs::remove(build);
  std::ofstream(build) << "in the way";
  cache.insert(key, sample());
  CHECK_THAT(cache.warning(), Catch::StartsWith("cannot write ") && Catch::EndsWith("Not a directory"));
  CHECK(cache.find(key)->source == KernelCache::Source::memory);
  fs::remove(build);
  cache.insert(std::string(64, 'b'), sample()); // recreates the folder
  CHECK_THAT(cache.warning(), Catch::EndsWith("Not a directory"));
  CHECK(KernelCache(folder.cache()).warning().empty());
  CHECK(KernelCache(folder.cache()).find(std::string(64, 'b')));
}

TEST_CASE("without a cache folder kernels are cached in memory", "[cache]") {
  KernelCache cache("none");
  CHECK(cache.warning().empty());
  cache.insert(key, sample());
  CHECK(cache.find(key)->source == KernelCache::Source::memory);
  CHECK_FALSE(KernelCache("none").find(key));
  CHECK(&KernelCache::shared("none") == &KernelCache::shared("none"));
}

TEST_CASE("A kernel is found in a pack if neither memory nor the disk has it", "[cache]") {
  Folder folder;
  const std::string pack = folder / "kernels.pack", onDisk = std::string(64, 'b'), in = std::string(64, 'c');
  REQUIRE(saveKernelPack(pack, codeId(), {{key, sample("a")}, {onDisk, sample("b")}, {in, sample("c")}}).isOk());
  KernelPacks packs(codeId(), "HALFTONE_TEST_PACKS");
  REQUIRE(packs.add(pack).isOk());
  const auto cacheWith = [&](const KernelPacks &some) {
    return std::make_unique<KernelCache>(folder.cache(), usualCacheLimit, KernelCache::usualMemoryLimit, some);
  };
  cacheWith(packs)->insert(onDisk, sample("of the disk"));
  const auto cache = cacheWith(packs);
  CHECK(cache->packWarning().empty());
  CHECK(cache->insert(key, sample("of memory"))->code == "of memory");
  CHECK(cache->find(key)->kernel->code == "of memory");
  auto found = cache->find(onDisk);
  CHECK(found->source == KernelCache::Source::disk);
  CHECK(found->kernel->code == "of the disk");
  found = cache->find(in);
  REQUIRE(found);
  CHECK(found->source == KernelCache::Source::pack);
  CHECK(found->kernel->code == "c");
  CHECK(cache->find(in)->source == KernelCache::Source::memory);
  CHECK_FALSE(cache->find(std::string(64, 'd')));
  CHECK_FALSE(fs::exists(folder.file(in))); // packs are not copied to the disk
  const KernelCache none("none", usualCacheLimit, KernelCache::usualMemoryLimit, packs);
  CHECK(none.warning().empty());

  // A damaged entry counts as none.
  std::string bytes = contents(pack);
  bytes.back() = char(bytes.back() ^ 1);
  std::ofstream(pack, std::ios::binary) << bytes;
  REQUIRE(packs.add(pack).isOk());
  CHECK_FALSE(cacheWith(packs)->find(in));
  CHECK(cacheWith(packs)->insert(in, sample("compiled"))->code == "compiled");
  CHECK(cacheWith(packs)->find(in)->source == KernelCache::Source::disk);
}

TEST_CASE("A key that is no file name stays in memory", "[cache]") {
  Folder folder;
  KernelCache cache(folder.cache());
  cache.insert("../../escape", sample());
  CHECK(cache.find("../../escape"));
  CHECK_FALSE(KernelCache(folder.cache()).find("../../escape"));
  CHECK_FALSE(fs::exists(folder.path / "escape"));
  CHECK_FALSE(fs::exists(folder.path / "a" / "escape"));
}

TEST_CASE("Threads and processes share one folder", "[cache]") {
  Folder folder;
  std::vector<pid_t> children;
  for (int process = 0; process < 4; ++process) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      bool fine = true;
      for (int round = 0; round < 25; ++round) {
        KernelCache cache(folder.cache());
        for (char digit : std::string("0123456789abcdef")) {
          const std::string name(64, digit), code(10000, digit);
          if (auto found = cache.find(name))
            fine &= found->kernel->code == code;
          else
            cache.insert(name, sample(code));
          if (round % 5 == process)
            ::unlink(folder.file(name).c_str());
        }
      }
      ::_exit(fine ? 0 : 1);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  KernelCache cache(folder.cache());
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (char digit : std::string("0123456789abcdef"))
        if (cache.insert(std::string(64, digit), sample(std::string(10000, digit)))->code != std::string(10000, digit))
          ++wrong;
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("A cache stays within its limit while it is written, and keeps what is read", "[cache]") {
  Folder folder;
  const int64_t limit = 200000;
  const std::string cacheFolder = folder.path / "cache";
  const auto bytesHeld = [&] {
    int64_t bytes = 0;
    for (const auto &entry : fs::recursive_directory_iterator(cacheFolder))
      bytes += entry.is_regular_file() ? int64_t(entry.file_size()) : 0;
    return bytes;
  };
  KernelCache cache(cacheFolder, limit);
  const std::string &used = key;
  cache.insert(used, sample(std::string(1000, 'c')));
  for (int i = 0; i < 100; ++i) {
    std::string other(64, '0');
    other.replace(0, 3, std::to_string(100 + i));
    cache.insert(other, sample(std::string(10000, 'c')));
    // Less than a second has passed since the write, so set the times as if the file was read an hour ago, and now.
    const fs::path file = fs::path(cacheFolder) / codeId() / used;
    const timespec hours[2] = {{::time(nullptr) - 7200, 0}, {::time(nullptr) - 7200, 0}};
    REQUIRE(::utimensat(AT_FDCWD, file.c_str(), hours, 0) == 0);
    REQUIRE(KernelCache(cacheFolder, limit).find(used));
    CHECK(bytesHeld() <= limit + limit / 16 + 11000);
  }
  CHECK(bytesHeld() >= limit / 2);
  CHECK(cache.warning().empty());
}
