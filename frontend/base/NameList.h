// Maps entries of user lists to the named inputs or outputs of a model.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Tensor.h"
#include <optional>
#include <string>
#include <vector>

namespace halftone::detail {

/// The inputs or the outputs of a model (or a layer), for which users give lists: data, targets, sample weights,
/// losses, metrics. Every such list passes through the functions below, so that no entry is misplaced or lost.
struct NameList {
  const char *kind = "output"; // the word for one of them in messages
  std::string owner{};         // their owner, in messages
  std::string path{};          // the layer path of errors
  /// The names in order. A layer may have several outputs with one name. Empty if the names are unknown; lists then
  /// have no names and any number of entries.
  std::vector<std::string> names{};
  std::vector<bool> needed{}; // true for those that must have an entry in a list; empty: for all
};

/// The name "[i]", used in files and messages for one of several outputs that share a name.
std::string positionName(size_t position);

/// The positions that `name` denotes: all with that name, as in Keras, or the position of a positionName(). value_error
/// with `argument` and the known names if there is none.
std::vector<size_t> positionsOf(const NameList &list, const char *argument, const std::string &name);

/// For each position, the index of its entry in a list of `count` entries, which have `names` or no names. A list
/// without names has one entry per position, or one per position that needs an entry. value_error with `argument`, the
/// reason and the expected names: for too few or too many entries, for an unknown name, for two entries for one
/// position, and for a position that needs an entry and has none.
std::vector<std::optional<size_t>> entriesOf(const NameList &list, const char *argument,
                                             const std::vector<std::string> &names, size_t count);

/// The tensors by position; undefined where there is none. value_error as for entriesOf().
std::vector<Tensor> inOrder(const NameList &list, const char *argument, const Tensors &tensors);

} // namespace halftone::detail
