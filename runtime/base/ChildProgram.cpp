// Finds and starts child programs and reads their output.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/ChildProgram.h"
#include "runtime/base/Environment.h"
#include "runtime/base/LibexecFile.h"
#include "runtime/base/OpenFile.h"
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

namespace halftone {

namespace {

/// A running program; the destructor terminates and reaps it.
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
  /// The status of waitpid(); 0 if the user's process reaps all of its children itself.
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

Status systemError(const std::string &name) {
  return {ErrorKind::io_error, fmt::format("{}: {}", name, std::strerror(errno))};
}

StatusOr<pid_t> start(const ChildProgram &child, const std::string &program, const std::vector<std::string> &arguments,
                      int file, int input, int output, const std::string &name) {
  std::vector<char *> words{const_cast<char *>(program.c_str())};
  for (const std::string &argument : arguments)
    words.push_back(const_cast<char *>(argument.c_str()));
  words.push_back(nullptr);
  // Duplicates have numbers above the program's own descriptors, 0 to 3, so that no dup2() overwrites one.
  constexpr int least = 4;
  const OpenFile zero(::fcntl(input, F_DUPFD_CLOEXEC, least)), one(::fcntl(output, F_DUPFD_CLOEXEC, least)),
      three(::fcntl(file, F_DUPFD_CLOEXEC, least));
  if (zero.number() < 0 || one.number() < 0 || three.number() < 0)
    return systemError(name);
  Actions actions;
  posix_spawn_file_actions_adddup2(&actions.list, zero.number(), 0);
  posix_spawn_file_actions_adddup2(&actions.list, one.number(), 1);
  posix_spawn_file_actions_addopen(&actions.list, 2, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions.list, three.number(), 3);
  pid_t id = 0;
  const int error = ::posix_spawn(&id, program.c_str(), &actions.list, nullptr, words.data(), environ);
  if (error != 0 && !environmentValue(child.variable.c_str()).empty())
    return environmentError(
        ErrorKind::io_error, child.variable.c_str(),
        fmt::format("the program {}: it cannot be started: {}", child.program, std::strerror(error)));
  if (error != 0)
    return Status(ErrorKind::io_error, fmt::format("{}: cannot start {}: {}", name, program, std::strerror(error)));
  return id;
}

} // namespace

StatusOr<std::string> programPath(const ChildProgram &child) {
  if (std::string given = environmentValue(child.variable.c_str()); !given.empty())
    return given;
  if (const std::string program = libexecFile(child.program, X_OK); !program.empty())
    return program;
  return Status(ErrorKind::io_error,
                fmt::format("Cannot find the program {}, which {}: expected libexec/halftone/{} in a folder above {}, "
                            "or its path in {}",
                            child.program, child.purpose, child.program, ownFile().string(), child.variable));
}

StatusOr<int> runChildProgram(const ChildProgram &child, const std::vector<std::string> &arguments, int file, int input,
                              const std::function<Status(std::string_view)> &take, const std::string &name) {
  const StatusOr<std::string> program = programPath(child);
  HALFTONE_RETURN_IF_ERROR(program.status());
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return systemError(name);
  const OpenFile reading(ends[0]);
  OpenFile writing(ends[1]);
  const StatusOr<pid_t> id = start(child, *program, arguments, file, input, writing.number(), name);
  HALFTONE_RETURN_IF_ERROR(id.status());
  Child process(*id);
  (void)writing.close();
  char buffer[1 << 16];
  for (;;) {
    const ssize_t count = ::read(reading.number(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      break;
    HALFTONE_RETURN_IF_ERROR(take({buffer, static_cast<size_t>(count)}));
  }
  const int status = process.wait();
  if (WIFSIGNALED(status))
    return Status(ErrorKind::io_error, fmt::format("{}: {} ended by signal {} ({}): {}", name, child.program,
                                                   WTERMSIG(status), ::strsignal(WTERMSIG(status)), child.reason));
  return WEXITSTATUS(status);
}

} // namespace halftone
