// Indexing of tensors and their rows: views along axis 0, and copies otherwise.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Tensor.h"
#include "runtime/TensorAccess.h"
#include "runtime/base/KeyRanges.h"
#include <algorithm>

using namespace halftone;

namespace {
/// Copies the selected elements axis by axis: strings, or the bytes of numbers.
template <class Element> class Copier {
public:
  Copier(const KeyRanges &ranges, const Shape &shape, size_t width) : axes_(ranges.axes), strides_(axes_.size(), 1) {
    for (size_t axis = axes_.size(); axis-- > 1;)
      strides_[axis - 1] = strides_[axis] * shape[static_cast<int64_t>(axis)];
    // After the last axis that is not selected whole, elements are contiguous.
    depth_ = axes_.size();
    while (depth_ > 0 && axes_[depth_ - 1].step == 1 &&
           axes_[depth_ - 1].count == shape[static_cast<int64_t>(depth_) - 1])
      --depth_;
    if (depth_ > 0 && axes_[depth_ - 1].step == 1)
      --depth_; // contiguous too if the selection of this axis is
    count_ = width;
    for (size_t axis = depth_; axis < axes_.size(); ++axis)
      count_ *= static_cast<size_t>(axes_[axis].count);
    for (int64_t &stride : strides_)
      stride *= static_cast<int64_t>(width);
  }

  /// `from` is the first element of the tensor. Returns the end of the output.
  Element *copy(const Element *from, Element *to, size_t axis = 0) const {
    if (axis == depth_) {
      if (axis < axes_.size())
        from += axes_[axis].start * strides_[axis];
      return std::copy_n(from, count_, to);
    }
    const AxisRange &ranges = axes_[axis];
    for (int64_t i = 0; i < ranges.count; ++i)
      to = copy(from + (ranges.start + i * ranges.step) * strides_[axis], to, axis + 1);
    return to;
  }

private:
  const std::vector<AxisRange> &axes_;
  std::vector<int64_t> strides_;
  size_t depth_ = 0, count_ = 0; // contiguous elements
};

bool isView(std::span<const Index> key) {
  if (key.size() != 1)
    return false;
  const Slice::Bound step = key[0].slice().step();
  return key[0].kind() == Index::Kind::place ||
         (key[0].kind() == Index::Kind::slice && (!step.given() || step.place() == 1));
}

Tensor keyed(const Tensor &x, std::span<const Index> key) {
  const Shape shape = x.shape();
  const KeyRanges ranges = rangesOf(key, shape);
  const Shape result = ranges.result();
  if (isView(key))
    return TensorAccess::view(x, result.elements() ? ranges.axes[0].start * (x.size() / shape[0]) : 0, result);
  if (x.dtype() == DType::string) {
    std::vector<std::string> strings(static_cast<size_t>(result.elements()));
    if (!strings.empty())
      Copier<std::string>(ranges, shape, 1).copy(TensorAccess::strings(x).data(), strings.data());
    return TensorAccess::ofStrings(std::move(strings), result);
  }
  const std::byte *const from = TensorAccess::data(x);
  Tensor copy = TensorAccess::allocate(x.dtype(), result);
  if (copy.size() > 0)
    Copier<std::byte>(ranges, shape, static_cast<size_t>(itemsize(x.dtype())))
        .copy(from, TensorAccess::mutableData(copy));
  return copy;
}
} // namespace

Tensor Tensor::operator[](const Index &key) const { return keyed(*this, {&key, 1}); }
Tensor Tensor::operator[](std::initializer_list<Index> key) const { return keyed(*this, {key.begin(), key.size()}); }
Tensor Tensor::iterator::operator*() const { return Tensor(of_)[row_]; }
