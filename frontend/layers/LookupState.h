// The vocabulary of a layer, which adapt(), set_vocabulary() and files change.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/layers/LookupTable.h"
#include "halftone/Data.h"
#include <functional>

namespace halftone::detail {

template <class Term> class LookupState {
public:
  explicit LookupState(const LookupRules<Term> &rules)
      : rules_(rules), table_(std::make_shared<LookupTable<Term>>(rules)) {}
  /// Validates the rules, and sets the vocabulary with which the layer is created, if any.
  void begin(const layers::Vocabulary<Term> &vocabulary, const std::vector<double> &weights);
  /// Sets the size of the vocabulary from a config whose vocabulary is elsewhere in the file. value_error if the size
  /// is invalid.
  void freeze(std::optional<int64_t> size);
  void set(const layers::Vocabulary<Term> &vocabulary, const std::vector<double> &weights);
  /// Sets the table of the counted terms, unless there are none.
  void finish(const TermCounter<Term> &counter);
  /// value_error if the layer named `layer` was created with a vocabulary.
  void requireAdaptable(const std::string &layer) const;
  /// The encoding of indices. runtime_error if it needs vectors over a vocabulary whose size is unknown or 0.
  HostEncoding encoding() const;
  const std::shared_ptr<const LookupTable<Term>> &table() const { return table_; }
  std::optional<int64_t> frozen() const { return frozen_; }

  Tensor idfWeights() const;
  std::optional<std::string> vocabularyText() const;
  std::string summary() const;
  bool readsVocabulary() const { return !isInConfig_; }
  void restore(const Tensor &idfWeights, std::optional<std::string_view> vocabulary);

private:
  /// Replaces the table. Programs already compiled keep the old one.
  void replace(std::shared_ptr<const LookupTable<Term>> table);

  LookupRules<Term> rules_;
  std::shared_ptr<const LookupTable<Term>> table_;
  std::optional<int64_t> frozen_;
  bool isGiven_ = false;    // the layer was created with a vocabulary
  bool isInConfig_ = false; // as a list in the config
};

/// Calls `add` with the first input of each batch, of the first `steps` batches if given. value_error for an endless
/// dataset without `steps`, and for negative `steps`.
void forEachInput(const Dataset &data, std::optional<int64_t> steps, const std::function<void(const Tensor &)> &add);

} // namespace halftone::detail
