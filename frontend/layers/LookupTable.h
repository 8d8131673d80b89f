// The vocabulary of a lookup layer: maps terms to indices and back.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/layers/HostEncoding.h"
#include "halftone/LayersPreprocessing.h"
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace halftone::detail {

/// The type of a term in table lookups.
template <class Term> using TermView = std::conditional_t<std::is_same_v<Term, std::string>, std::string_view, Term>;

/// A hash table from terms to their positions in a list, with open addressing. A slot holds some bits of the hash, so
/// that unequal terms are rarely compared.
template <class Term> class TermIndex {
public:
  /// Of equal terms, the table contains the first.
  explicit TermIndex(const std::vector<Term> &terms);
  std::optional<size_t> find(TermView<Term> term, const std::vector<Term> &terms) const;

private:
  static constexpr int indexBits = 40;
  static constexpr uint64_t indexMask = (uint64_t(1) << indexBits) - 1;
  static uint64_t hashOf(TermView<Term> term);
  /// The slot of the term, or the empty slot where it would be inserted.
  size_t slotOf(TermView<Term> term, uint64_t hash, const std::vector<Term> &terms) const;
  std::vector<uint64_t> slots_; // the position plus 1 in the low bits, the high bits of the hash above; 0 if empty
};

template <class Term> struct LookupRules {
  std::string caller; // the class of the layer
  std::optional<int64_t> maxTokens{};
  int64_t unknowns = 1;
  std::optional<Term> mask{}, unknown{};
  bool invert = false;
  OutputMode mode = OutputMode::int_;
  bool pads = false;

  /// value_error for contradictory rules, and for index counts that do not fit in memory.
  void check(bool hasVocabulary, bool hasWeights) const;
  /// The index of the first unknown token, and of the first term.
  int64_t unknownBegin() const { return mask && mode == OutputMode::int_ ? 1 : 0; }
  int64_t termBegin() const { return unknownBegin() + unknowns; }
  std::vector<std::optional<Term>> specialTokens() const;
};

/// An immutable table, which programs and threads may share.
template <class Term> class LookupTable {
public:
  explicit LookupTable(LookupRules<Term> rules) : LookupTable(std::move(rules), {}, {}) {}
  /// `terms` must be distinct. `weights`: one per index, or none.
  LookupTable(LookupRules<Term> rules, std::vector<Term> terms, std::vector<double> weights);
  LookupTable(const LookupTable &) = delete;

  /// The index of a term, or droppedIndex. value_error for an unknown term if the rules have no unknown token.
  int64_t indexOf(TermView<Term> term) const;
  Term termAt(int64_t index) const;
  int64_t size() const { return rules_.termBegin() + static_cast<int64_t>(terms_.size()); }
  std::vector<Term> vocabulary(bool withSpecial) const;
  const std::vector<double> &weights() const { return weights_; }
  const LookupRules<Term> &rules() const { return rules_; }

private:
  LookupRules<Term> rules_;
  std::vector<Term> terms_;
  TermIndex<Term> index_;
  std::vector<double> weights_;
};

/// Counts the terms of documents, and creates the table of the most frequent ones.
template <class Term> class TermCounter {
public:
  void add(TermView<Term> term);
  void endDocument() { ++documents_; }
  bool isEmpty() const { return counts_.empty(); }
  std::shared_ptr<const LookupTable<Term>> table(const LookupRules<Term> &rules) const;

private:
  struct Count {
    int64_t all = 0, documents = 0, latest = -1; // latest: the last document that has the term
  };
  struct Hash {
    using is_transparent = void; // NOLINT(readability-identifier-naming): the name is that of the C++ library
    size_t operator()(TermView<Term> term) const { return std::hash<TermView<Term>>()(term); }
  };
  std::unordered_map<Term, Count, Hash, std::equal_to<>> counts_;
  int64_t documents_ = 0;
};

/// The table of a vocabulary from a user or a file, with or without leading special tokens. value_error as of
/// set_vocabulary().
template <class Term>
std::shared_ptr<const LookupTable<Term>>
tableOf(const LookupRules<Term> &rules, const layers::Vocabulary<Term> &vocabulary, const std::vector<double> &weights);

/// The vocabulary as the text of a file, one term per line. value_error for a term that such a file cannot represent.
template <class Term> std::string textOf(const LookupTable<Term> &table);
/// The terms in such a text, without trailing empty terms. value_error for a line that is not an integer, if terms are
/// integers.
template <class Term> std::vector<Term> termsIn(const std::string &caller, std::string_view text);

} // namespace halftone::detail
