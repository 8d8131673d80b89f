// The table that a benchmark program prints and writes to benchmarks/results/<program>.json.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Peer.h"
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace halftone::benchmarks {

/// One row. `bar` is the bound of `ratio`: an upper bound if `atMost`, otherwise a lower bound.
struct Row {
  std::string what, ours, peer;
  std::optional<double> ratio{}; // empty: `note` has the reason
  std::optional<double> bar{}, stretch{};
  bool atMost = false;
  std::string note{};
};

std::string milliseconds(double seconds);
double geometricMean(const std::vector<double> &values);

class Table {
public:
  explicit Table(std::string program, std::string title);
  /// Records the version of something on which the figures depend.
  void version(const std::string &name, const std::string &value);
  /// Records the version of a library to which rows are compared, or the reason why it is missing. A row's file has the
  /// version of each peer that its texts name; the file of a mean, which has no time of a peer, has those of all peers.
  void peer(const Peer &peer);
  /// Returns true if the row `what` should be measured: if $HALFTONE_BENCH_ONLY is not set, or if `what` contains one
  /// of the texts that it lists, separated by ";".
  bool wants(const std::string &what) const;
  /// Adds a row and prints it immediately.
  void add(Row row);
  const std::vector<Row> &rows() const { return rows_; }
  /// Writes the file to $HALFTONE_BENCH_RESULTS if set, otherwise to benchmarks/results, and returns its path.
  /// std::runtime_error on failure.
  std::string write() const;
  bool isWhole() const { return only_.empty(); }

private:
  std::map<std::string, std::string> versionsOf(const Row &row) const;
  std::string program_, title_;
  std::vector<std::pair<std::string, std::string>> versions_;
  std::map<std::string, std::string> peers_; // versions by name
  std::vector<std::string> only_;
  std::vector<Row> rows_;
};

/// The body of main(): runs `body` on the program's table, then writes the table unless only some rows were measured.
/// On an exception, writes a line to stderr and returns 1.
int runProgram(const std::string &program, const std::string &title, const std::function<void(Table &)> &body);

} // namespace halftone::benchmarks
