// The table and the JSON of a calibration report.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/report/CalibrationReport.h"
#include "frontend/base/ReportWords.h"
#include "frontend/base/TextTable.h"
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <ostream>

namespace halftone {
using namespace detail;

namespace {

using Json = nlohmann::ordered_json;

Json numberOf(std::optional<double> number) { return number && std::isfinite(*number) ? Json(*number) : Json(); }

} // namespace

std::string detail::decibelText(double decibels) {
  return std::isnan(decibels) ? "not finite" : std::isinf(decibels) ? "exact" : fmt::format("{:.1f} dB", decibels);
}
std::string detail::savedText(const CalibrationReport::Row &row) {
  const int64_t saved = row.float_bytes - row.bytes;
  return saved < 0 ? "-" + sizeText(-saved) : sizeText(saved);
}
std::string detail::speedText(const CalibrationReport::Row &row) {
  return row.seconds && row.float_seconds && *row.seconds > 0
             ? fmt::format("{:.2f}x", *row.float_seconds / *row.seconds)
             : "not measured";
}

std::string CalibrationReport::text() const {
  std::vector<std::vector<std::string>> cells{
      {"Layer", "Mode", "Signal to noise", "Worst channel", "Bytes saved", "Layer speed"}};
  for (const Row &row : rows)
    cells.push_back({row.path, row.mode, decibelText(row.signal_to_noise),
                     fmt::format("{} at {}", decibelText(row.worst_signal_to_noise), row.worst_channel), savedText(row),
                     speedText(row)});
  std::string text = fmt::format("Quantization of \"{}\", measured on {} samples against float32\n{}", model,
                                 withCommas(samples), boxTable(cells));
  for (const QuantizationReport::Skipped &each : skipped)
    text += fmt::format("  - {}: {}\n", each.path, each.reason);
  return text;
}

std::string CalibrationReport::json() const {
  Json done = Json::array(), left = Json::array();
  for (const Row &row : rows)
    done.push_back({{"path", row.path},
                    {"class_name", row.class_name},
                    {"mode", row.mode},
                    {"signal_to_noise", numberOf(row.signal_to_noise)},
                    {"worst_channel", row.worst_channel},
                    {"worst_signal_to_noise", numberOf(row.worst_signal_to_noise)},
                    {"bytes", row.bytes},
                    {"float_bytes", row.float_bytes},
                    {"seconds", numberOf(row.seconds)},
                    {"float_seconds", numberOf(row.float_seconds)}});
  for (const QuantizationReport::Skipped &each : skipped)
    left.push_back({{"path", each.path}, {"reason", each.reason}});
  return Json{{"model", model}, {"samples", samples}, {"rows", std::move(done)}, {"skipped", std::move(left)}}.dump();
}

std::ostream &operator<<(std::ostream &os, const CalibrationReport &report) { return os << report.text(); }

} // namespace halftone
