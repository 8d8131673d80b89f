// The vocabulary of a layer in files, apart from variables: weights of its terms, and a text.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Tensor.h"
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::detail {

/// The state of a layer with a vocabulary, which Keras stores in "vars/idf_weights" of a weights file and in
/// "vocabulary.txt" of the assets of a .keras file.
class VocabularyState {
public:
  virtual ~VocabularyState() = default;
  /// The paths of the state in Keras files, relative to the layer's; the first one is read.
  virtual std::vector<std::string> paths() const = 0;
  /// Undefined if the layer has none.
  virtual Tensor idfWeights() const = 0;
  /// Nullopt if the config contains the vocabulary. value_error for a vocabulary that no file can represent.
  virtual std::optional<std::string> vocabularyText() const = 0;
  virtual bool readsVocabulary() const = 0;
  /// A string such as "5 terms with the fingerprint 0x1f", by which processes compare the terms, their order and
  /// weights.
  virtual std::string summary() const = 0;
  /// Restores the state from a file; the tensor is undefined, and the text is absent, if the file lacks them.
  /// value_error as for set_vocabulary(), and for a wrong number of weights.
  virtual void restore(const Tensor &idfWeights, std::optional<std::string_view> vocabulary) = 0;
};

} // namespace halftone::detail
