// The rows a benchmark program prints and writes to benchmarks/results/<program>.json.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace halftone::benchmarks {

/// One line of a table. `ratio` is what the bar is about; atMost: it should not exceed its bar.
struct Row {
  std::string what, ours, peer;
  std::optional<double> ratio{}; // none: `note` says why
  std::optional<double> bar{}, stretch{};
  bool atMost = false;
  std::string note{};
};

std::string milliseconds(double seconds);
double geometricMean(const std::vector<double> &values);

class Table {
public:
  explicit Table(std::string program, std::string title);
  /// The version of something the figures depend on, for the file.
  void version(const std::string &name, const std::string &value);
  /// Whether the row is asked for: $HALFTONE_BENCH_ONLY, parts of rows' names with ";" between, asks for those that hold one of
  /// them; without it all are.
  bool wants(const std::string &what) const;
  /// Prints the row at once.
  void add(Row row);
  const std::vector<Row> &rows() const { return rows_; }
  /// Writes the file below $HALFTONE_BENCH_RESULTS, else benchmarks/results, and returns its path; std::runtime_error when
  /// that cannot be done.
  std::string write() const;
  bool isWhole() const { return only_.empty(); }

private:
  std::string program_, title_;
  std::vector<std::pair<std::string, std::string>> versions_;
  std::vector<std::string> only_;
  std::vector<Row> rows_;
};

/// main(): runs `body` with the program's table, then writes it, unless only some rows were asked for. 1 and a line on stderr when something is thrown.
int runProgram(const std::string &program, const std::string &title, const std::function<void(Table &)> &body);

} // namespace halftone::benchmarks
