// The names of a model's inputs or outputs, and the entries that users' lists have for them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Tensor.h"
#include <optional>
#include <string>
#include <vector>

namespace halftone::detail {

/// The inputs or the outputs of a model (or a layer), for which users give lists: data, targets, weights of samples, losses,
/// metrics. Every such list passes through the functions below, so that no entry gets to another position, and none is lost.
struct NameList {
  const char *kind = "output"; // the word for one of them in messages
  std::string owner{};         // who has them, in messages: "'net'"
  std::string path{};          // the layer path of errors
  /// The names in order. A layer may give several outputs under one name. Empty: they are not known, so that lists have no
  /// names, and any number of entries.
  std::vector<std::string> names{};
  std::vector<bool> needed{}; // for which of them a list must have an entry; empty: for all
};

/// The name "[i]", which files and messages use for one of several outputs that share a name.
std::string positionName(size_t position);

/// The positions that `name` stands for: all that have it, as in Keras, or the one of a positionName(). value_error that names
/// `argument` and lists the names if there is none.
std::vector<size_t> positionsOf(const NameList &list, const char *argument, const std::string &name);

/// For each position the index of its entry in a list of `count` entries that have `names`, or none. A list without names has
/// an entry for each position, or for each that needs one. value_error that names `argument`, the fault and the names that
/// are expected: for too few or too many entries, for an unknown name, for two entries for one position, and for a position
/// that needs an entry and has none.
std::vector<std::optional<size_t>> entriesOf(const NameList &list, const char *argument,
                                             const std::vector<std::string> &names, size_t count);

/// The tensors by position; undefined where there is none. value_error as of entriesOf().
std::vector<Tensor> inOrder(const NameList &list, const char *argument, const Tensors &tensors);

} // namespace halftone::detail
