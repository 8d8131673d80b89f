// Reports: typed rows, a text for people and JSON for programs. The library itself never prints them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "DType.h"
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace halftone {
enum class Stage : uint8_t { graph, cast, pure, kernel, linalg, plan, target };
HALFTONE_API std::string_view name(Stage stage);
HALFTONE_API Stage stage(std::string_view name);

struct HALFTONE_API SummaryReport {
  struct Row {
    std::string path, class_name, output_shape, policy;
    DType compute_dtype, variable_dtype;
    int64_t params;
    std::string rule;
    std::string connected_to; // "dense[0][0], dense[1][0]": layer, index of its call and output; "" in a chain
    int64_t depth = 0;        // how many models of the table enclose the layer
    std::string trainable;    // "Y", "N", or "-" for a layer without weights
  };
  std::string model, class_name;
  std::vector<Row> rows;
  bool show_policy = true, show_trainable = false;
  int64_t line_length = 0;
  int64_t total_params = 0, trainable_params = 0, optimizer_params = 0, bytes = 0;
  int64_t trainable_bytes = 0, optimizer_bytes = 0; // of `bytes`
  int64_t training_step_bytes = 0; // that a step takes beside variables and data, as last compiled; 0 before the first
  std::string text() const;
  std::string json() const;
};
struct HALFTONE_API CastLedger {
  enum class Kind : uint8_t { rounding, storage };
  struct Row {
    std::string path, value;
    DType from, to;
    Kind kind;
    bool fused;
    int64_t bytes;
    std::string rule, location;
  };
  std::vector<Row> rows;
  int64_t standalone = 0, fused = 0, bytes_moved = 0;
  std::string text() const;
  std::string json() const;
};
struct HALFTONE_API PolicyReport { // the rule that decided for each layer, and the rules that decided for none
  struct Row {
    std::string path, policy;
    std::optional<std::string> key; // empty: the default
  };
  std::vector<Row> rows;
  std::vector<std::string> unused_keys;
  std::string text() const;
  std::string json() const;
};
HALFTONE_API std::ostream &operator<<(std::ostream &os, const SummaryReport &report);
HALFTONE_API std::ostream &operator<<(std::ostream &os, const CastLedger &report);
HALFTONE_API std::ostream &operator<<(std::ostream &os, const PolicyReport &report);
} // namespace halftone
