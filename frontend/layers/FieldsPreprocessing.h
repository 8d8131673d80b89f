// The arguments of layers for strings and categories as config keys.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/layers/Fields.h"

namespace halftone::detail {

/// The size of the vocabulary. The config contains it if the vocabulary is elsewhere in the file.
struct FrozenSize {
  std::optional<int64_t> vocabularySize{};
};
struct StringLookupOptions : layers::StringLookupArgs, FrozenSize {
  Layer layer() const;
};
struct IntegerLookupOptions : layers::IntegerLookupArgs, FrozenSize {
  Layer layer() const;
};
struct TextVectorizationOptions : layers::TextVectorizationArgs, FrozenSize {
  Layer layer() const;
};
struct CategoryEncodingOptions : layers::CategoryEncodingArgs {
  int64_t numTokens = 0;
  Layer layer() const { return layers::CategoryEncoding(numTokens, *this); }
};
struct DiscretizationOptions : layers::DiscretizationArgs {
  std::optional<std::vector<double>> boundaries{}; // given or learned
  Layer layer() const; // of a config that has num_bins and boundaries, since the layer was adapted
};
struct HashingOptions : layers::HashingArgs {
  int64_t numBins = 0;
  Layer layer() const { return layers::Hashing(numBins, *this); }
};
struct HashedCrossingOptions : layers::HashedCrossingArgs {
  int64_t numBins = 0;
  Layer layer() const { return layers::HashedCrossing(numBins, *this); }
};
template <> inline constexpr size_t mostInputs<CategoryEncodingOptions> = 2;
template <> inline constexpr size_t mostInputs<HashedCrossingOptions> = 0; // checked by the layer itself

/// A vocabulary as a list; null for none, and for one in a file.
template <class Args> struct VocabularyField {
  void write(Config &config, const Args &args) const {
    if (args.vocabulary.is_given() && args.vocabulary.path().empty())
      setField(config, "vocabulary", args.vocabulary.terms());
    else
      config.set_null("vocabulary");
  }
  void read(FieldReader &reader, Args &args) const {
    std::optional<std::remove_cvref_t<decltype(args.vocabulary.terms())>> terms;
    reader.readOne("vocabulary", terms);
    if (terms)
      args.vocabulary = *std::move(terms);
  }
};
/// Weights as a list; null for none.
template <class Args> struct WeightsField {
  void write(Config &config, const Args &args) const {
    if (args.idf_weights.empty())
      config.set_null("idf_weights");
    else
      setField(config, "idf_weights", args.idf_weights);
  }
  void read(FieldReader &reader, Args &args) const {
    if (reader.takes("idf_weights") && !reader.isNull("idf_weights"))
      args.idf_weights = reader.get<std::vector<double>>("idf_weights");
  }
};
/// A mode name; null for none. value_error for a user function.
template <class Args, class T> struct FunctionField {
  const char *key;
  T Args::*member;
  void write(Config &config, const Args &args) const {
    if ((args.*member).function())
      throw Error(ErrorKind::value_error, std::string("no config can hold the function given as `") + key + "`");
    if ((args.*member).word().empty())
      config.set_null(key);
    else
      config.set(key, (args.*member).word());
  }
  void read(FieldReader &reader, Args &args) const {
    std::optional<std::string> word;
    if (!reader.takes(key))
      return;
    if (reader.isObject(key))
      throw Error(ErrorKind::not_implemented_error, std::string("`") + key + "` is a Python function");
    reader.readOne(key, word);
    args.*member = T(word.value_or(""));
  }
};
struct NgramsField {
  void write(Config &config, const layers::TextVectorizationArgs &args) const {
    if (args.ngrams.counts().empty())
      setField(config, "ngrams", args.ngrams.most());
    else
      setField(config, "ngrams", args.ngrams.counts());
  }
  void read(FieldReader &reader, layers::TextVectorizationArgs &args) const {
    if (!reader.takes("ngrams") || reader.isNull("ngrams"))
      return;
    if (reader.isList("ngrams"))
      args.ngrams = reader.get<std::vector<int64_t>>("ngrams");
    else
      args.ngrams = reader.get<int64_t>("ngrams");
  }
};
/// The fields of lookups, before and after those of the term dtype.
template <class Args>
constexpr std::tuple lookupRuleFields{Field{"invert", &Args::invert},
                                      Field{"max_tokens", &Args::max_tokens},
                                      Field{"num_oov_indices", &Args::num_oov_indices},
                                      Field{"oov_token", &Args::oov_token},
                                      Field{"mask_token", &Args::mask_token},
                                      Field{"output_mode", &Args::output_mode},
                                      FixedField{"sparse", false},
                                      Field{"pad_to_max_tokens", &Args::pad_to_max_tokens}};
template <class Options, class Args>
constexpr std::tuple lookupTermFields{WeightsField<Args>(), VocabularyField<Args>(),
                                      Field{"vocabulary_size", &Options::vocabularySize},
                                      FixedField{"oov_method", "floormod"}, FixedField{"salt", nullptr}};
template <>
inline constexpr std::tuple layerFields<StringLookupOptions> =
    std::tuple_cat(lookupRuleFields<layers::StringLookupArgs>,
                   lookupTermFields<StringLookupOptions, layers::StringLookupArgs>,
                   std::tuple{FixedField{"encoding", "utf-8"}});
template <>
inline constexpr std::tuple layerFields<IntegerLookupOptions> =
    std::tuple_cat(lookupRuleFields<layers::IntegerLookupArgs>, std::tuple{FixedField{"vocabulary_dtype", "int64"}},
                   lookupTermFields<IntegerLookupOptions, layers::IntegerLookupArgs>);
template <>
inline constexpr std::tuple layerFields<TextVectorizationOptions>{
    Field{"max_tokens", &layers::TextVectorizationArgs::max_tokens},
    FunctionField{"standardize", &layers::TextVectorizationArgs::standardize},
    FunctionField{"split", &layers::TextVectorizationArgs::split},
    NgramsField(),
    Field{"output_mode", &layers::TextVectorizationArgs::output_mode},
    Field{"output_sequence_length", &layers::TextVectorizationArgs::output_sequence_length},
    Field{"pad_to_max_tokens", &layers::TextVectorizationArgs::pad_to_max_tokens},
    FixedField{"sparse", false},
    FixedField{"ragged", false},
    VocabularyField<layers::TextVectorizationArgs>(),
    WeightsField<layers::TextVectorizationArgs>(),
    FixedField{"encoding", "utf-8"},
    Field{"vocabulary_size", &TextVectorizationOptions::vocabularySize}};
template <>
inline constexpr std::tuple layerFields<CategoryEncodingOptions>{
    Field{"num_tokens", &CategoryEncodingOptions::numTokens, Presence::required},
    Field{"output_mode", &layers::CategoryEncodingArgs::output_mode}};
template <>
inline constexpr std::tuple layerFields<DiscretizationOptions>{
    Field{"bin_boundaries", &DiscretizationOptions::boundaries},
    Field{"num_bins", &layers::DiscretizationArgs::num_bins}, Field{"epsilon", &layers::DiscretizationArgs::epsilon},
    Field{"output_mode", &layers::DiscretizationArgs::output_mode}, FixedField{"sparse", false}};
template <>
inline constexpr std::tuple layerFields<HashingOptions>{
    Field{"num_bins", &HashingOptions::numBins, Presence::required}, ListField{"salt", &layers::HashingArgs::salt},
    Field{"mask_value", &layers::HashingArgs::mask_value}, Field{"output_mode", &layers::HashingArgs::output_mode},
    FixedField{"sparse", false}};
template <>
inline constexpr std::tuple layerFields<HashedCrossingOptions>{
    Field{"num_bins", &HashedCrossingOptions::numBins, Presence::required},
    Field{"output_mode", &layers::HashedCrossingArgs::output_mode}, FixedField{"sparse", false}};

} // namespace halftone::detail
