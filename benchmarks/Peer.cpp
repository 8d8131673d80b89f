// Runs peers as child processes and exchanges lines with them.
// SPDX-License-Identifier: Apache-2.0
#include "Peer.h"
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <sched.h>
#include <sstream>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace halftone::benchmarks {

int coreCount() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  ::sched_getaffinity(0, sizeof cores, &cores);
  return CPU_COUNT(&cores);
}

Peer::Peer(std::string name, const std::string &program, const std::vector<std::string> &arguments)
    : name_(std::move(name)) {
  const char *environment = std::getenv("HALFTONE_BENCH_PEERS");
  if (!environment || !*environment) {
    missing_ = "HALFTONE_BENCH_PEERS does not name a virtual environment (scripts/bench-peers creates one)";
    return;
  }
  const std::string python = std::string(environment) + "/bin/python";
  std::vector<std::string> words = {python, std::string(HALFTONE_BENCHMARKS) + "/peers/" + program + ".py"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char *> argv;
  for (std::string &word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  int request[2], reply[2];
  // O_CLOEXEC: a peer started later would otherwise inherit these and keep this peer's input open, so that it never
  // ends.
  if (::pipe2(request, O_CLOEXEC) != 0 || ::pipe2(reply, O_CLOEXEC) != 0)
    throw std::runtime_error("no pipe for the peer " + name_);
  std::signal(SIGPIPE, SIG_IGN);
  process_ = ::fork();
  if (process_ == 0) {
    ::dup2(request[0], 0);
    ::dup2(reply[1], 1);
    ::execv(python.c_str(), argv.data());
    ::_exit(127);
  }
  ::close(request[0]);
  ::close(reply[1]);
  to_ = request[1];
  from_ = reply[0];
  const std::string first = answer();
  if (first.starts_with("ready "))
    version_ = first.substr(6);
  else
    missing_ = first.starts_with("missing ") ? first.substr(8) : "it does not start";
}

Peer::~Peer() {
  if (process_ <= 0)
    return;
  ::close(to_); // the peer exits at the end of its input
  ::close(from_);
  ::waitpid(process_, nullptr, 0);
}

std::string Peer::answer() {
  for (;;) {
    if (size_t end = pending_.find('\n'); end != std::string::npos) {
      std::string line = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      return line;
    }
    char bytes[4096];
    const ssize_t got = ::read(from_, bytes, sizeof bytes);
    if (got <= 0)
      return "missing " + name_ + " ended";
    pending_.append(bytes, static_cast<size_t>(got));
  }
}

std::string Peer::ask(const std::string &line) {
  const std::string text = line + "\n";
  if (::write(to_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    throw std::runtime_error(name_ + " ended");
  std::string reply = answer();
  if (reply.starts_with("missing "))
    throw std::runtime_error(reply.substr(8));
  return reply;
}

std::vector<double> Peer::askNumbers(const std::string &line) {
  std::istringstream in(ask(line));
  std::vector<double> numbers;
  for (double number; in >> number;)
    numbers.push_back(number);
  return numbers;
}

} // namespace halftone::benchmarks
