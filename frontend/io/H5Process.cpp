// Finds and starts halftone-h5 and reads its output.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/io/H5Process.h"
#include "frontend/base/LibexecFile.h"
#include "halftone/Error.h"
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace halftone::detail {

namespace {

struct Pipe {
  explicit Pipe(const std::string &name) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
      throw Error(ErrorKind::io_error, fmt::format("{}: {}", name, std::strerror(errno)));
    reading = Descriptor(OpenFile(ends[0]));
    writing = Descriptor(OpenFile(ends[1]));
  }
  Descriptor reading, writing;
};

/// A program that runs; it is ended and collected at the end of the object's life.
class Child {
public:
  explicit Child(pid_t id) : id_(id) {}
  Child(const Child &) = delete;
  ~Child() {
    if (id_ > 0) {
      ::kill(id_, SIGKILL);
      (void)wait();
    }
  }
  /// The status of waitpid(); 0 if the user's process collects all of its children itself.
  int wait() {
    int status = 0;
    while (::waitpid(id_, &status, 0) < 0)
      if (errno != EINTR) {
        status = 0;
        break;
      }
    id_ = -1;
    return status;
  }

private:
  pid_t id_;
};

struct Actions {
  posix_spawn_file_actions_t list;
  Actions() { posix_spawn_file_actions_init(&list); }
  ~Actions() { posix_spawn_file_actions_destroy(&list); }
};

pid_t start(const Descriptor &file, const Descriptor &input, const Descriptor &output,
            const std::vector<std::string> &arguments, const std::string &name) {
  const std::string program = h5Program();
  std::vector<char *> words{const_cast<char *>(program.c_str())};
  for (const std::string &argument : arguments)
    words.push_back(const_cast<char *>(argument.c_str()));
  words.push_back(nullptr);
  constexpr int least = 4; // the program's own numbers are 0 to 3
  const Descriptor zero = input.copy(name, least), one = output.copy(name, least), three = file.copy(name, least);
  Actions actions;
  posix_spawn_file_actions_adddup2(&actions.list, zero.number(), 0);
  posix_spawn_file_actions_adddup2(&actions.list, one.number(), 1);
  posix_spawn_file_actions_addopen(&actions.list, 2, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions.list, three.number(), 3);
  pid_t id = 0;
  if (const int error = ::posix_spawn(&id, program.c_str(), &actions.list, nullptr, words.data(), environ))
    throw Error(ErrorKind::io_error, fmt::format("{}: cannot start {}: {}", name, program, std::strerror(error)));
  return id;
}

} // namespace

std::string h5Program() {
  if (const char *given = ::secure_getenv("HALFTONE_H5"))
    return given;
  if (const std::string program = libexecFile("halftone-h5", X_OK); !program.empty())
    return program;
  throw Error(ErrorKind::io_error,
              fmt::format("Cannot find the program halftone-h5, which reads and lays out HDF5 files: expected "
                          "libexec/halftone/halftone-h5 in a folder above {}, or its path in HALFTONE_H5",
                          ownFile().string()));
}

int runH5(const Descriptor &file, const std::vector<std::string> &arguments, const std::string &input,
          const std::function<void(std::string_view)> &take, const std::string &name) {
  const Descriptor stdinFile = Descriptor::memory(name);
  stdinFile.writeAt(0, std::as_bytes(std::span(input)), name);
  Pipe pipe(name);
  Child child(start(file, stdinFile, pipe.writing, arguments, name));
  pipe.writing = Descriptor();
  char buffer[1 << 16];
  for (;;) {
    const ssize_t count = ::read(pipe.reading.number(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      break;
    take({buffer, static_cast<size_t>(count)});
  }
  const int status = child.wait();
  if (WIFSIGNALED(status))
    throw Error(ErrorKind::io_error,
                fmt::format("{}: halftone-h5 ended by signal {} ({}): {}", name, WTERMSIG(status),
                            ::strsignal(WTERMSIG(status)),
                            arguments.front() == "layout" ? "the file needs more than the limits of memory and time"
                                                          : "the file is damaged, or needs more than the limits of "
                                                            "memory and time"));
  return WEXITSTATUS(status);
}

} // namespace halftone::detail
