// The table of operations that files can contain.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Graph.h"
#include "frontend/ops/OperationArguments.h"
#include <algorithm>
#include <cctype>
#include <span>

namespace halftone::detail {

struct Operation {
  const char *call;               // the name of its calls here; "" for a composite of other operations
  const char *className, *module; // Keras's
  Values (*make)(OperationArguments &);
  /// The result spec for symbolic Values, if two extents in place of None do not suffice to infer it: a slice of a None
  /// axis has extent None, although the first 5 elements of both probe extents are 5.
  ValueSpec (*spec)(OperationArguments &) = nullptr;
};

/// Reads a word of a closed set in any case, since Keras also accepts "SAME" and keeps it in the config. The first word
/// of a set is the default.
template <class E> Choice<E> wordOf(OperationArguments &a, const char *key) {
  if (a.isNull(key))
    return E{};
  std::string word = a.text(key);
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return std::tolower(c); });
  return choice<E>(word);
}

// OperationWindows.cpp
Values convOperation(OperationArguments &);
Values depthwiseConvOperation(OperationArguments &);
Values separableConvOperation(OperationArguments &);
Values convTransposeOperation(OperationArguments &);
Values maxPoolOperation(OperationArguments &);
Values averagePoolOperation(OperationArguments &);
// ImageResize.cpp
Values resizeOperation(OperationArguments &);
// ImageTransforms.cpp
Values affineTransformOperation(OperationArguments &);
Values perspectiveTransformOperation(OperationArguments &);
Values mapCoordinatesOperation(OperationArguments &);
ValueSpec affineTransformSpec(OperationArguments &);
ValueSpec perspectiveTransformSpec(OperationArguments &);
// ImageParts.cpp
Values extractPatchesOperation(OperationArguments &);
Values cropImagesOperation(OperationArguments &);
Values padImagesOperation(OperationArguments &);
Values grayscaleOperation(OperationArguments &);
// PadOps.cpp
Values padOperation(OperationArguments &);
// OperationIndices.cpp
Values takeAlongAxisOperation(OperationArguments &);
Values sliceOperation(OperationArguments &);
Values sliceUpdateOperation(OperationArguments &);
Values scatterOperation(OperationArguments &);
Values scatterUpdateOperation(OperationArguments &);
ValueSpec scatterSpec(OperationArguments &); // for any extents in place of None
ValueSpec scatterUpdateSpec(OperationArguments &);
ValueSpec segmentSpec(OperationArguments &);
Values searchSortedOperation(OperationArguments &);
Values bincountOperation(OperationArguments &);
Values diagonalOperation(OperationArguments &);
Values meshgridOperation(OperationArguments &);
template <Value (*f)(const Value &, const Value &, int64_t)> Values segmentOperation(OperationArguments &a) {
  const Value data = a.value("data"), ids = a.value("segment_ids");
  a.flag("sorted"); // has no effect
  return f(data, ids, a.integer("num_segments"));
}
// OperationFourier.cpp
Values fftOperation(OperationArguments &);
Values fft2Operation(OperationArguments &);
Values ifft2Operation(OperationArguments &);
Values rfftOperation(OperationArguments &);
Values irfftOperation(OperationArguments &);
Values extractSequencesOperation(OperationArguments &);
Values stftOperation(OperationArguments &);
Values istftOperation(OperationArguments &);
// OperationLinalg.cpp
Values eighOperation(OperationArguments &);
Values luFactorOperation(OperationArguments &);
Values slogdetOperation(OperationArguments &);
Values qrOperation(OperationArguments &);
Values solveOperation(OperationArguments &);
Values solveTriangularOperation(OperationArguments &);
Values svdOperation(OperationArguments &);
Values lstsqOperation(OperationArguments &);
Values matrixRankOperation(OperationArguments &);
Values pinvOperation(OperationArguments &);
Values normOperation(OperationArguments &);
template <Value (*f)(const Value &, bool)> Values choleskyOperation(OperationArguments &a) {
  const Value x = a.value("x");
  return f(x, a.flag("upper"));
}
// OperationNorms.cpp
Values normalizeOperation(OperationArguments &);
Values momentsOperation(OperationArguments &);
Values batchNormOperation(OperationArguments &);
Values rmsNormOperation(OperationArguments &);
Values layerNormOperation(OperationArguments &);
Values attentionOperation(OperationArguments &);

/// All rows: "Relu" of "keras.src.ops.nn" and so on.
std::span<const Operation> operationRows();

} // namespace halftone::detail
