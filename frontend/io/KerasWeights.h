// Reads weights and optimizer state from Keras's weights files into a model.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/io/H5File.h"
#include "halftone/Model.h"
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace halftone::detail {

/// value_error, in Keras's words, naming all layers whose variables are missing in the file or have another shape;
/// nothing changes then. With `skipMismatch` these layers keep their values, and a warning names them. Values are
/// converted to the dtypes of the variables. Weights of the file that the model of a struct lacks are listed in a
/// warning.
void readWeights(const Layer &model, const H5File &file, bool skipMismatch);

/// Restores the vocabularies that the layers' configs omit from the archive, whose members `assetText` reads, and the
/// term weights from the weights file, which may be null. Errors about a vocabulary begin with `archive`, the archive's
/// name.
void readVocabularies(const Layer &model, const H5File *file, const std::string &archive,
                      const std::function<std::string(const std::string &member)> &assetText);
/// The members of a .keras archive that hold these vocabularies, and their contents. value_error for a vocabulary that
/// a file cannot represent.
std::vector<std::pair<std::string, std::string>> vocabularyFiles(const Layer &model);

/// Reads the state of `optimizer`, which must be built if the model is. The file of a model that was never trained has
/// no state. If only the loss scale is missing in the file or the optimizer, the rest is read. If the variables differ,
/// nothing is read and a warning is issued. Returns true if state was read.
bool readOptimizer(const Optimizer &optimizer, const H5File &file);

/// The bytes of a weights file: a consistent snapshot of a model, with the optimizer's state if there is one. Errors
/// begin with `name`.
H5Image weightsImage(const Model &model, const std::string &name);

} // namespace halftone::detail
