// Whole files: which are replaced, which are written in place, and which bytes remain if a write fails.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/WriteFile.h"
#include "tests/TemporaryFolder.h"
#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace halftone;
namespace fs = std::filesystem;

namespace {

using Folder = TemporaryFolder;

std::string contents(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void put(const std::string &path, const std::string &text) { std::ofstream(path, std::ios::binary) << text; }

struct stat statusOf(const std::string &path) {
  struct stat status{};
  REQUIRE(::lstat(path.c_str(), &status) == 0);
  return status;
}

bool isRoot() { return ::geteuid() == 0; }

/// The result of `work` in a child process, in which it may change limits and descriptors.
bool inChild(bool (*work)(const Folder &), const Folder &folder) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0)
    ::_exit(work(folder) ? 0 : 1);
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return status == 0;
}

} // namespace

TEST_CASE("A new file has the mode that the umask leaves; an old one keeps its own and its owner", "[file]") {
  Folder folder;
  const mode_t mask = ::umask(027);
  REQUIRE(writeFile(folder / "new", {"a", "", "bc"}).isOk());
  ::umask(mask);
  CHECK(contents(folder / "new") == "abc");
  CHECK((statusOf(folder / "new").st_mode & 07777) == 0640);
  REQUIRE(::chmod((folder / "new").c_str(), 0751) == 0);
  const bool given = isRoot() && ::chown((folder / "new").c_str(), 12345, 54321) == 0;
  REQUIRE(writeFile(folder / "new", {"other"}).isOk());
  CHECK(contents(folder / "new") == "other");
  const struct stat after = statusOf(folder / "new");
  CHECK((after.st_mode & 07777) == 0751);
  CHECK(after.st_uid == (given ? 12345 : ::geteuid()));
  if (given)
    CHECK(after.st_gid == 54321);
  REQUIRE(writeFile(folder / "new", {}).isOk());
  CHECK(contents(folder / "new").empty());
  CHECK(folder.entries() == 1);
}

TEST_CASE("A reader that has the old file open keeps the old contents", "[file]") {
  Folder folder;
  put(folder / "f", "old");
  std::ifstream reader(folder / "f");
  REQUIRE(writeFile(folder / "f", {"new"}).isOk());
  CHECK(std::string(std::istreambuf_iterator<char>(reader), {}) == "old");
  CHECK(contents(folder / "f") == "new");
}

TEST_CASE("writeFile follows symlinks, which stay", "[file]") {
  Folder folder;
  fs::create_directory(folder / "sub");
  put(folder / "sub/real", "old");
  fs::create_symlink("sub/real", folder / "link");
  fs::create_symlink("link", folder / "chain");
  fs::create_symlink("sub/absent", folder / "dangling");
  fs::create_symlink("ring2", folder / "ring1");
  fs::create_symlink("ring1", folder / "ring2");
  REQUIRE(writeFile(folder / "chain", {"new"}).isOk());
  CHECK(contents(folder / "sub/real") == "new");
  REQUIRE(writeFile(folder / "dangling", {"made"}).isOk());
  CHECK(contents(folder / "sub/absent") == "made");
  for (const char *name : {"link", "chain", "dangling"})
    CHECK(S_ISLNK(statusOf(folder / name).st_mode));
  Status ring = writeFile(folder / "ring1", {"x"});
  REQUIRE_FALSE(ring.isOk());
  CHECK_THAT(ring.message(), Catch::Contains("ring1: Too many levels of symbolic links"));
}

TEST_CASE("writeFile writes into devices and pipes, which stay", "[file]") {
  Folder folder;
  REQUIRE(writeFile("/dev/null", {"x"}).isOk());
  CHECK(S_ISCHR(statusOf("/dev/null").st_mode));
  Status full = writeFile("/dev/full", {"x"});
  REQUIRE_FALSE(full.isOk());
  CHECK(full.kind() == ErrorKind::io_error);
  CHECK(full.message() == "cannot write /dev/full: No space left on device");
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  std::string got;
  std::thread reader([&] { got = contents(folder / "pipe"); });
  const std::string large(1 << 20, 'p');
  CHECK(writeFile(folder / "pipe", {large}).isOk());
  reader.join();
  CHECK(got == large);
  CHECK(S_ISFIFO(statusOf(folder / "pipe").st_mode));
  CHECK(folder.entries() == 1);
}

TEST_CASE("A pipe without readers is an error, and no signal", "[file]") {
  Folder folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK(inChild(
      [](const Folder &folder) {
        const int reader = ::open((folder / "pipe").c_str(), O_RDONLY | O_NONBLOCK);
        std::thread closer([&] {
          ::usleep(100000);
          ::close(reader);
        });
        const std::string large(1 << 20, 'p'); // more bytes than a pipe buffers
        const Status status = writeFile(folder / "pipe", {large});
        closer.join();
        sigset_t pending;
        return !status.isOk() && status.message().ends_with("Broken pipe") && sigpending(&pending) == 0 &&
               sigismember(&pending, SIGPIPE) == 0;
      },
      folder));
}

TEST_CASE("writeFile writes into this process's open files at their present offset", "[file]") {
  Folder folder;
  const int file = ::open((folder / "log").c_str(), O_RDWR | O_CREAT, 0600);
  REQUIRE(::write(file, "before ", 7) == 7);
  REQUIRE(writeFile("/dev/fd/" + std::to_string(file), {"written "}).isOk());
  REQUIRE(writeFile("/proc/self/fd/" + std::to_string(file), {"twice"}).isOk());
  fs::create_symlink("/dev/fd/" + std::to_string(file), folder / "link");
  REQUIRE(writeFile(folder / "link", {", thrice"}).isOk());
  REQUIRE(::write(file, " after", 6) == 6);
  ::close(file);
  CHECK(contents(folder / "log") == "before written twice, thrice after");
}

TEST_CASE("A write that fails leaves the old file, and no new one", "[file]") {
  Folder folder;
  put(folder / "old", "old");
  CHECK(inChild(
      [](const Folder &folder) {
        const rlimit limit{4096, 4096};
        if (::setrlimit(RLIMIT_FSIZE, &limit) != 0)
          return false;
        const std::string large(100000, 'x');
        const Status over = writeFile(folder / "old", {large}), fresh = writeFile(folder / "new", {large});
        return !over.isOk() && !fresh.isOk() && over.message().ends_with("File too large");
      },
      folder));
  CHECK(contents(folder / "old") == "old");
  CHECK(folder.entries() == 1);
  CHECK_THAT(writeFile(folder.path, {"x"}).message(), Catch::EndsWith("Is a directory"));
  CHECK_THAT(writeFile(folder / "no/such", {"x"}).message(), Catch::EndsWith("no/such: No such file or directory"));
  CHECK_THAT(writeFile(folder / "old/x", {"x"}).message(), Catch::EndsWith("Not a directory"));
  CHECK_FALSE(writeFile("", {"x"}).isOk());
}

TEST_CASE("A file with further names is written in place, and a failure leaves it", "[file]") {
  Folder folder;
  put(folder / "a", "old contents");
  fs::create_hard_link(folder / "a", folder / "b");
  CHECK(inChild(
      [](const Folder &folder) {
        const rlimit limit{4096, 4096};
        return ::setrlimit(RLIMIT_FSIZE, &limit) == 0 && !writeFile(folder / "a", {std::string(100000, 'x')}).isOk();
      },
      folder));
  CHECK(contents(folder / "b") == "old contents");
  REQUIRE(writeFile(folder / "a", {"new"}).isOk());
  CHECK(contents(folder / "b") == "new");
  CHECK(statusOf(folder / "a").st_nlink == 2);
}

TEST_CASE("Permissions of file and folder decide as for any writer", "[file]") {
  Folder folder;
  fs::create_directory(folder / "closed");
  put(folder / "closed/mine", "old");
  put(folder / "readonly", "old");
  REQUIRE(::chmod((folder / "readonly").c_str(), 0444) == 0);
  REQUIRE(::chmod((folder / "closed").c_str(), 0555) == 0);
  if (isRoot()) { // runs as another user
    for (const char *name : {"", "closed", "closed/mine", "readonly"})
      REQUIRE(::chown((folder / name).c_str(), 12345, 54321) == 0);
  }
  CHECK(inChild(
      [](const Folder &folder) {
        if (isRoot() && (::setgid(54321) != 0 || ::setuid(12345) != 0))
          return false;
        return !writeFile(folder / "readonly", {"x"}).isOk() && !writeFile(folder / "closed/new", {"x"}).isOk() &&
               writeFile(folder / "closed/mine", {"new contents"}).isOk();
      },
      folder));
  CHECK(contents(folder / "readonly") == "old");
  CHECK(contents(folder / "closed/mine") == "new contents");
  CHECK(::chmod((folder / "closed").c_str(), 0755) == 0);
}

TEST_CASE("replaceFile never writes in place: a file without a new folder entry is an error", "[file]") {
  Folder folder;
  const std::string_view parts[] = {"new", "", " contents"};
  REQUIRE(replaceFile(folder / "fresh", parts).isOk());
  CHECK(contents(folder / "fresh") == "new contents");
  put(folder / "a", "old");
  fs::create_hard_link(folder / "a", folder / "b");
  REQUIRE(replaceFile(folder / "a", parts).isOk());
  CHECK(contents(folder / "a") == "new contents");
  CHECK(contents(folder / "b") == "old");
  CHECK(folder.entries() == 3);

  fs::create_directory(folder / "closed");
  put(folder / "closed/mine", "old");
  REQUIRE(::chmod((folder / "closed").c_str(), 0555) == 0);
  if (isRoot()) { // runs as another user
    for (const char *name : {"", "closed", "closed/mine"})
      REQUIRE(::chown((folder / name).c_str(), 12345, 54321) == 0);
  }
  CHECK(inChild(
      [](const Folder &folder) {
        if (isRoot() && (::setgid(54321) != 0 || ::setuid(12345) != 0))
          return false;
        const std::string_view parts[] = {"new"};
        const Status status = replaceFile(folder / "closed/mine", parts);
        return !status.isOk() && status.message().ends_with("closed/mine: Permission denied");
      },
      folder));
  CHECK(contents(folder / "closed/mine") == "old");
  CHECK(::chmod((folder / "closed").c_str(), 0755) == 0);
}

TEST_CASE("replaceFile leaves the old file when the disk is full", "[file]") {
  Folder folder;
  put(folder / "old", "old");
  CHECK(inChild(
      [](const Folder &folder) {
        const rlimit limit{4096, 4096};
        const std::string large(100000, 'x');
        const std::string_view parts[] = {"head", large};
        return ::setrlimit(RLIMIT_FSIZE, &limit) == 0 && !replaceFile(folder / "old", parts).isOk();
      },
      folder));
  CHECK(contents(folder / "old") == "old");
  CHECK(folder.entries() == 1);
}

namespace {

/// Makes openat() with O_TMPFILE fail in this process from now on, as on file systems without unnamed files.
bool forbidFilesWithoutName() {
  const sock_filter program[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                                 BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_openat, 0, 3),
                                 BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[2])),
                                 BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_TMPFILE & ~O_DIRECTORY, 0, 1),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog all{std::size(program), const_cast<sock_filter *>(program)};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all) == 0;
}

} // namespace

TEST_CASE("A file system without files that have no name gets a file beside, which goes after a failure", "[file]") {
  Folder folder;
  put(folder / "old", "old");
  CHECK(inChild(
      [](const Folder &folder) {
        const rlimit limit{4096, 4096};
        const std::string large(100000, 'x');
        return forbidFilesWithoutName() && ::open(folder.path.c_str(), O_TMPFILE | O_WRONLY, 0600) < 0 &&
               writeFile(folder / "old", {"new"}).isOk() && writeFile(folder / "fresh", {"made"}).isOk() &&
               ::setrlimit(RLIMIT_FSIZE, &limit) == 0 && !writeFile(folder / "old", {large}).isOk() &&
               !writeFile(folder / "none", {large}).isOk();
      },
      folder));
  CHECK(contents(folder / "old") == "new");
  CHECK(contents(folder / "fresh") == "made");
  CHECK(folder.entries() == 2);
}

TEST_CASE("A process that is killed while it writes a new file leaves a whole file or none", "[file]") {
  Folder folder;
  const std::string large(64 << 20, 'x');
  for (const useconds_t after : {0, 1000, 5000, 20000, 40000}) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      const std::string_view parts[] = {large};
      (void)replaceFile(folder / "new", parts);
      ::pause();
    }
    ::usleep(after);
    ::kill(child, SIGKILL);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    INFO(after);
    const int64_t made = fs::exists(folder / "new");
    CHECK((!made || contents(folder / "new") == large));
    CHECK(folder.entries() == made);
    fs::remove(folder / "new");
  }
}

TEST_CASE("A name of 255 bytes is written, whatever characters it has", "[file]") {
  Folder folder;
  std::string han;
  for (int i = 0; i < 85; ++i)
    han += "\u6f22";
  for (const std::string &name : {han, std::string(255, 'n'), "x" + han.substr(3) + "yy", std::string(255, '\xbf')}) {
    for (int turn = 0; turn < 2; ++turn) { // a new file, and a replaced one
      INFO(name << " " << writeFile(folder / name, {"text"}).str());
      CHECK(contents(folder / name) == "text");
    }
    CHECK_FALSE(writeFile(folder / (name + "."), {"text"}).isOk());
  }
}

TEST_CASE("A path with a null byte is a value_error, and no other file is written", "[file]") {
  Folder folder;
  put(folder / "notes.txt", "notes");
  const std::string path = (folder / "notes.txt") + std::string("\0.ckpt", 6);
  const std::string_view parts[] = {"x"};
  for (const Status &status : {writeFile(path, {"x"}), replaceFile(path, parts), replaceOwnFile(path, parts),
                               GrowingFile::open(path, false).status()}) {
    REQUIRE_FALSE(status.isOk());
    CHECK(status.kind() == ErrorKind::value_error);
  }
  CHECK(contents(folder / "notes.txt") == "notes");
  CHECK(folder.entries() == 1);
}

TEST_CASE("replaceFile writes another user's file that everyone may write; it keeps its permissions", "[file]") {
  Folder folder;
  put(folder / "shared", "old");
  REQUIRE(::chmod(folder.path.c_str(), 0777) == 0);
  REQUIRE(::chmod((folder / "shared").c_str(), 0646) == 0);
  const bool isOther = isRoot(); // otherwise the file belongs to this user
  CHECK(inChild(
      [](const Folder &folder) {
        if (isRoot() && (::setgid(54321) != 0 || ::setuid(12345) != 0))
          return false;
        const std::string_view parts[] = {"new"};
        return replaceFile(folder / "shared", parts).isOk();
      },
      folder));
  CHECK(contents(folder / "shared") == "new");
  CHECK((statusOf(folder / "shared").st_mode & 07777) == (isOther ? 0666 : 0646)); // the group differs
  CHECK(statusOf(folder / "shared").st_uid == (isOther ? 12345 : ::geteuid()));
}

TEST_CASE("A growing file and a stream that reach a limit are errors, and no signals", "[file]") {
  Folder folder;
  CHECK(inChild(
      [](const Folder &folder) {
        const rlimit limit{4096, 4096};
        std::FILE *stream = std::fopen((folder / "stream").c_str(), "w");
        GrowingFile log = GrowingFile::open(folder / "log", false).valueOrThrow();
        const std::string row(3000, 'x');
        if (::setrlimit(RLIMIT_FSIZE, &limit) != 0 || !log.append(row) || !writeStream(stream, row))
          return false;
        const Status late = log.append(row);
        return late.message().ends_with("log: File too large") && !writeStream(stream, row).isOk() &&
               std::fclose(stream) == 0; // nothing remains to be written
      },
      folder));
  CHECK(contents(folder / "log").size() == 4096);
  GrowingFile again = GrowingFile::open(folder / "log", true).valueOrThrow();
  REQUIRE(again.append("end").isOk());
  CHECK(contents(folder / "log").size() == 4099);
}

TEST_CASE("makeFolder makes all folders of a path, leaves those that are there, and tells why it cannot") {
  const Folder folder;
  const std::string path = folder / "a/b/c";
  CHECK(makeFolder(path).isOk());
  CHECK(fs::is_directory(path));
  CHECK(makeFolder(path).isOk());
  const std::string file = folder.write("file", "text");
  const Status refused = makeFolder(file + "/sub");
  CHECK(refused.kind() == ErrorKind::io_error);
  CHECK(refused.message() == "cannot create the folder " + file + "/sub: Not a directory");
  CHECK(makeFolder(std::string("a\0b", 3)).kind() == ErrorKind::value_error);
}
