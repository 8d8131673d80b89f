// How layers are quantized, and the report of it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Version.h"
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halftone {
class Layer;

/// How one layer is quantized: a value of one of Keras's classes of the same name, below. Without a mode it is none.
struct HALFTONE_API QuantizationConfig {
  std::string mode{};                 // "int8", "int4" or "float8"
  bool quantizes_activations = false; // the input of a product too, one scale for each row
  int64_t block_size = -1; // of int4: inputs that share a scale and a zero point; -1: all, without a zero point
  bool defined() const { return !mode.empty(); }
};
namespace quantizers {
/// Weights between -127 and 127, with one scale for each output.
class HALFTONE_API Int8QuantizationConfig : public QuantizationConfig {
public:
  explicit Int8QuantizationConfig(bool quantizes_activations = true);
};
/// Weights between -8 and 7. `block_size`: a positive integer; none or -1 for one scale for each output. value_error for
/// another block size, and for a block size with quantized activations.
class HALFTONE_API Int4QuantizationConfig : public QuantizationConfig {
public:
  explicit Int4QuantizationConfig(std::optional<int64_t> block_size = 128, bool quantizes_activations = false);
};
/// Training with inputs and weights rounded to float8_e4m3fn and gradients to float8_e5m2.
class HALFTONE_API Float8QuantizationConfig : public QuantizationConfig {
public:
  Float8QuantizationConfig();
};
} // namespace quantizers

/// Which layers of a model are quantized: all, those in whose name a regular expression occurs (Python's re.search), or those
/// that a function picks.
class HALFTONE_API QuantizeFilter {
public:
  QuantizeFilter() = default;
  QuantizeFilter(const char *pattern) : QuantizeFilter({std::string(pattern)}) {}
  QuantizeFilter(std::initializer_list<std::string> patterns); // value_error for one that is no regular expression
  template <std::invocable<const Layer &> F> QuantizeFilter(F picks) : picks_(std::move(picks)) {}
  bool operator()(const Layer &layer) const { return !picks_ || picks_(layer); }

private:
  std::function<bool(const Layer &)> picks_;
};
struct QuantizeArgs {
  QuantizationConfig config{}; // Keras's default for the mode if it is none
  QuantizeFilter filters{};    // of a model's layers
  bool verbose = true;         // a model prints the report
};

struct HALFTONE_API QuantizationReport { // the layers that a mode quantized, and the others
  struct Done {
    std::string path, mode, policy;
  };
  struct Skipped {
    std::string path, reason;
  };
  std::string mode{};
  std::vector<Done> quantized{};
  std::vector<Skipped> skipped{};
  std::string text() const;
  std::string json() const;
};
HALFTONE_API std::ostream &operator<<(std::ostream &os, const QuantizationReport &report);
} // namespace halftone
