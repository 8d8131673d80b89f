// Finds the positions of the entries of user lists.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/NameList.h"
#include "halftone/Error.h"
#include <fmt/format.h>
#include <numeric>

namespace halftone::detail {

namespace {

[[noreturn]] void refuse(const NameList &list, const std::string &message) {
  throw Error(ErrorKind::value_error, message, list.path);
}

bool isNeeded(const NameList &list, size_t position) { return list.needed.empty() || list.needed[position]; }

/// "2 outputs: [a, b]".
std::string described(const std::vector<std::string> &names, const char *kind) {
  return fmt::format("{} {}{}: [{}]", names.size(), kind, names.size() == 1 ? "" : "s", fmt::join(names, ", "));
}

/// The positions of the entries of a list without names, in order.
std::vector<size_t> positionsByCount(const NameList &list, const char *argument, size_t count) {
  std::vector<size_t> all(list.names.size()), needed;
  std::iota(all.begin(), all.end(), size_t{0});
  std::vector<std::string> names;
  for (const size_t position : all)
    if (isNeeded(list, position)) {
      needed.push_back(position);
      names.push_back(list.names[position]);
    }
  if (count == all.size())
    return all;
  if (count == needed.size())
    return needed;
  std::string expected = fmt::format("{} expects {}", list.owner, described(list.names, list.kind));
  if (needed.size() < all.size())
    expected += fmt::format(", or an entry for each of the {} with a loss or a metric", described(names, list.kind));
  refuse(list, fmt::format("`{}` has {} {}, but {}", argument, count, count == 1 ? "entry" : "entries", expected));
}

} // namespace

std::string positionName(size_t position) { return fmt::format("[{}]", position); }

std::vector<size_t> positionsOf(const NameList &list, const char *argument, const std::string &name) {
  std::vector<size_t> found;
  for (size_t i = 0; i < list.names.size(); ++i)
    if (list.names[i] == name)
      found.push_back(i);
  for (size_t i = 0; found.empty() && i < list.names.size(); ++i)
    if (name == positionName(i))
      return {i};
  if (found.empty())
    refuse(list, fmt::format("`{}` names the {} '{}'; the {}s are [{}]", argument, list.kind, name, list.kind,
                             fmt::join(list.names, ", ")));
  return found;
}

std::vector<std::optional<size_t>> entriesOf(const NameList &list, const char *argument,
                                             const std::vector<std::string> &names, size_t count) {
  std::vector<std::optional<size_t>> entries(list.names.size());
  if (names.empty()) {
    const std::vector<size_t> positions = positionsByCount(list, argument, count);
    for (size_t i = 0; i < count; ++i)
      entries[positions[i]] = i;
    return entries;
  }
  for (size_t i = 0; i < count; ++i)
    for (const size_t position : positionsOf(list, argument, names[i])) {
      if (entries[position])
        refuse(list, fmt::format("`{}` has two entries for the {} '{}'", argument, list.kind, list.names[position]));
      entries[position] = i;
    }
  for (size_t i = 0; i < entries.size(); ++i)
    if (isNeeded(list, i) && !entries[i])
      refuse(list, fmt::format("`{}` has no entry for the {} '{}': it has [{}], and {} expects {}", argument, list.kind,
                               list.names[i], fmt::join(names, ", "), list.owner, described(list.names, list.kind)));
  return entries;
}

std::vector<Tensor> inOrder(const NameList &list, const char *argument, const Tensors &tensors) {
  if (list.names.empty()) {
    if (!tensors.names().empty())
      refuse(list, fmt::format("`{}` names the {}s [{}], but the {}s of {} have no names: give the tensors in order",
                               argument, list.kind, fmt::join(tensors.names(), ", "), list.kind, list.owner));
    return {tensors.begin(), tensors.end()};
  }
  if (tensors.names().empty() && tensors.size() == list.names.size())
    return {tensors.begin(), tensors.end()};
  std::vector<Tensor> ordered;
  for (const std::optional<size_t> &entry : entriesOf(list, argument, tensors.names(), tensors.size()))
    ordered.push_back(entry ? tensors[*entry] : Tensor());
  return ordered;
}

} // namespace halftone::detail
