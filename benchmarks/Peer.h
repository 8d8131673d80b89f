// A library for comparison: a Python program in benchmarks/peers that answers requests line by line.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <vector>

namespace halftone::benchmarks {

/// The number of cores available to this process: the number of threads of Halftone's plans and of the peers.
int coreCount();

/// A peer process, which is idle between requests. Python comes from the virtual environment $HALFTONE_BENCH_PEERS,
/// which scripts/bench-peers creates.
class Peer {
public:
  /// Starts benchmarks/peers/<program>.py with `arguments` and waits for its line `ready <version>` or `missing
  /// <reason>`.
  Peer(std::string name, const std::string &program, const std::vector<std::string> &arguments);
  ~Peer();
  Peer(const Peer &) = delete;

  const std::string &name() const { return name_; }
  /// The reason why the peer cannot answer; "" if it can.
  const std::string &missing() const { return missing_; }
  const std::string &version() const { return version_; }
  /// The peer's answer to `line`. std::runtime_error if the answer is `missing <reason>`, or if the process died.
  std::string ask(const std::string &line);
  /// The answer as a list of numbers.
  std::vector<double> askNumbers(const std::string &line);

private:
  std::string answer();
  std::string name_, missing_, version_;
  int process_ = -1, to_ = -1, from_ = -1;
  std::string pending_;
};

} // namespace halftone::benchmarks
