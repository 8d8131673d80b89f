// The result of fit: the logs of its epochs.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/training/HistoryRep.h"
#include "halftone/Error.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone {

void History::Rep::record(int64_t epoch, const Logs &logs) {
  epochs.push_back(epoch);
  for (const auto &[name, value] : logs) {
    auto found = std::find_if(values.begin(), values.end(), [&](const auto &entry) { return entry.first == name; });
    if (found == values.end()) {
      found = values.insert(values.end(), {name, {}});
      epochsOfValues.emplace_back();
    }
    found->second.push_back(value);
    epochsOfValues[static_cast<size_t>(found - values.begin())].push_back(epoch);
  }
}

std::vector<double> History::operator[](std::string_view key) const {
  if (rep_)
    for (const auto &[name, values] : rep_->values)
      if (name == key)
        return values;
  throw Error(ErrorKind::key_error,
              fmt::format("the history has no '{}'; its keys are [{}]", key, fmt::join(keys(), ", ")));
}
std::vector<std::string> History::keys() const {
  std::vector<std::string> names;
  if (rep_)
    for (const auto &[name, values] : rep_->values)
      names.push_back(name);
  return names;
}
std::vector<int64_t> History::epoch() const { return rep_ ? rep_->epochs : std::vector<int64_t>(); }

} // namespace halftone
