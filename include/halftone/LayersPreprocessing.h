// Layers that make numbers of strings and categories. Those of strings work on the host, before a program runs.
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

// A host layer (StringLookup, IntegerLookup, TextVectorization, Hashing, HashedCrossing) computes its integers on the host. On
// a Value, its inputs are Inputs of a model or arguments of a function being traced (else not_implemented_error): the host
// reads them before each play of the program. On a Tensor with output_mode "int" nothing is compiled. Integers are int64, and
// vectors of other output modes are in floatx.

/// A list of terms, or the name of a file with one on each line.
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
  std::optional<int64_t> max_tokens{}; // of the vocabulary with mask and unknown tokens
  int64_t num_oov_indices = 1;         // 0: an unknown token is a value_error; several: chosen by FarmHash64
  std::optional<std::string> mask_token{};
  std::optional<std::string> oov_token = "[UNK]";
  Vocabulary<std::string> vocabulary{};
  std::vector<double> idf_weights{}; // of "tf_idf" alone, one a term
  bool invert = false;               // indices to strings: on Tensors alone
  Choice<OutputMode> output_mode = OutputMode::int_;
  bool pad_to_max_tokens = false;
  bool trainable = true;
  PolicyArg dtype{};
  std::string name{};
};
/// The index of each string in the vocabulary, which begins with the mask token, if there is one and output_mode is "int", and
/// the unknown ones; or, for each row, the vector that output_mode names. A host layer.
class HALFTONE_API StringLookup : public Layer {
public:
  StringLookup(const StringLookupArgs &args = {}, Where where = Where::current());
  /// Makes the vocabulary of all tokens: the most frequent first, equally frequent ones in falling order, at most
  /// max_tokens. Of a Dataset the first inputs of its batches count, those of the first `steps` batches if given. With "tf_idf"
  /// the rows are documents, and the weight of a token is log(1 + documents / (1 + documents with the token)). value_error if
  /// the layer was made with a vocabulary; runtime_error if the length of its vectors would change. Models that have the layer
  /// are compiled anew.
  void adapt(const Tensor &data) const;
  void adapt(const Dataset &data, std::optional<int64_t> steps = {}) const;
  std::vector<std::string> get_vocabulary(bool include_special_tokens = true) const;
  int64_t vocabulary_size() const; // with the special tokens
  /// The terms with or without the special tokens before them. value_error for repeated terms, a special token elsewhere, more
  /// than max_tokens, and weights of another count.
  void set_vocabulary(const Vocabulary<std::string> &vocabulary, const std::vector<double> &idf_weights = {}) const;
};
struct IntegerLookupArgs {
  std::optional<int64_t> max_tokens{};
  int64_t num_oov_indices = 1; // several: the integer modulo the count chooses
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
/// As StringLookup, of integers.
class HALFTONE_API IntegerLookup : public Layer {
public:
  IntegerLookup(const IntegerLookupArgs &args = {}, Where where = Where::current());
  void adapt(const Tensor &data) const;
  void adapt(const Dataset &data, std::optional<int64_t> steps = {}) const;
  std::vector<int64_t> get_vocabulary(bool include_special_tokens = true) const;
  int64_t vocabulary_size() const;
  void set_vocabulary(const Vocabulary<int64_t> &vocabulary, const std::vector<double> &idf_weights = {}) const;
};

/// Keras's word, or a function of the user's, which any thread may call and which files cannot hold.
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
/// How many tokens an n-gram joins, with spaces: a number n for 1 to n, a list for each of its numbers in their order.
class Ngrams {
public:
  Ngrams() = default; // none: tokens stay
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
  std::optional<int64_t> output_sequence_length{}; // none: the longest of the batch, which compiles anew for each
  bool pad_to_max_tokens = false;
  Vocabulary<std::string> vocabulary{};
  std::vector<double> idf_weights{};
  bool trainable = true;
  PolicyArg dtype{};
  std::string name{};
};
/// Strings (batch,) or (batch, 1) in UTF-8 as int64 (batch, steps), 0 behind the last token and 1 for unknown ones; or as
/// output_mode says. Upper case and punctuation are ASCII's. A host layer.
class HALFTONE_API TextVectorization : public Layer {
public:
  TextVectorization(const TextVectorizationArgs &args = {}, Where where = Where::current());
  void adapt(const Tensor &data) const; // as StringLookup's, of the tokens of all texts
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
/// Integers from 0 to num_tokens - 1 as vectors (..., num_tokens) in the compute dtype; others count nowhere. A second input has
/// the weights of the first, for "count" alone.
class HALFTONE_API CategoryEncoding : public Layer {
public:
  explicit CategoryEncoding(int64_t num_tokens, const CategoryEncodingArgs &args = {}, Where where = Where::current());
};
struct DiscretizationArgs {
  std::vector<double> bin_boundaries{};              // rising
  std::optional<int64_t> num_bins{};                 // for adapt(), instead of bin_boundaries
  double epsilon = 0.01;                             // the share of the data by which a quantile may be wrong
  Choice<OutputMode> output_mode = OutputMode::int_; // not tf_idf
  bool trainable = true;
  PolicyArg dtype{};
  std::string name{};
};
/// The bin of each number, the count of boundaries that are not above it, int32; or the vectors of output_mode.
class HALFTONE_API Discretization : public Layer {
public:
  Discretization(const DiscretizationArgs &args = {}, Where where = Where::current());
  /// Makes num_bins - 1 boundaries, the quantiles of the data. value_error for a layer made with bin_boundaries.
  void adapt(const Tensor &data) const;
  void adapt(const Dataset &data, std::optional<int64_t> steps = {}) const;
  std::vector<double> bin_boundaries() const; // empty before adapt()
};
struct HashingArgs {
  std::optional<std::variant<int64_t, std::string>>
      mask_value{};                                  // of the inputs' kind; has bin 0, and the others the rest
  std::optional<Integers> salt{};                    // none: FarmHash64; one or two numbers: SipHash64
  Choice<OutputMode> output_mode = OutputMode::int_; // not tf_idf
  bool trainable = true;
  PolicyArg dtype{}; // int64 or int32 for "int", else floatx
  std::string name{};
};
/// A bin from 0 to num_bins - 1 for each string or integer: TensorFlow's hashes, so Keras's bins. A host layer.
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
/// A bin for each row of two or more inputs of strings or integers, (), (batch,) or (batch, 1), together. A host layer.
class HALFTONE_API HashedCrossing : public Layer {
public:
  explicit HashedCrossing(int64_t num_bins, const HashedCrossingArgs &args = {}, Where where = Where::current());
};
} // namespace halftone::layers
