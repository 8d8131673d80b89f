// A library to compare with: a Python program in benchmarks/peers that answers requests, line by line.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <vector>

namespace halftone::benchmarks {

/// The cores that this process may use: as many threads as Halftone's plans have, and as peers shall have.
int coreCount();

/// One process, which only waits between two requests. Python comes from the virtual environment $HALFTONE_BENCH_PEERS,
/// which scripts/bench-peers makes.
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
  /// The peer's answer to `line`. std::runtime_error when the answer is `missing <reason>`, or when the process died.
  std::string ask(const std::string &line);
  /// The answer as scalars.
  std::vector<double> askNumbers(const std::string &line);

private:
  std::string answer();
  std::string name_, missing_, version_;
  int process_ = -1, to_ = -1, from_ = -1;
  std::string pending_;
};

} // namespace halftone::benchmarks
