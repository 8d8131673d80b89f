// Replaces vocabularies, and converts them from and to their form in files.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/LookupState.h"
#include "frontend/base/DatasetAccess.h"
#include "frontend/graph/Promotion.h"
#include "frontend/layers/StringHashes.h"
#include "runtime/base/ConfigurationEpoch.h"
#include <bit>
#include <fmt/format.h>

namespace halftone::detail {

template <class Term>
void LookupState<Term>::begin(const layers::Vocabulary<Term> &vocabulary, const std::vector<double> &weights) {
  rules_.check(vocabulary.is_given(), !weights.empty());
  if (!vocabulary.is_given())
    return;
  table_ = tableOf(rules_, vocabulary, weights);
  frozen_ = table_->size();
  isGiven_ = true;
  isInConfig_ = vocabulary.path().empty();
}

template <class Term> void LookupState<Term>::freeze(std::optional<int64_t> size) {
  if (size && *size < rules_.termBegin())
    throw Error(ErrorKind::value_error,
                fmt::format("{}: `vocabulary_size` must be at least {}, the number of special tokens. Received: {}",
                            rules_.caller, rules_.termBegin(), *size));
  if (!frozen_ && size.value_or(0) > 0)
    frozen_ = size;
}

template <class Term> void LookupState<Term>::replace(std::shared_ptr<const LookupTable<Term>> table) {
  const bool mayGrow = rules_.mode == OutputMode::int_ || rules_.pads;
  const bool hasTerms = frozen_.value_or(0) > rules_.termBegin();
  if (!mayGrow && hasTerms && *frozen_ != table->size())
    throw Error(ErrorKind::runtime_error,
                fmt::format("When using `output_mode={}` and `pad_to_max_tokens=False`, the vocabulary size cannot be "
                            "changed after the layer is called. Old vocab size is {}, new vocab size is {}",
                            Choice<OutputMode>(rules_.mode).word(), *frozen_, table->size()));
  frozen_ = table->size();
  table_ = std::move(table);
  bumpConfigurationEpoch();
}

template <class Term>
void LookupState<Term>::set(const layers::Vocabulary<Term> &vocabulary, const std::vector<double> &weights) {
  replace(tableOf(rules_, vocabulary, weights));
}

template <class Term> void LookupState<Term>::finish(const TermCounter<Term> &counter) {
  if (!counter.isEmpty())
    replace(counter.table(rules_));
}

template <class Term> void LookupState<Term>::requireAdaptable(const std::string &layer) const {
  if (isGiven_)
    throw Error(ErrorKind::value_error,
                fmt::format("Cannot adapt layer '{}' after setting a static vocabulary via `vocabulary` argument or "
                            "`set_vocabulary()` method.",
                            layer));
}

template <class Term> HostEncoding LookupState<Term>::encoding() const {
  if (rules_.mode == OutputMode::int_)
    return {.mode = OutputMode::int_, .dtype = DType::int64};
  if (!rules_.pads && frozen_.value_or(0) == 0)
    throw Error(ErrorKind::runtime_error,
                fmt::format("When using `output_mode={}` and `pad_to_max_tokens=False`, you must set the layer's "
                            "vocabulary before calling it. Either pass a `vocabulary` argument to the layer, or call "
                            "`adapt` with some sample data.",
                            Choice<OutputMode>(rules_.mode).word()));
  return {.mode = rules_.mode,
          .depth = rules_.pads ? *rules_.maxTokens : *frozen_,
          .dtype = floatxDtype(),
          .weights = table_->weights()};
}

template <class Term> Tensor LookupState<Term>::idfWeights() const {
  if (table_->weights().empty())
    return {};
  return Tensor(std::vector<double>(table_->weights())).astype(floatxDtype());
}

template <class Term> std::string LookupState<Term>::summary() const {
  uint64_t all = 0;
  const std::vector<Term> terms = table_->vocabulary(true);
  for (const Term &term : terms)
    if constexpr (std::is_same_v<Term, std::string>)
      all = joinedFingerprint(all, fingerprint64(term));
    else
      all = joinedFingerprint(all, static_cast<uint64_t>(term));
  for (const double weight : table_->weights())
    all = joinedFingerprint(all, std::bit_cast<uint64_t>(weight));
  return fmt::format("{} terms with the fingerprint {:#x}", terms.size(), all);
}

template <class Term> std::optional<std::string> LookupState<Term>::vocabularyText() const {
  return isInConfig_ ? std::nullopt : std::optional(textOf(*table_));
}

template <class Term>
void LookupState<Term>::restore(const Tensor &idfWeights, std::optional<std::string_view> vocabulary) {
  const bool isWeighted = rules_.mode == OutputMode::tf_idf;
  std::vector<double> weights;
  if (isWeighted && idfWeights.defined())
    weights = idfWeights.astype(DType::float64).template to_vector<double>();
  std::vector<Term> terms = vocabulary ? termsIn<Term>(rules_.caller, *vocabulary) : table_->vocabulary(true);
  if constexpr (std::is_same_v<Term, std::string>)
    if (vocabulary && vocabulary->ends_with('\n') && frozen_ == std::ssize(terms) + 1)
      terms.emplace_back(); // the config counts the trailing empty line as a term
  if (static_cast<int64_t>(terms.size()) <= rules_.termBegin())
    return; // the layer had no vocabulary yet
  if (isWeighted && weights.size() > terms.size() && rules_.pads)
    weights.resize(terms.size());
  if (!isWeighted && !vocabulary)
    return;
  set(layers::Vocabulary<Term>(std::move(terms)), weights);
}

template class LookupState<std::string>;
template class LookupState<int64_t>;

void forEachInput(const Dataset &data, std::optional<int64_t> steps, const std::function<void(const Tensor &)> &add) {
  if (!steps && DatasetAccess::isEndless(data))
    throw Error(ErrorKind::value_error, "adapt() reads all batches, but repeat() without a count never ends: give "
                                        "`steps`, the number of batches to read");
  if (steps && *steps < 0)
    throw Error(ErrorKind::value_error, fmt::format("steps must not be negative, got {}", *steps));
  int64_t step = 0;
  for (auto at = data.begin(); step != steps && at != data.end(); ++step) {
    add((*at).x[0]);
    if (step + 1 != steps)
      ++at;
  }
}

} // namespace halftone::detail
