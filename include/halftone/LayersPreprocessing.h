// Preprocessing layers for strings, integers and categories. String layers run on the host, before the program.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Choice.h"
#include "Data.h"
#include "Layer.h"
#include "Ops.h"
#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace halftone::layers {

// A host layer (StringLookup, IntegerLookup, TextVectorization, Hashing, HashedCrossing) computes its integers on the
// host, before each run of the program. Symbolic inputs must therefore be Inputs of a model or arguments of a function
// being traced; others are a not_implemented_error. On a Tensor with output_mode "int" nothing is compiled. Integers
// are int64, and vectors of other output modes are floatx.

/// A list of terms, or the name of a file with one term per line.
template <class Term> class Vocabulary {
public:
  Vocabulary() = default;
  Vocabulary(std::initializer_list<Term> terms) : terms_(terms), is_given_(true) {}
  Vocabulary(std::vector<Term> terms) : terms_(std::move(terms)), is_given_(true) {}
  static Vocabulary file(std::string path) {
    Vocabulary v;
    v.path_ = std::move(path);
    v.is_given_ = true;
    return v;
  }
  const std::vector<Term> &terms() const { return terms_; }
  const std::string &path() const { return path_; }
  bool is_given() const { return is_given_; }

private:
  std::vector<Term> terms_{};
  std::string path_{};
  bool is_given_ = false;
};

struct StringLookupArgs {
  std::optional<int64_t> max_tokens{}; // limit of the vocabulary's size, including mask and unknown tokens
  int64_t num_oov_indices = 1;         // 0: an unknown token is a value_error; several: FarmHash64 selects one
  std::optional<std::string> mask_token{};
  std::optional<std::string> oov_token = "[UNK]";
  Vocabulary<std::string> vocabulary{};
  std::vector<double> idf_weights{}; // one per term; only for "tf_idf"
  bool invert = false;               // indices to strings; only on Tensors
  Choice<OutputMode> output_mode = OutputMode::int_;
  bool pad_to_max_tokens = false;
  bool trainable = true;
  PolicyArg dtype{};
  std::string name{};
};
/// Maps each string to its index in the vocabulary, or each row to a vector as output_mode says. The vocabulary begins
/// with the mask token, if there is one and output_mode is "int", and the unknown tokens. A host layer.
class HALFTONE_API StringLookup : public Layer {
public:
  StringLookup(const StringLookupArgs &args = {}, Where where = Where::current());
  /// Builds the vocabulary from the data: at most max_tokens, by decreasing frequency, ties in descending order. A
  /// Dataset contributes the first input of each batch, of the first `steps` batches if given. With "tf_idf" the rows
  /// are documents, and the weight of a token is log(1 + documents / (1 + documents with the token)). value_error if
  /// the layer was created with a vocabulary; runtime_error if the length of its vectors would change. Models that
  /// contain the layer are recompiled.
  void adapt(const Tensor &data) const;
  void adapt(const Dataset &data, std::optional<int64_t> steps = {}) const;
  std::vector<std::string> get_vocabulary(bool include_special_tokens = true) const;
  int64_t vocabulary_size() const; // including the special tokens
  /// Sets the terms, which may begin with the special tokens. value_error for repeated terms, for a special token
  /// elsewhere, for more than max_tokens, and for a wrong number of weights.
  void set_vocabulary(const Vocabulary<std::string> &vocabulary, const std::vector<double> &idf_weights = {}) const;
};
struct IntegerLookupArgs {
  std::optional<int64_t> max_tokens{};
  int64_t num_oov_indices = 1; // several: the integer modulo their number selects one
  std::optional<int64_t> mask_token{};
  std::optional<int64_t> oov_token = -1;
  Vocabulary<int64_t> vocabulary{};
  std::vector<double> idf_weights{};
  bool invert = false;
  Choice<OutputMode> output_mode = OutputMode::int_;
  bool pad_to_max_tokens = false;
  bool trainable = true;
  PolicyArg dtype{};
  std::string name{};
};
/// As StringLookup, for integers.
class HALFTONE_API IntegerLookup : public Layer {
public:
  IntegerLookup(const IntegerLookupArgs &args = {}, Where where = Where::current());
  void adapt(const Tensor &data) const;
  void adapt(const Dataset &data, std::optional<int64_t> steps = {}) const;
  std::vector<int64_t> get_vocabulary(bool include_special_tokens = true) const;
  int64_t vocabulary_size() const;
  void set_vocabulary(const Vocabulary<int64_t> &vocabulary, const std::vector<double> &idf_weights = {}) const;
};

/// A keyword of Keras, or a user's function, which any thread may call and which cannot be saved.
class Standardize {
public:
  Standardize(const char *word) : word_(word) {} // lower_and_strip_punctuation, lower, strip_punctuation; "": none
  Standardize(std::string word) : word_(std::move(word)) {}
  template <std::invocable<const std::string &> F> Standardize(F f) : function_(std::move(f)) {}
  const std::string &word() const { return word_; }
  const std::function<std::string(const std::string &)> &function() const { return function_; }

private:
  std::string word_{};
  std::function<std::string(const std::string &)> function_{};
};
class Split {
public:
  Split(const char *word) : word_(word) {} // whitespace, character; "": none
  Split(std::string word) : word_(std::move(word)) {}
  template <std::invocable<const std::string &> F> Split(F f) : function_(std::move(f)) {}
  const std::string &word() const { return word_; }
  const std::function<std::vector<std::string>(const std::string &)> &function() const { return function_; }

private:
  std::string word_{};
  std::function<std::vector<std::string>(const std::string &)> function_{};
};
/// The lengths of n-grams, whose tokens are joined by spaces: n stands for 1 to n; a list gives each length, in order.
class Ngrams {
public:
  Ngrams() = default; // none: single tokens
  Ngrams(int64_t most) : most_(most) {}
  Ngrams(std::initializer_list<int64_t> counts) : counts_(counts) {}
  Ngrams(std::vector<int64_t> counts) : counts_(std::move(counts)) {}
  const std::optional<int64_t> &most() const { return most_; }
  const std::vector<int64_t> &counts() const { return counts_; }

private:
  std::optional<int64_t> most_{};
  std::vector<int64_t> counts_{};
};
struct TextVectorizationArgs {
  std::optional<int64_t> max_tokens{};
  Standardize standardize = "lower_and_strip_punctuation";
  Split split = "whitespace";
  Ngrams ngrams{};
  Choice<OutputMode> output_mode = OutputMode::int_;
  std::optional<int64_t> output_sequence_length{}; // none: the longest of the batch; each new length recompiles
  bool pad_to_max_tokens = false;
  Vocabulary<std::string> vocabulary{};
  std::vector<double> idf_weights{};
  bool trainable = true;
  PolicyArg dtype{};
  std::string name{};
};
/// Strings (batch,) or (batch, 1) in UTF-8 to int64 (batch, steps), with 0 after the last token and 1 for unknown
/// tokens; or as output_mode says. Case and punctuation are those of ASCII. A host layer.
class HALFTONE_API TextVectorization : public Layer {
public:
  TextVectorization(const TextVectorizationArgs &args = {}, Where where = Where::current());
  void adapt(const Tensor &data) const; // as StringLookup::adapt, for the tokens of all texts
  void adapt(const Dataset &data, std::optional<int64_t> steps = {}) const;
  std::vector<std::string> get_vocabulary(bool include_special_tokens = true) const;
  int64_t vocabulary_size() const;
  void set_vocabulary(const Vocabulary<std::string> &vocabulary, const std::vector<double> &idf_weights = {}) const;
};

struct CategoryEncodingArgs {
  Choice<OutputMode> output_mode = OutputMode::multi_hot; // one_hot, multi_hot or count
  bool trainable = true;
  PolicyArg dtype{};
  std::string name{};
};
/// Encodes integers from 0 to num_tokens - 1 as vectors (..., num_tokens) in the variable dtype; other integers are
/// ignored. A second input holds weights for the first, only for "count"; the vectors then have the compute dtype.
class HALFTONE_API CategoryEncoding : public Layer {
public:
  explicit CategoryEncoding(int64_t num_tokens, const CategoryEncodingArgs &args = {}, Where where = Where::current());
};
struct DiscretizationArgs {
  std::vector<double> bin_boundaries{};              // ascending
  std::optional<int64_t> num_bins{};                 // for adapt(), instead of bin_boundaries
  double epsilon = 0.01;                             // maximum error of a quantile, as a fraction of the data
  Choice<OutputMode> output_mode = OutputMode::int_; // not tf_idf
  bool trainable = true;
  PolicyArg dtype{};
  std::string name{};
};
/// Maps each number to its bin, the int32 count of boundaries that are less than or equal to it; or to a vector as
/// output_mode says.
class HALFTONE_API Discretization : public Layer {
public:
  Discretization(const DiscretizationArgs &args = {}, Where where = Where::current());
  /// Sets num_bins - 1 boundaries, the quantiles of the data. value_error for a layer created with bin_boundaries.
  void adapt(const Tensor &data) const;
  void adapt(const Dataset &data, std::optional<int64_t> steps = {}) const;
  std::vector<double> bin_boundaries() const; // empty before adapt()
};
struct HashingArgs {
  std::optional<std::variant<int64_t, std::string>>
      mask_value{};               // of the type of the inputs; maps to bin 0, which no other value has
  std::optional<Integers> salt{}; // none: FarmHash64; one or two integers: SipHash64
  Choice<OutputMode> output_mode = OutputMode::int_; // not tf_idf
  bool trainable = true;
  PolicyArg dtype{}; // int64 or int32 for "int", otherwise floatx
  std::string name{};
};
/// Hashes each string or integer to a bin from 0 to num_bins - 1. The hashes are TensorFlow's, so the bins are Keras's.
/// A host layer.
class HALFTONE_API Hashing : public Layer {
public:
  explicit Hashing(int64_t num_bins, const HashingArgs &args = {}, Where where = Where::current());
};
struct HashedCrossingArgs {
  Choice<OutputMode> output_mode = OutputMode::int_; // int or one_hot
  bool trainable = true;
  PolicyArg dtype{};
  std::string name{};
};
/// Hashes the combination of two or more inputs of strings or integers, (), (batch,) or (batch, 1), to one bin per row.
/// A host layer.
class HALFTONE_API HashedCrossing : public Layer {
public:
  explicit HashedCrossing(int64_t num_bins, const HashedCrossingArgs &args = {}, Where where = Where::current());
};
} // namespace halftone::layers
