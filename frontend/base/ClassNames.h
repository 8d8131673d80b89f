// Looks up classes by their names in configs, and creates their objects.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/base/ConfigFields.h"
#include "halftone/Error.h"
#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::detail {

/// The row of a class in a catalogue whose rows have a `className`; null if there is none.
template <class Row, size_t rows> const Row *findClass(const Row (&catalogue)[rows], std::string_view className) {
  const Row *found = std::ranges::find_if(catalogue, [&](const Row &row) { return row.className == className; });
  return found == std::end(catalogue) ? nullptr : found;
}

/// The text of an error about an unknown class: "Did you mean 'Dense'? The layers are: Activation, Add". The first
/// sentence is included only if a name differs by few letters. `what` is the plural noun, "layers".
std::string knownClasses(const std::vector<std::string_view> &names, std::string_view className, std::string_view what);

template <class Row, size_t rows>
std::string knownClasses(const Row (&catalogue)[rows], std::string_view className, std::string_view what) {
  std::vector<std::string_view> names;
  for (const Row &row : catalogue)
    names.emplace_back(row.className);
  return knownClasses(names, className, what);
}

/// Creates the object of a saved config with the row of its class. value_error for an unknown class or argument; `kind`
/// and its plural `kinds` name the catalogue in the message.
template <class Row, size_t rows>
auto madeFrom(const Row (&catalogue)[rows], const Config &config, std::string_view kind, std::string_view kinds) {
  SavedObject saved = savedObject(config);
  const Row *found = findClass(catalogue, saved.className);
  if (!found)
    throw Error(ErrorKind::value_error, fmt::format("Could not locate {} class '{}'. {}", kind, saved.className,
                                                    knownClasses(catalogue, saved.className, kinds)));
  auto object = found->make(saved.fields);
  saved.fields.requireNothingLeft(saved.className);
  return object;
}

} // namespace halftone::detail
