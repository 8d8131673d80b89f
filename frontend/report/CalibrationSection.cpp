// Writes the quantization section: errors, bytes and times of layers in each mode.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/report/CalibrationSection.h"
#include "frontend/base/ReportWords.h"
#include "frontend/report/CalibrationReport.h"
#include "frontend/report/Markup.h"
#include <fmt/format.h>

namespace halftone::detail {

namespace {

Cell codeCell(const std::string &text) { return {"<code>" + escaped(text) + "</code>", escaped(text)}; }
Cell numberCell(const std::string &text, double number) { return {escaped(text), fmt::format("{}", number)}; }

} // namespace

Section calibrationSection(const CalibrationReport &report) {
  Section section{"quantization", "Quantization", "", ""};
  section.lead = fmt::format(
      "Each layer under each mode against itself in float32, on {} samples: signal to noise of its outputs, and of "
      "their "
      "worst channel. Speed is measured on this machine, the layer alone on these samples, against its current policy.",
      withCommas(report.samples));
  std::vector<std::vector<Cell>> rows, skipped;
  for (const CalibrationReport::Row &row : report.rows) {
    const double speed = row.seconds && row.float_seconds && *row.seconds > 0 ? *row.float_seconds / *row.seconds : 0.0;
    rows.push_back({codeCell(row.path), Cell::text(row.class_name), Cell::text(row.mode),
                    numberCell(decibelText(row.signal_to_noise), row.signal_to_noise),
                    numberCell(decibelText(row.worst_signal_to_noise), row.worst_signal_to_noise),
                    Cell::count(row.worst_channel),
                    numberCell(savedText(row), static_cast<double>(row.float_bytes - row.bytes)),
                    numberCell(speedText(row), speed)});
  }
  for (const QuantizationReport::Skipped &each : report.skipped)
    skipped.push_back({codeCell(each.path), Cell::text(each.reason)});
  if (!rows.empty())
    section.body = tableMarkup({{"Layer"},
                                {"Class"},
                                {"Mode"},
                                {"Signal to noise", true},
                                {"Worst channel", true},
                                {"Channel index", true},
                                {"Bytes saved", true},
                                {"Speed", true}},
                               rows);
  if (!skipped.empty())
    section.body += tableMarkup({{"Skipped layer"}, {"Reason"}}, skipped);
  return section;
}

} // namespace halftone::detail
