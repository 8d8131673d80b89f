// Term tables, built from vocabularies, files and counts.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/layers/LookupTable.h"
#include "frontend/graph/Promotion.h"
#include "frontend/layers/StringHashes.h"
#include "halftone/Error.h"
#include "runtime/base/Extents.h"
#include "runtime/base/FreeMemory.h"
#include "runtime/base/OpenFile.h"
#include "runtime/base/PrintableText.h"
#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>

namespace halftone::detail {

namespace {

[[noreturn]] void refuse(const std::string &message) { throw Error(ErrorKind::value_error, message); }

std::string quoted(const std::string &term) { return fmt::format("'{}'", printable(term)); }
std::string quoted(int64_t term) { return fmt::format("{}", term); }
template <class Term> std::string quoted(const std::optional<Term> &term) { return term ? quoted(*term) : "None"; }
/// At most ten terms, as a list.
template <class Terms> std::string listed(const Terms &terms) {
  std::vector<std::string> texts;
  for (const auto &term : terms)
    if (texts.size() < 10)
      texts.push_back(quoted(term));
  return fmt::format("[{}{}]", fmt::join(texts, ", "), terms.size() > 10 ? ", ..." : "");
}

/// Refuses an argument that requests more indices than a list can hold.
void requireRoom(const char *argument, int64_t indices, size_t bytesEach) {
  const int64_t bytes = extentProduct(indices, static_cast<int64_t>(bytesEach));
  if (!fitsMemory(bytes))
    refuse(fmt::format("`{0}` is too large. Received: {0}={1}; {2}", argument, indices, memoryShortage(bytes)));
}

/// Rounded to floatx.
double rounded(double weight) { return Tensor::full({}, weight, floatxDtype()).item(); }

} // namespace

template <class Term> uint64_t TermIndex<Term>::hashOf(TermView<Term> term) {
  if constexpr (std::is_same_v<Term, std::string>) {
    return fingerprint64(term);
  } else {
    const uint64_t product = static_cast<uint64_t>(term) * 0x9e3779b97f4a7c15; // 2^64 divided by the golden ratio
    return product ^ product >> 32;
  }
}
template <class Term>
size_t TermIndex<Term>::slotOf(TermView<Term> term, uint64_t hash, const std::vector<Term> &terms) const {
  const size_t mask = slots_.size() - 1;
  for (size_t at = hash & mask;; at = (at + 1) & mask) {
    const uint64_t slot = slots_[at];
    if (slot == 0 || ((slot ^ hash) >> indexBits == 0 && terms[(slot & indexMask) - 1] == term))
      return at;
  }
}
template <class Term>
TermIndex<Term>::TermIndex(const std::vector<Term> &terms) : slots_(std::bit_ceil(terms.size() * 3 / 2 + 1)) {
  for (size_t i = 0; i < terms.size(); ++i) {
    const uint64_t hash = hashOf(terms[i]);
    uint64_t &slot = slots_[slotOf(terms[i], hash, terms)];
    if (slot == 0)
      slot = (hash & ~indexMask) | (i + 1);
  }
}
template <class Term>
std::optional<size_t> TermIndex<Term>::find(TermView<Term> term, const std::vector<Term> &terms) const {
  const uint64_t slot = slots_[slotOf(term, hashOf(term), terms)];
  return slot ? std::optional<size_t>((slot & indexMask) - 1) : std::nullopt;
}

template <class Term> void LookupRules<Term>::check(bool hasVocabulary, bool hasWeights) const {
  if (maxTokens && *maxTokens <= 1)
    refuse(fmt::format("If set, `max_tokens` must be greater than 1. Received: max_tokens={}", *maxTokens));
  if (pads && !maxTokens)
    refuse("If pad_to_max_tokens is True, must set `max_tokens`. Received: max_tokens=None");
  if (unknowns < 0)
    refuse(fmt::format("`num_oov_indices` must be greater than or equal to 0. Received: num_oov_indices={}", unknowns));
  requireRoom("num_oov_indices", unknowns, sizeof(std::optional<Term>));
  if (pads && mode == OutputMode::tf_idf)
    requireRoom("max_tokens", *maxTokens, sizeof(double));
  const char *const word = Choice<OutputMode>(mode).word();
  if (invert && mode != OutputMode::int_)
    refuse(fmt::format("`output_mode` must be `'int'` when `invert` is true. Received: output_mode={}", word));
  if (hasWeights && mode != OutputMode::tf_idf)
    refuse(
        fmt::format("`idf_weights` should only be set if `output_mode` is `'tf_idf'`. Received: output_mode={}", word));
  if (hasVocabulary && !hasWeights && mode == OutputMode::tf_idf)
    refuse("When specifying the `vocabulary` argument, in TF-IDF output mode, the `idf_weights` argument must also be "
           "provided.");
}

template <class Term> std::vector<std::optional<Term>> LookupRules<Term>::specialTokens() const {
  std::vector<std::optional<Term>> tokens(static_cast<size_t>(unknownBegin()), mask);
  tokens.resize(static_cast<size_t>(termBegin()), unknown);
  return tokens;
}

template <class Term>
LookupTable<Term>::LookupTable(LookupRules<Term> rules, std::vector<Term> terms, std::vector<double> weights)
    : rules_(std::move(rules)), terms_(std::move(terms)), index_(terms_), weights_(std::move(weights)) {}

template <class Term> int64_t LookupTable<Term>::indexOf(TermView<Term> term) const {
  if (rules_.mask && term == TermView<Term>(*rules_.mask))
    return rules_.mode == OutputMode::int_ ? 0 : droppedIndex;
  if (const std::optional<size_t> found = index_.find(term, terms_))
    return rules_.termBegin() + static_cast<int64_t>(*found);
  if (rules_.unknowns == 1)
    return rules_.unknownBegin();
  if (rules_.unknowns == 0)
    refuse(
        fmt::format("When `num_oov_indices=0` all inputs should be in vocabulary, found OOV value {}, consider setting "
                    "`num_oov_indices=1`.",
                    quoted(Term(term))));
  if constexpr (std::is_same_v<Term, std::string>) {
    return rules_.unknownBegin() + static_cast<int64_t>(fingerprint64(term) % static_cast<uint64_t>(rules_.unknowns));
  } else {
    const int64_t rest = term % rules_.unknowns; // has the sign of the term
    return rules_.unknownBegin() + (rest < 0 ? rest + rules_.unknowns : rest);
  }
}

template <class Term> Term LookupTable<Term>::termAt(int64_t index) const {
  if (index == 0 && rules_.mask && rules_.mode == OutputMode::int_)
    return *rules_.mask;
  const int64_t position = index - rules_.termBegin();
  const bool isTerm = index >= rules_.termBegin() && position < static_cast<int64_t>(terms_.size());
  return isTerm ? terms_[static_cast<size_t>(position)] : rules_.unknown.value_or(Term());
}

template <class Term> std::vector<Term> LookupTable<Term>::vocabulary(bool withSpecial) const {
  std::vector<Term> all;
  for (int64_t i = withSpecial ? 0 : rules_.termBegin(); i < size(); ++i)
    all.push_back(termAt(i));
  return all;
}

template <class Term> void TermCounter<Term>::add(TermView<Term> term) {
  auto found = counts_.find(term);
  if (found == counts_.end())
    found = counts_.emplace(Term(term), Count()).first;
  Count &count = found->second;
  ++count.all;
  count.documents += count.latest != documents_;
  count.latest = documents_;
}

template <class Term>
std::shared_ptr<const LookupTable<Term>> TermCounter<Term>::table(const LookupRules<Term> &rules) const {
  std::vector<const std::pair<const Term, Count> *> order;
  for (const auto &each : counts_)
    if (each.first != rules.mask && each.first != rules.unknown)
      order.push_back(&each);
  std::ranges::sort(order, [](const auto *a, const auto *b) {
    return a->second.all != b->second.all ? a->second.all > b->second.all : a->first > b->first;
  });
  if (rules.maxTokens)
    order.resize(
        std::min(order.size(), static_cast<size_t>(std::max<int64_t>(*rules.maxTokens - rules.termBegin(), 0))));
  std::vector<Term> terms;
  std::vector<double> weights;
  for (const auto *each : order) {
    terms.push_back(each->first);
    if (rules.mode == OutputMode::tf_idf)
      weights.push_back(rounded(
          std::log(1.0 + static_cast<double>(documents_) / (1.0 + static_cast<double>(each->second.documents)))));
  }
  if (rules.mode == OutputMode::tf_idf) {
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    const double mean = weights.empty() ? 0.0 : rounded(sum / static_cast<double>(weights.size()));
    weights.insert(weights.begin(), static_cast<size_t>(rules.termBegin()), mean);
    if (rules.pads)
      weights.resize(static_cast<size_t>(*rules.maxTokens));
  }
  return std::make_shared<LookupTable<Term>>(rules, std::move(terms), std::move(weights));
}

/// The weights of all indices. If the vocabulary lacks special tokens, their weight is the mean.
template <class Term>
static std::vector<double> paddedWeights(const LookupRules<Term> &rules, const std::vector<double> &given,
                                         bool withSpecial) {
  std::vector<double> weights;
  std::ranges::transform(given, std::back_inserter(weights), rounded);
  if (!withSpecial) {
    const double sum = std::accumulate(given.begin(), given.end(), 0.0);
    weights.insert(weights.begin(), static_cast<size_t>(rules.termBegin()),
                   rounded(sum / static_cast<double>(given.size())));
  }
  if (rules.pads)
    weights.resize(std::max(weights.size(), static_cast<size_t>(*rules.maxTokens)));
  return weights;
}

/// Refuses a special token among the terms.
template <class Term>
static void requireNone(const LookupRules<Term> &rules, const std::optional<Term> &token, const char *kind,
                        const char *argument, const std::vector<Term> &terms, const std::vector<Term> &vocabulary) {
  if (!token || std::ranges::find(terms, *token) == terms.end())
    return;
  const auto last = std::ranges::find(vocabulary.rbegin(), vocabulary.rend(), *token);
  refuse(fmt::format(
      "Found reserved {} token at unexpected location in `vocabulary`. Note that passed `vocabulary` does "
      "not need to include the OOV and mask tokens. Either remove all mask and OOV tokens, or include them "
      "only at the start of the vocabulary in precisely this order: {}. Received: {}={} at vocabulary index "
      "{}",
      kind, listed(rules.specialTokens()), argument, quoted(*token), std::distance(last, vocabulary.rend()) - 1));
}

template <class Term> static void requireDistinct(const std::vector<Term> &terms) {
  std::unordered_map<TermView<Term>, int64_t> counts;
  std::vector<Term> repeated;
  for (const Term &term : terms)
    if (++counts[term] == 2)
      repeated.push_back(term);
  if (!repeated.empty())
    refuse(
        fmt::format("The passed vocabulary has at least one repeated term. Please uniquify your dataset. The repeated "
                    "terms are: {}",
                    listed(repeated)));
}

/// The terms of a file, which has no special tokens.
template <class Term> static std::vector<Term> termsOfFile(const LookupRules<Term> &rules, const std::string &path) {
  if (rules.mode == OutputMode::tf_idf)
    refuse("output_mode `'tf_idf'` does not support loading a vocabulary from file.");
  StatusOr<std::string> text = readFile(path);
  if (!text.isOk())
    throw Error(text.status().kind(), fmt::format("{}: the vocabulary: {}", rules.caller, text.status().message()));
  return termsIn<Term>(path, *text);
}

template <class Term>
std::shared_ptr<const LookupTable<Term>> tableOf(const LookupRules<Term> &rules,
                                                 const layers::Vocabulary<Term> &vocabulary,
                                                 const std::vector<double> &weights) {
  if (rules.mode == OutputMode::tf_idf && weights.empty())
    refuse("`idf_weights` must be set if output_mode is 'tf_idf'.");
  if (rules.mode != OutputMode::tf_idf && !weights.empty())
    refuse(fmt::format("`idf_weights` should only be set if output_mode is `'tf_idf'`. Received: output_mode={}",
                       Choice<OutputMode>(rules.mode).word()));
  const bool isFile = !vocabulary.path().empty();
  const std::vector<Term> all = isFile ? termsOfFile(rules, vocabulary.path()) : vocabulary.terms();
  if (all.empty())
    refuse("Cannot set an empty vocabulary. Received: vocabulary=[]");
  const std::vector<std::optional<Term>> special = rules.specialTokens();
  const bool withSpecial =
      !isFile && all.size() >= special.size() && std::equal(special.begin(), special.end(), all.begin());
  std::vector<Term> terms(withSpecial ? all.begin() + std::ssize(special) : all.begin(), all.end());
  requireDistinct(terms);
  requireNone(rules, rules.mask, "mask", "mask_token", terms, all);
  if (rules.invert)
    requireNone(rules, rules.unknown, "OOV", "oov_token", terms, all);
  const int64_t size = rules.termBegin() + std::ssize(terms);
  if (rules.maxTokens && size > *rules.maxTokens)
    refuse(
        fmt::format("Attempted to set a vocabulary larger than the maximum vocab size. Received vocabulary size is {}; "
                    "`max_tokens` is {}.",
                    size, *rules.maxTokens));
  if (rules.mode == OutputMode::tf_idf && weights.size() != all.size())
    refuse(fmt::format(
        "`idf_weights` must be the same length as vocabulary. len(idf_weights) is {}; len(vocabulary) is {}",
        weights.size(), all.size()));
  return std::make_shared<LookupTable<Term>>(rules, std::move(terms),
                                             weights.empty() ? weights : paddedWeights(rules, weights, withSpecial));
}

template <class Term> std::string textOf(const LookupTable<Term> &table) {
  const std::vector<Term> terms = table.vocabulary(true);
  if constexpr (std::is_same_v<Term, std::string>)
    for (const std::string &term : terms)
      if (term.find('\n') != term.npos || term.ends_with('\r'))
        refuse(fmt::format("a file cannot represent the vocabulary: its term {} contains the end of a line",
                           quoted(term)));
  return fmt::format("{}", fmt::join(terms, "\n"));
}

template <class Term> std::vector<Term> termsIn(const std::string &caller, std::string_view text) {
  std::vector<Term> terms;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    begin = end + 1;
    if constexpr (std::is_same_v<Term, std::string>) {
      terms.emplace_back(line);
    } else {
      int64_t number = 0;
      const auto [rest, error] = std::from_chars(line.begin(), line.end(), number);
      if (error != std::errc() || rest != line.end())
        refuse(fmt::format("{}: expected an integer on each line of a vocabulary, found {} on line {}", caller,
                           quoted(std::string(line.substr(0, 40))), terms.size() + 1));
      terms.push_back(number);
    }
  }
  if constexpr (std::is_same_v<Term, std::string>)
    while (!terms.empty() && terms.back().empty())
      terms.pop_back();
  return terms;
}

template struct LookupRules<std::string>;
template class LookupTable<std::string>;
template class TermCounter<std::string>;
template std::shared_ptr<const LookupTable<std::string>>
tableOf(const LookupRules<std::string> &, const layers::Vocabulary<std::string> &, const std::vector<double> &);
template std::string textOf(const LookupTable<std::string> &);
template std::vector<std::string> termsIn(const std::string &, std::string_view);

template struct LookupRules<int64_t>;
template class LookupTable<int64_t>;
template class TermCounter<int64_t>;
template std::shared_ptr<const LookupTable<int64_t>>
tableOf(const LookupRules<int64_t> &, const layers::Vocabulary<int64_t> &, const std::vector<double> &);
template std::string textOf(const LookupTable<int64_t> &);
template std::vector<int64_t> termsIn(const std::string &, std::string_view);

} // namespace halftone::detail
