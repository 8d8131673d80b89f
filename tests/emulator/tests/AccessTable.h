// Reads the emulator's table of accesses.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

namespace halftone::emulator {

/// A row of AccessCounts::table().
struct AccessRow {
  std::string kernel;
  int line = 0;
  std::string kind;
  uint64_t requests = 0, units = 0, ideal = 0;

  double ratio() const { return ideal ? double(units) / double(ideal) : 1; }
};

inline std::vector<AccessRow> readAccessTable(const std::string &table) {
  std::vector<AccessRow> rows;
  std::istringstream stream(table);
  for (AccessRow row; stream >> row.kernel >> row.line >> row.kind >> row.requests >> row.units >> row.ideal;)
    rows.push_back(row);
  return rows;
}

} // namespace halftone::emulator
