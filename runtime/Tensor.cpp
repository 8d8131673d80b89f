// Tensors: storage, devices, views, conversion, argmax.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Tensor.h"
#include "runtime/TensorAccess.h"
#include "runtime/TensorMemory.h"
#include "runtime/base/Convert.h"
#include "runtime/base/FloatMode.h"
#include "runtime/base/FreeMemory.h"
#include "runtime/base/Number.h"
#include "runtime/devices/Registry.h"
#include <cmath>
#include <cstring>
#include <fmt/format.h>

using namespace halftone;

struct Tensor::Impl {
  std::shared_ptr<void> owner;
  std::byte *data;
  DType dtype;
  Shape shape;
  int64_t size;
  std::shared_ptr<DeviceRuntime> device; // null: the host
  uint64_t submission = 0;               // the device submission that produces the value; 0 if unknown
};

static int64_t checkedBytes(DType dtype, const Shape &shape) {
  if (dtype == DType::string)
    throw Error(ErrorKind::type_error,
                "A tensor of strings is created from a std::vector<std::string>; expected numbers or bools");
  if (!isStorable(dtype))
    throw Error(
        ErrorKind::type_error,
        fmt::format("A tensor holds numbers, bools or strings, not complex values; received dtype {}", name(dtype)));
  int64_t bytes = 0;
  if (__builtin_mul_overflow(shape.elements(), itemsize(dtype), &bytes))
    throw Error(ErrorKind::value_error, fmt::format("A {} tensor of shape {} is too large", name(dtype), shape.str()));
  return bytes;
}

static void checkCount(size_t count, const Shape &shape) {
  if (static_cast<uint64_t>(shape.elements()) != count)
    throw Error(ErrorKind::value_error, fmt::format("The shape {} has {} elements, but {} values were given",
                                                    shape.str(), shape.elements(), count));
}

Tensor TensorAccess::allocate(DType dtype, Shape shape) {
  const int64_t bytes = checkedBytes(dtype, shape);
  std::shared_ptr<void> owner = allocateTensorMemory(static_cast<size_t>(bytes));
  if (!owner)
    throw Error(ErrorKind::runtime_error, fmt::format("Not enough memory for a {} tensor of shape {}: {}", name(dtype),
                                                      shape.str(), memoryShortage(bytes)));
  auto *const memory = static_cast<std::byte *>(owner.get());
  return wrap(std::move(owner), memory, dtype, std::move(shape));
}

Tensor TensorAccess::wrap(std::shared_ptr<void> owner, std::byte *data, DType dtype, Shape shape,
                          std::shared_ptr<DeviceRuntime> device) {
  const int64_t size = shape.elements();
  return Tensor(std::make_shared<Tensor::Impl>(
      Tensor::Impl{std::move(owner), data, dtype, std::move(shape), size, std::move(device), 0}));
}

Tensor TensorAccess::ofStrings(std::vector<std::string> strings, Shape shape) {
  checkCount(strings.size(), shape);
  auto owner = std::make_shared<std::vector<std::string>>(std::move(strings));
  auto *const data = reinterpret_cast<std::byte *>(owner->data());
  return wrap(std::move(owner), data, DType::string, std::move(shape));
}
std::span<const std::string> TensorAccess::strings(const Tensor &tensor) {
  const Tensor::Impl &impl = tensor.impl();
  if (impl.dtype != DType::string)
    throw Error(ErrorKind::type_error, fmt::format("The tensor of shape {} holds {}, but strings were requested",
                                                   impl.shape.str(), name(impl.dtype)));
  return {reinterpret_cast<const std::string *>(impl.data), static_cast<size_t>(impl.size)};
}

/// type_error unless the elements are numbers or bools.
static void requireNumbers(DType dtype, const Shape &shape) {
  if (dtype == DType::string)
    throw Error(ErrorKind::type_error,
                fmt::format("The tensor of shape {} holds strings, but numbers are expected: layers such as "
                            "StringLookup and TextVectorization convert strings to numbers",
                            shape.str()));
}

Tensor TensorAccess::copy(const Tensor &tensor) {
  const Tensor host = onHost(tensor), result = allocate(tensor.dtype(), tensor.shape());
  if (const int64_t count = bytes(host); count > 0)
    std::memcpy(mutableData(result), data(host), static_cast<size_t>(count));
  return result;
}
Tensor TensorAccess::view(const Tensor &tensor, int64_t first, Shape shape) {
  Tensor::Impl impl = tensor.impl(); // includes the submission: the view is ready when the tensor is
  impl.data += first * (impl.dtype == DType::string ? int64_t{sizeof(std::string)} : itemsize(impl.dtype));
  impl.size = shape.elements();
  impl.shape = std::move(shape);
  return Tensor(std::make_shared<Tensor::Impl>(std::move(impl)));
}

const std::byte *TensorAccess::data(const Tensor &tensor) { return mutableData(tensor); }
std::byte *TensorAccess::mutableData(const Tensor &tensor) {
  const Tensor::Impl &impl = tensor.impl();
  requireNumbers(impl.dtype, impl.shape);
  if (impl.device)
    throw Error(ErrorKind::device_error,
                fmt::format("The tensor of shape {} is on {}: the host cannot reach its memory; copy it with "
                            "to(Device::cpu())",
                            impl.shape.str(), impl.device->name()));
  return impl.data;
}
std::byte *TensorAccess::address(const Tensor &tensor) { return tensor.impl().data; }
void TensorAccess::setSubmission(const Tensor &tensor, uint64_t submission) { tensor.impl_->submission = submission; }
bool TensorAccess::isReady(const Tensor &tensor) {
  const Tensor::Impl &impl = tensor.impl();
  return !impl.device || impl.device->hasFinished(impl.submission);
}
const std::shared_ptr<DeviceRuntime> &TensorAccess::device(const Tensor &tensor) { return tensor.impl().device; }

Tensor TensorAccess::onHost(const Tensor &tensor) {
  const Tensor::Impl &impl = tensor.impl();
  if (!impl.device)
    return tensor;
  Tensor copy = allocate(impl.dtype, impl.shape);
  impl.device->download({copy.impl().data, static_cast<size_t>(bytes(tensor))}, impl.data).orThrow();
  return copy;
}

Tensor TensorAccess::on(const std::shared_ptr<DeviceRuntime> &device, const Tensor &tensor) {
  if (tensor.impl().device == device)
    return tensor;
  Tensor host = onHost(tensor);
  if (!device)
    return host;
  const int64_t size = bytes(host);
  DeviceMemory memory = device->allocateUndefined(size).valueOrThrow();
  device->upload(memory.get(), {host.impl().data, static_cast<size_t>(size)}).orThrow();
  std::byte *const data = memory.get();
  return wrap(std::move(memory), data, host.impl().dtype, host.impl().shape, device);
}

const Shape &TensorAccess::shape(const Tensor &tensor) { return tensor.impl().shape; }
int64_t TensorAccess::bytes(const Tensor &tensor) {
  requireNumbers(tensor.impl().dtype, tensor.impl().shape);
  return tensor.impl().size * itemsize(tensor.impl().dtype);
}

Tensor::Tensor() noexcept = default;
Tensor::Tensor(const Tensor &) = default;
Tensor::Tensor(Tensor &&) noexcept = default;
Tensor &Tensor::operator=(const Tensor &) & = default;
Tensor &Tensor::operator=(Tensor &&) & noexcept = default;
Tensor::~Tensor() = default;
Tensor::Tensor(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

const Tensor::Impl &Tensor::impl() const {
  if (!impl_)
    throw Error(ErrorKind::value_error, "The tensor is undefined: it was default-constructed or moved from");
  return *impl_;
}

Tensor::Tensor(std::initializer_list<float> data, const Shape &shape)
    : Tensor(data.begin(), data.size(), float32, shape) {}

Tensor::Tensor(Owned owned, DType dtype, const Shape &shape) {
  checkCount(owned.count, shape);
  impl_ = std::make_shared<Impl>(
      Impl{std::move(owned.owner), static_cast<std::byte *>(owned.data), dtype, shape, shape.elements(), {}, 0});
}

Tensor::Tensor(const void *data, size_t count, DType dtype, const Shape &shape) {
  checkCount(count, shape);
  *this = TensorAccess::allocate(dtype, shape);
  if (count)
    std::memcpy(impl_->data, data, count * static_cast<size_t>(itemsize(dtype)));
}

Tensor Tensor::zeros(const Shape &shape, DType dtype) {
  Tensor result = TensorAccess::allocate(dtype, shape);
  std::memset(result.impl_->data, 0, static_cast<size_t>(TensorAccess::bytes(result)));
  return result;
}

Tensor Tensor::ones(const Shape &shape, DType dtype) { return full(shape, 1, dtype); }

Tensor Tensor::full(const Shape &shape, const Number &value, DType dtype) {
  const bool isHeld = is_float(dtype) || dtype == DType::bool_ || positionIn(dtype, value) == RangePosition::inside;
  const bool isReal = value.kind() == Number::Kind::real || !isHeld; // which is clamped
  const double real = value.real();
  const uint64_t bits = value.bits();
  const DType from = isReal ? DType::float64 : value.is_negative() ? DType::int64 : DType::uint64;
  Tensor result = TensorAccess::allocate(dtype, shape);
  std::byte element[16];
  convert(from, isReal ? static_cast<const void *>(&real) : &bits, dtype, element, 1).orThrow();
  const size_t width = static_cast<size_t>(itemsize(dtype));
  for (int64_t i = 0; i < result.impl_->size; ++i)
    std::memcpy(result.impl_->data + static_cast<size_t>(i) * width, element, width);
  return result;
}

Shape Tensor::shape() const { return impl().shape; }
int64_t Tensor::size() const { return impl().size; }
DType Tensor::dtype() const { return impl().dtype; }
Device Tensor::device() const { return impl().device ? deviceOf(*impl().device) : Device::cpu(); }

const void *Tensor::data(DType expected) const {
  if (impl().dtype != expected)
    throw Error(ErrorKind::type_error,
                fmt::format("The tensor of shape {} holds {}, but {} was requested; convert it with astype",
                            impl().shape.str(), name(impl().dtype), name(expected)));
  return TensorAccess::data(*this);
}

void *Tensor::mutable_data(DType expected) { return const_cast<void *>(data(expected)); }

void Tensor::read(void *out, size_t count, DType expected) const {
  const void *from = impl().device && impl().dtype == expected ? nullptr : data(expected);
  if (static_cast<uint64_t>(impl().size) < count)
    throw Error(ErrorKind::value_error,
                fmt::format("{} elements were requested from a tensor of shape {}", count, impl().shape.str()));
  const size_t bytes = count * static_cast<size_t>(itemsize(expected));
  if (impl().device)
    impl().device->download({static_cast<std::byte *>(out), bytes}, impl().data).orThrow();
  else if (count)
    std::memcpy(out, from, bytes);
}

Tensor::Tensor(std::vector<std::string> data) {
  Shape shape{data.size()};
  *this = TensorAccess::ofStrings(std::move(data), std::move(shape));
}
Tensor::Tensor(std::vector<std::string> data, const Shape &shape)
    : Tensor(TensorAccess::ofStrings(std::move(data), shape)) {}
std::vector<std::string> Tensor::strings() const {
  const std::span<const std::string> strings = TensorAccess::strings(*this);
  return {strings.begin(), strings.end()};
}

double Tensor::item() const {
  requireNumbers(impl().dtype, impl().shape);
  if (impl().size != 1)
    throw Error(ErrorKind::value_error,
                fmt::format("item() requires a tensor with one element; the tensor of shape {} has {}",
                            impl().shape.str(), impl().size));
  return elementAsDouble(impl().dtype, TensorAccess::onHost(*this).impl().data, 0);
}

Tensor Tensor::to(Device device) const {
  (void)impl();
  return TensorAccess::on(device == Device::cpu() ? nullptr : deviceRuntime(device).valueOrThrow(), *this);
}

Tensor Tensor::astype(DType dtype) const {
  if (impl().dtype == dtype)
    return *this;
  const Tensor from = TensorAccess::onHost(*this);
  Tensor result = TensorAccess::allocate(dtype, impl().shape);
  convert(impl().dtype, from.impl_->data, dtype, result.impl_->data, impl().size).orThrow();
  return TensorAccess::on(impl().device, result);
}

Tensor Tensor::reshape(const Shape &shape) const {
  std::vector<int64_t> dims = shape.dims();
  int64_t *open = nullptr;
  bool fits = true;
  for (int64_t &d : dims)
    if (d == none.value) {
      fits &= open == nullptr;
      open = &d;
    }
  if (fits && open) {
    *open = 1;
    const int64_t known = Shape(dims).elements();
    fits = known != 0 && impl().size % known == 0;
    *open = fits ? impl().size / known : 0;
  }
  if (!fits || Shape(dims).elements() != impl().size)
    throw Error(ErrorKind::value_error, fmt::format("A tensor of shape {} with {} elements cannot be reshaped to {}",
                                                    impl().shape.str(), impl().size, shape.str()));
  return TensorAccess::view(*this, 0, Shape(dims));
}

Tensor Tensor::slice(int64_t begin, int64_t end) const {
  const Shape &shape = impl().shape;
  if (shape.rank() == 0)
    throw Error(ErrorKind::value_error, "A scalar cannot be sliced");
  if (begin < 0 || begin > end || end > shape[0])
    throw Error(ErrorKind::value_error,
                fmt::format("slice({}, {}) is out of range for the shape {}: expected 0 <= begin <= end <= {}", begin,
                            end, shape.str(), shape[0]));
  std::vector<int64_t> dims = shape.dims();
  const int64_t rows = dims[0], stride = rows ? impl().size / rows : 0;
  dims[0] = end - begin;
  return TensorAccess::view(*this, begin * stride, Shape(dims));
}

/// Returns true if argmax prefers element `a` to element `b`: integers compare exactly, and NaN exceeds every other
/// value.
static bool isLarger(DType dtype, const std::byte *data, int64_t a, int64_t b) {
  if (dtype == DType::int64)
    return reinterpret_cast<const int64_t *>(data)[a] > reinterpret_cast<const int64_t *>(data)[b];
  if (dtype == DType::uint64)
    return reinterpret_cast<const uint64_t *>(data)[a] > reinterpret_cast<const uint64_t *>(data)[b];
  const double x = elementAsDouble(dtype, data, a), y = elementAsDouble(dtype, data, b);
  return x > y || (std::isnan(x) && !std::isnan(y));
}

Tensor Tensor::argmax(int64_t axis) const {
  const FloatMode mode;
  const Shape &shape = impl().shape;
  requireNumbers(impl().dtype, shape);
  const int64_t extent = shape[axis];
  if (extent == 0)
    throw Error(ErrorKind::value_error, fmt::format("argmax: axis {} of shape {} is empty", axis, shape.str()));
  std::vector<int64_t> dims = shape.dims();
  const auto position = dims.begin() + (axis < 0 ? axis + shape.rank() : axis);
  int64_t inner = 1;
  for (auto d = position + 1; d != dims.end(); ++d)
    inner *= *d;
  dims.erase(position);
  const Tensor from = TensorAccess::onHost(*this);
  Tensor result = TensorAccess::allocate(int64, Shape(dims));
  auto *out = reinterpret_cast<int64_t *>(result.impl_->data);
  for (int64_t i = 0; i < result.impl_->size; ++i) {
    const int64_t start = i / inner * extent * inner + i % inner;
    int64_t best = 0;
    for (int64_t k = 1; k < extent; ++k)
      if (isLarger(impl().dtype, from.impl_->data, start + k * inner, start + best * inner))
        best = k;
    out[i] = best;
  }
  return TensorAccess::on(impl().device, result);
}
