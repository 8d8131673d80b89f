// keras.datasets for text, as sequences of word indices.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Tensor.h"
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace halftone::datasets {
/// Sequences of word indices, and their int64 labels (N,).
struct Sequences {
  std::vector<std::vector<int64_t>> x_train;
  Tensor y_train;
  std::vector<std::vector<int64_t>> x_test;
  Tensor y_test;
};
struct IMDBArgs {                     // keras.datasets.imdb.load_data
  std::optional<int64_t> num_words{}; // indices from here on become `oov_char`; default: the largest index
  int64_t skip_top = 0;               // indices below it become `oov_char` too
  std::optional<int64_t> maxlen{};    // sequences of at least this length are dropped
  int64_t seed = 113;                 // determines the order of the sequences
  std::optional<int64_t> start_char = 1;
  std::optional<int64_t> oov_char = 2; // none: such indices are dropped
  int64_t index_from = 3;              // added to the indices
};
/// Loads the reviews of Keras's file imdb.npz from a directory, in Keras's order; labels are 0 and 1. io_error, which
/// names the file, the expected and the actual contents. value_error for a maxlen that leaves no sequence.
HALFTONE_API Sequences imdb(const std::string &directory, const IMDBArgs &args = {});
struct ReutersArgs { // keras.datasets.reuters.load_data
  std::optional<int64_t> num_words{};
  int64_t skip_top = 0;
  std::optional<int64_t> maxlen{};
  double test_split = 0.2; // the fraction of the sequences in the test set
  int64_t seed = 113;
  std::optional<int64_t> start_char = 1;
  std::optional<int64_t> oov_char = 2;
  int64_t index_from = 3;
};
/// Loads the newswires of reuters.npz, with labels below 46; otherwise as imdb().
HALFTONE_API Sequences reuters(const std::string &directory, const ReutersArgs &args = {});
/// The words and their indices, in the order of the files imdb_word_index.json and reuters_word_index.json in a
/// directory. Sequences add `index_from` to the indices. io_error as for imdb().
HALFTONE_API std::vector<std::pair<std::string, int64_t>> imdb_word_index(const std::string &directory);
HALFTONE_API std::vector<std::pair<std::string, int64_t>> reuters_word_index(const std::string &directory);
/// The topics of the newswires, by label.
HALFTONE_API std::vector<std::string> reuters_label_names();
} // namespace halftone::datasets
