// Kernels that Keras quantized by GPTQ or AWQ, which files hold and which become floats here.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Layer.h"

namespace halftone::detail {

/// The variables of such a kernel, as Keras's file has them. Nothing computes with them. Versions of Keras lay them out
/// differently. The kernel has k columns in a byte, the first one in the lowest bits, k being 1, 2 or 4:
///   (columns / k, rows) with scales (columns, groups): up to 3.15.1, where 2 bits are not packed, and in later snapshots;
///   (rows, columns / k) with scales (groups, columns): in the nightly builds of 3.16.
class CalibratedKernel {
public:
  /// Adds the variables under a mode such as "gptq/4/128". not_implemented_error for a kernel that Keras cannot split in rows
  /// and columns.
  void build(BuildContext &context, const std::string &mode, const Shape &kernel);
  /// Takes the layout in which a file has the kernel and its scales. If it is none of these, nothing changes. If the shapes
  /// fit two layouts (as many rows as columns and groups), it is that of 3.15.1.
  void layOutAs(const Shape &kernel, const Shape &scale);
  bool isThere() const { return values_.defined(); }
  /// The floats for which the variables stand, in the shape of the kernel.
  Tensor floats() const;
  std::vector<Variable> variables() const;

private:
  Shape kernel_;
  int64_t rows_ = 0, columns_ = 0;
  int64_t bits_ = 8, perByte_ = 1;
  bool isRowFirst_ = false;
  Variable values_, scale_, zero_, inputs_, groups_; // inputs_: AWQ's scale of each row
};

/// The body of a layer with such a kernel, beside its LayerBody.
class CalibratedBody {
public:
  /// Puts a kernel of floats in the place of the variables; false if there are none.
  virtual bool dequantize(BuildContext &context) = 0;
  virtual CalibratedKernel &calibrated() = 0;

protected:
  ~CalibratedBody() = default;
};

/// Gives the layers of a model that was just read from a file floats in the place of such kernels, and the policy without
/// the mode. A warning names each.
void dequantizeCalibrated(const Layer &model);

} // namespace halftone::detail
