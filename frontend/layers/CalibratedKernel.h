// Kernels in files that Keras quantized by GPTQ or AWQ, which are converted to floats here.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Layer.h"

namespace halftone::detail {

/// The variables of such a kernel, as in Keras's file. They are not used for computation. The layout depends on the
/// version of Keras. A byte packs k columns of the kernel, the first in the lowest bits, where k is 1, 2 or 4:
///   (columns / k, rows) with scales (columns, groups): up to 3.15.1, where 2 bits are not packed, and in later snapshots;
///   (rows, columns / k) with scales (groups, columns): in the nightly builds of 3.16.
class CalibratedKernel {
public:
  /// Adds the variables for a mode such as "gptq/4/128". not_implemented_error for a kernel that Keras cannot split
  /// into rows and columns.
  void build(BuildContext &context, const std::string &mode, const Shape &kernel);
  /// Sets the layout from the shapes of the kernel and its scales in a file. Has no effect if they match no layout. If
  /// they match two (as many rows as columns and groups), the layout is that of 3.15.1.
  void layOutAs(const Shape &kernel, const Shape &scale);
  bool isThere() const { return values_.defined(); }
  /// The dequantized floats, in the shape of the kernel.
  Tensor floats() const;
  std::vector<Variable> variables() const;

private:
  Shape kernel_;
  int64_t rows_ = 0, columns_ = 0;
  int64_t bits_ = 8, perByte_ = 1;
  bool isRowFirst_ = false;
  Variable values_, scale_, zero_, inputs_, groups_; // inputs_: AWQ's scale of each row
};

/// The body of a layer with such a kernel, a base in addition to LayerBody.
class CalibratedBody {
public:
  /// Replaces the variables by a float kernel; returns false if there are none.
  virtual bool dequantize(BuildContext &context) = 0;
  virtual CalibratedKernel &calibrated() = 0;

protected:
  ~CalibratedBody() = default;
};

/// Replaces calibrated kernels by floats in the layers of a model that was just read from a file, and removes the mode
/// from the layers' policies. Warns about each layer.
void dequantizeCalibrated(const Layer &model);

} // namespace halftone::detail
