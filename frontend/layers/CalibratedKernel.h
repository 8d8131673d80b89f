// Kernels that Keras quantized by GPTQ or AWQ, which files hold and which become floats here.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Layer.h"

namespace halftone::detail {

/// The variables of such a kernel, as Keras's file has them. Nothing computes with them.
class CalibratedKernel {
public:
  /// Adds the variables under a mode such as "gptq/4/128". not_implemented_error for a kernel that Keras cannot split in rows
  /// and columns.
  void build(BuildContext &context, const std::string &mode, const Shape &kernel);
  bool isThere() const { return values_.defined(); }
  /// The floats for which the variables stand, in the shape of the kernel.
  Tensor floats() const;
  std::vector<Variable> variables() const;

private:
  Shape kernel_;
  int64_t rows_ = 0, columns_ = 0;
  bool isPacked_ = false;                            // two values in a byte
  Variable values_, scale_, zero_, inputs_, groups_; // inputs_: AWQ's scale of each row
};

/// The body of a layer with such a kernel, beside its LayerBody.
class CalibratedBody {
public:
  /// Puts a kernel of floats in the place of the variables; false if there are none.
  virtual bool dequantize(BuildContext &context) = 0;

protected:
  ~CalibratedBody() = default;
};

/// Gives the layers of a model that was just read from a file floats in the place of such kernels, and the policy without
/// the mode. A warning names each.
void dequantizeCalibrated(const Layer &model);

} // namespace halftone::detail
