// The rows that a benchmark program prints and writes to benchmarks/results/<program>.json.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Peer.h"
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace halftone::benchmarks {

/// One line of a table. `bar` is the bound of `ratio`: an upper bound if `atMost`, else a lower one.
struct Row {
  std::string what, ours, peer;
  std::optional<double> ratio{}; // empty: `note` gives the reason
  std::optional<double> bar{}, stretch{};
  bool atMost = false;
  std::string note{};
};

std::string milliseconds(double seconds);
double geometricMean(const std::vector<double> &values);

class Table {
public:
  explicit Table(std::string program, std::string title);
  /// Records the version of something that the figures depend on.
  void version(const std::string &name, const std::string &value);
  /// Records the version of a library with which rows are compared, or that it is missing and why. A row's file names the
  /// version of each peer that its texts name; the file of a mean, which has no time of a peer, those of all.
  void peer(const Peer &peer);
  /// Whether to measure the row `what`: true if $HALFTONE_BENCH_ONLY is not set, or if `what` contains one of the texts
  /// that it lists, separated by ";".
  bool wants(const std::string &what) const;
  /// Adds a row and prints it at once.
  void add(Row row);
  const std::vector<Row> &rows() const { return rows_; }
  /// Writes the file below $HALFTONE_BENCH_RESULTS, else below benchmarks/results, and returns its path.
  /// std::runtime_error when that fails.
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

/// main(): runs `body` with the program's table, then writes the table, unless only some rows were measured. If
/// something is thrown, writes a line to stderr and returns 1.
int runProgram(const std::string &program, const std::string &title, const std::function<void(Table &)> &body);

} // namespace halftone::benchmarks
