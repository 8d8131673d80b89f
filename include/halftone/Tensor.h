// Data: a dense row-major array of one dtype on one device, apart from any graph.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "DType.h"
#include "Device.h"
#include "Shape.h"
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halftone {

/// A handle: copies share storage. The comment of a constructor states whether it copies data or takes ownership;
/// borrow() alone does neither. A tensor holds every dtype but the complex ones and string (type_error). Storage that
/// Halftone allocates is aligned to 64 bytes. On an undefined tensor every function but defined() and str() gives
/// value_error.
class HALFTONE_API Tensor {
public:
  Tensor() noexcept; // undefined
  Tensor(const Tensor &);
  Tensor(Tensor &&) noexcept;
  Tensor &operator=(const Tensor &) &;
  Tensor &operator=(Tensor &&) & noexcept;
  ~Tensor();
  Tensor(std::initializer_list<float> data, const Shape &shape); // float32, copies; value_error when counts differ
  template <Scalar T>
  Tensor(std::vector<T> data, const Shape &shape) // takes the vector
      : Tensor(own(std::move(data)), dtype_of<T>, shape) {}
  template <Scalar T>
  Tensor(std::span<const T> data, const Shape &shape) // copies
      : Tensor(data.data(), data.size(), dtype_of<T>, shape) {}
  template <Scalar T> static Tensor of(std::initializer_list<T> data, const Shape &shape) { // copies
    return Tensor(data.begin(), data.size(), dtype_of<T>, shape);
  }
  template <Scalar T> static Tensor scalar(T v) { return Tensor(&v, 1, dtype_of<T>, Shape{}); }
  template <Scalar T> // no copy: the memory must outlive the tensor, or `owner` must keep it
  static Tensor borrow(std::span<T> data, const Shape &shape, std::shared_ptr<void> owner = {}) {
    return Tensor(Owned{std::move(owner), data.data(), data.size()}, dtype_of<T>, shape);
  }
  template <Scalar T> static Tensor borrow(std::vector<T> &&, const Shape &, std::shared_ptr<void> = {}) = delete;
  static Tensor zeros(const Shape &shape, DType dtype = float32);
  static Tensor ones(const Shape &shape, DType dtype = float32);
  /// An integer that the dtype holds is exact; any other number is converted as by astype() from a float.
  static Tensor full(const Shape &shape, const Number &value, DType dtype = float32);
  /// Reads NumPy's .npy, format 1.0 to 3.0, of either byte order, row- or column-major. io_error naming the file, the
  /// expected contents and those found. bfloat16 is `V2` and float8_e4m3fn `V1`, as ml_dtypes writes them; float8_e5m2
  /// is ml_dtypes's `f1`, or `V1` with a comment that names it. (NumPy reads V1 and V2 as void: use .view().)
  static Tensor load_npy(const std::string &path);
  void save_npy(const std::string &path) const; // format 1.0, or 2.0 if its header needs it; row-major, little-endian

  bool defined() const { return impl_ != nullptr; }
  Shape shape() const;
  int64_t size() const; // elements
  DType dtype() const;
  Device device() const;

  template <Scalar T> std::span<const T> span() const & { // type_error on another dtype, device_error off the host
    return {static_cast<const T *>(data(dtype_of<T>)), static_cast<size_t>(size())};
  }
  template <Scalar T> std::span<const T> span() const && = delete; // deleted, since the storage would be gone
  template <Scalar T> std::span<T> mutable_span() & {
    return {static_cast<T *>(mutable_data(dtype_of<T>)), static_cast<size_t>(size())};
  }
  /// The first element, from any device; waits for it. type_error on another dtype, value_error when there is no
  /// element.
  template <Scalar T> T item() const {
    T v;
    read(&v, 1, dtype_of<T>);
    return v;
  }
  template <Scalar T> std::vector<T> to_vector() const {
    std::vector<T> v(static_cast<size_t>(size()));
    read(v.data(), v.size(), dtype_of<T>);
    return v;
  }

  [[nodiscard]] Tensor to(Device device) const;
  /// To a float: nearest, ties to even. From a float to an integer: truncated and clamped, NaN gives 0. Between
  /// integers: wraps. To bool: != 0.
  [[nodiscard]] Tensor astype(DType dtype) const;
  [[nodiscard]] Tensor reshape(const Shape &shape) const;       // a view; one dimension may be none
  [[nodiscard]] Tensor slice(int64_t begin, int64_t end) const; // along axis 0, 0 <= begin <= end <= its extent; a view
  [[nodiscard]] Tensor argmax(int64_t axis = -1) const;         // int64; index of the first largest or NaN
  std::string str() const; // shape, dtype and elements; more than 1,000 elements are shortened
private:
  friend struct TensorAccess;
  struct Impl;
  struct Owned {
    std::shared_ptr<void> owner;
    void *data;
    size_t count;
  };
  template <class T> static Owned own(std::vector<T> v) {
    auto p = std::make_shared<std::vector<T>>(std::move(v));
    return {p, p->data(), p->size()};
  }
  Tensor(Owned owned, DType dtype, const Shape &shape);
  Tensor(const void *data, size_t count, DType dtype, const Shape &shape);
  const void *data(DType expected) const;
  void *mutable_data(DType expected);
  void read(void *out, size_t count, DType expected) const;
  explicit Tensor(std::shared_ptr<Impl> impl);
  const Impl &impl() const;
  std::shared_ptr<Impl> impl_;
};
/// Conveniences for preparing data on the host; models use ops::. A float tensor keeps its dtype, any other tensor
/// gives floatx. `b` is rounded to that dtype first, and the result is rounded once.
HALFTONE_API Tensor operator+(const Tensor &a, double b);
HALFTONE_API Tensor operator-(const Tensor &a, double b);
HALFTONE_API Tensor operator*(const Tensor &a, double b);
HALFTONE_API Tensor operator/(const Tensor &a, double b);

/// One tensor, several in order, or several by name: the argument of a model with one or many inputs.
class HALFTONE_API Tensors {
public:
  Tensors() noexcept;
  Tensors(const Tensors &);
  Tensors(Tensors &&) noexcept;
  Tensors &operator=(const Tensors &) &;
  Tensors &operator=(Tensors &&) & noexcept;
  ~Tensors();
  Tensors(Tensor one);
  Tensors(std::initializer_list<Tensor> list);
  Tensors(std::vector<Tensor> list);
  Tensors(std::initializer_list<std::pair<std::string, Tensor>> named);
  bool empty() const { return list_.empty(); }
  size_t size() const { return list_.size(); }
  Tensor operator[](size_t i) const;              // value_error for an index past the end
  Tensor operator[](std::string_view name) const; // key_error
  const Tensor *begin() const & { return list_.data(); }
  const Tensor *end() const & { return list_.data() + list_.size(); }
  const Tensor *begin() const && = delete;
  const Tensor *end() const && = delete;
  const std::vector<std::string> &names() const { return names_; }

private:
  friend struct TensorAccess;
  std::vector<Tensor> list_;
  std::vector<std::string> names_;
};
} // namespace halftone
