// Reads the weights and the optimizer's state of Keras's weights files into a model.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/io/H5File.h"
#include "halftone/Model.h"
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace halftone::detail {

/// value_error in Keras's words that names all layers whose variables the file does not hold, or holds in another shape;
/// nothing is then changed. With `skipMismatch` such layers keep their values, and a warning names them. Numbers are
/// converted to the variables' dtypes.
void readWeights(const Layer &model, const H5File &file, bool skipMismatch);

/// Gives the layers whose configs lack their vocabularies those of the archive, whose text `assetText` reads, with the weights
/// of the weights file, which may be null. Errors about a vocabulary begin with `archive`, its name.
void readVocabularies(const Layer &model, const H5File *file, const std::string &archive,
                      const std::function<std::string(const std::string &member)> &assetText);
/// The members of a .keras archive that hold these vocabularies, and their texts. value_error for one that no file can hold.
std::vector<std::pair<std::string, std::string>> vocabularyFiles(const Layer &model);

/// Reads the state of `optimizer`, which is built if the model is. A file of a model that was never trained has none. If
/// only the loss scale is missing in the file or in the optimizer, the rest is read; if the variables are others, none is, and
/// a warning says so. Whether it has read a state.
bool readOptimizer(const Optimizer &optimizer, const H5File &file);

/// The bytes of a weights file of a model, of one moment; with the optimizer's state, if it has one. `name` begins errors.
H5Image weightsImage(const Model &model, const std::string &name);

} // namespace halftone::detail
