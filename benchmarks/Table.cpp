// Prints and writes tables of results.
// SPDX-License-Identifier: Apache-2.0
#include "Table.h"
#include "halftone/Version.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sched.h>
#include <sstream>
#include <stdexcept>

namespace halftone::benchmarks {

namespace {

std::string cpuModel() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      return line.substr(line.find(':') + 2);
  return "unknown";
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
  return text;
}

std::string number(const std::optional<double> &value) { return value ? fmt::format("{:.2f}", *value) : "-"; }

std::string bound(const Row &row, const std::optional<double> &value) {
  if (!value)
    return "-";
  return fmt::format("{}{:.4g}", row.atMost ? "<= " : "", *value);
}

nlohmann::json jsonOf(const Row &row) {
  nlohmann::json json = {{"what", row.what}, {"ours", row.ours}, {"peer", row.peer}, {"at_most", row.atMost}};
  auto put = [&](const char *key, const std::optional<double> &value) {
    json[key] = value ? nlohmann::json(*value) : nullptr;
  };
  put("ratio", row.ratio);
  put("bar", row.bar);
  put("stretch", row.stretch);
  if (!row.note.empty())
    json["note"] = row.note;
  return json;
}

} // namespace

std::string milliseconds(double seconds) { return fmt::format("{:.3f} ms", seconds * 1e3); }

double geometricMean(const std::vector<double> &values) {
  double sum = 0;
  for (double value : values)
    sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

Table::Table(std::string program, std::string title) : program_(std::move(program)), title_(std::move(title)) {
  fmt::print("\n{}: {}\nwhat | ours | peer | ratio | bar | stretch\n--- | --- | --- | --- | --- | ---\n", program_,
             title_);
  cpu_set_t cores;
  CPU_ZERO(&cores);
  sched_getaffinity(0, sizeof cores, &cores);
  version("halftone", halftone::version());
  if (const char *chosen = std::getenv("HALFTONE_BENCH_ONLY")) {
    std::istringstream parts(chosen);
    for (std::string part; std::getline(parts, part, ';');)
      only_.push_back(part);
  }
  version("cores", std::to_string(CPU_COUNT(&cores)));
}

void Table::version(const std::string &name, const std::string &value) { versions_.emplace_back(name, value); }

void Table::peer(const Peer &peer) {
  const std::string version = peer.missing().empty() ? peer.version() : "missing: " + peer.missing();
  this->version(peer.name(), version);
  peers_[peer.name()] = version;
}

std::map<std::string, std::string> Table::versionsOf(const Row &row) const {
  std::map<std::string, std::string> named;
  std::string texts = row.what + ", " + row.peer;
  // Longest names first, so that "oneDNN of PyTorch" does not match "oneDNN".
  std::vector<std::pair<std::string, std::string>> peers(peers_.begin(), peers_.end());
  std::ranges::sort(peers, std::greater(), [](const auto &each) { return each.first.size(); });
  for (const auto &[name, version] : peers)
    for (size_t at; (at = texts.find(name)) != texts.npos; texts.erase(at, name.size()))
      named[name] = version;
  return named.empty() && row.peer.empty() ? peers_ : named;
}

bool Table::wants(const std::string &what) const {
  return only_.empty() ||
         std::any_of(only_.begin(), only_.end(), [&](const std::string &part) { return what.find(part) != what.npos; });
}

void Table::add(Row row) {
  fmt::print("{} | {} | {} | {}{} | {} | {}\n", row.what, row.ours, row.peer, number(row.ratio),
             row.note.empty() ? "" : " (" + row.note + ")", bound(row, row.bar), bound(row, row.stretch));
  std::fflush(stdout);
  rows_.push_back(std::move(row));
}

std::string Table::write() const {
  nlohmann::json json = {{"program", program_}, {"title", title_}, {"date", today()}, {"cpu", cpuModel()}};
  for (const auto &[name, value] : versions_)
    json["versions"][name] = value;
  json["rows"] = nlohmann::json::array();
  for (const Row &row : rows_) {
    json["rows"].push_back(jsonOf(row));
    if (const auto versions = versionsOf(row); !versions.empty())
      json["rows"].back()["versions"] = versions;
  }
  const char *chosen = std::getenv("HALFTONE_BENCH_RESULTS");
  const std::filesystem::path folder = chosen && *chosen ? chosen : "benchmarks/results";
  std::filesystem::create_directories(folder);
  const std::filesystem::path path = folder / (program_ + ".json");
  std::ofstream file(path);
  file << json.dump(2) << "\n";
  file.close();
  if (!file)
    throw std::runtime_error("cannot write " + path.string());
  return path.string();
}

int runProgram(const std::string &program, const std::string &title, const std::function<void(Table &)> &body) {
  try {
    Table table(program, title);
    body(table);
    if (table.isWhole())
      fmt::print("written to {}\n", table.write());
    return 0;
  } catch (const std::exception &error) {
    fmt::print(stderr, "{}: {}\n", program, error.what());
    return 1;
  }
}

} // namespace halftone::benchmarks
