// A library to compare with: a Python program in benchmarks/peers that is told by lines what to do.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <vector>

namespace halftone::benchmarks {

/// One process; it only waits between two requests. Python comes from the virtual environment $HALFTONE_BENCH_PEERS, which
/// scripts/bench-peers makes.
class Peer {
public:
  /// Starts benchmarks/peers/<program>.py with `arguments` and waits until it says `ready <version>`, or `missing <reason>`.
  Peer(std::string name, const std::string &program, const std::vector<std::string> &arguments);
  ~Peer();
  Peer(const Peer &) = delete;

  const std::string &name() const { return name_; }
  /// Why it cannot be asked; "" when it can.
  const std::string &missing() const { return missing_; }
  const std::string &version() const { return version_; }
  /// The line that it answers `line` with. When that is `missing <reason>`, or the process died: std::runtime_error.
  std::string ask(const std::string &line);
  /// The same, as numbers.
  std::vector<double> askNumbers(const std::string &line);

private:
  std::string answer();
  std::string name_, missing_, version_;
  int process_ = -1, to_ = -1, from_ = -1;
  std::string pending_;
};

} // namespace halftone::benchmarks
