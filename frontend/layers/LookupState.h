// The vocabulary of a layer as it changes: by adapt(), set_vocabulary() and files.
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
  /// Checks the rules, and takes the vocabulary with which the layer is made, if there is one.
  void begin(const layers::Vocabulary<Term> &vocabulary, const std::vector<double> &weights);
  /// Takes the size of the vocabulary that a config tells for one that is elsewhere in the file. value_error unless it can be
  /// one.
  void freeze(std::optional<int64_t> size);
  void set(const layers::Vocabulary<Term> &vocabulary, const std::vector<double> &weights);
  /// Takes the table of the counted terms, unless there are none.
  void finish(const TermCounter<Term> &counter);
  /// value_error if the layer named `layer` was made with a vocabulary.
  void requireAdaptable(const std::string &layer) const;
  /// How the layer encodes indices. runtime_error for vectors of a vocabulary whose size is unknown or 0.
  HostEncoding encoding() const;
  const std::shared_ptr<const LookupTable<Term>> &table() const { return table_; }
  std::optional<int64_t> frozen() const { return frozen_; }

  Tensor idfWeights() const;
  std::optional<std::string> vocabularyText() const;
  std::string summary() const;
  bool readsVocabulary() const { return !isInConfig_; }
  void restore(const Tensor &idfWeights, std::optional<std::string_view> vocabulary);

private:
  /// Replaces the table. Programs that are compiled keep the old one.
  void replace(std::shared_ptr<const LookupTable<Term>> table);

  LookupRules<Term> rules_;
  std::shared_ptr<const LookupTable<Term>> table_;
  std::optional<int64_t> frozen_;
  bool isGiven_ = false;    // the layer was made with a vocabulary
  bool isInConfig_ = false; // as a list, which the config has
};

/// Shows `add` the first inputs of the batches, of the first `steps` ones if given. value_error for a dataset without end, if
/// `steps` does not say where to stop.
void forEachInput(const Dataset &data, std::optional<int64_t> steps, const std::function<void(const Tensor &)> &add);

} // namespace halftone::detail
