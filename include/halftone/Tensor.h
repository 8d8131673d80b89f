// Tensor, a dense row-major array of one dtype on one device, independent of any graph.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "DType.h"
#include "Device.h"
#include "Indexing.h"
#include "Shape.h"
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halftone {

/// A number, or nested braced lists of numbers.
class Rows {
public:
  template <class N>
    requires std::is_arithmetic_v<N>
  Rows(N number) : number_(number), is_number_(true) {}
  Rows(std::initializer_list<Rows> list) : list_(list) {}
  bool is_number() const { return is_number_; }
  const Number &number() const { return number_; }
  const std::vector<Rows> &list() const { return list_; }

private:
  std::vector<Rows> list_{};
  Number number_ = 0;
  bool is_number_ = false;
};
struct NormalTensorArgs {
  double mean = 0.0, stddev = 1.0;
  DType dtype = float32;
  std::optional<int64_t> seed{}; // none: the next seed of the sequence of set_random_seed()
};
struct UniformTensorArgs {
  double minval = 0.0, maxval = 1.0;
  DType dtype = float32;
  std::optional<int64_t> seed{};
};
struct RandintTensorArgs {
  DType dtype = int32;
  std::optional<int64_t> seed{};
};

/// A handle: copies share storage. The comment of a constructor states whether it copies data or takes ownership; only
/// borrow() does neither. All dtypes are supported except the complex ones (type_error). Storage that Halftone
/// allocates is aligned to 64 bytes. A tensor of strings is on the host; it supports shape, keys, rows, reshape, slice,
/// concatenate, stack, to_vector<std::string>() and str(), and any other function is a type_error. On an undefined
/// tensor any function except defined() and str() is a value_error.
class HALFTONE_API Tensor {
  struct Impl;

public:
  Tensor() noexcept; // undefined
  Tensor(const Tensor &);
  Tensor(Tensor &&) noexcept;
  Tensor &operator=(const Tensor &) &;
  Tensor &operator=(Tensor &&) & noexcept;
  ~Tensor();
  Tensor(std::initializer_list<float> data, const Shape &shape); // float32, copies; value_error if the counts differ
  /// Numbers in braces, float32 unless a dtype is given: Tensor({1, 2, 3}), Tensor({{1, 2}, {3, 4}}, int32).
  /// value_error for rows of different lengths, and for numbers that the dtype cannot represent.
  explicit Tensor(std::initializer_list<Rows> rows) : Tensor(of_rows(rows, float32)) {}
  template <std::same_as<DType> D> // so that {} is a shape
  explicit Tensor(std::initializer_list<Rows> rows, D dtype) : Tensor(of_rows(rows, dtype)) {}
  template <Scalar T>
    requires(!std::same_as<T, bool>)
  Tensor(std::vector<T> data, const Shape &shape) // takes ownership of the vector
      : Tensor(own(std::move(data)), dtype_of<T>, shape) {}
  template <Scalar T>
    requires(!std::same_as<T, bool>)
  explicit Tensor(std::vector<T> data) // takes ownership of the vector; rank 1
      : Tensor(own(std::move(data)), dtype_of<T>) {}
  explicit Tensor(std::vector<std::string> data); // DType::string; takes ownership of the vector
  Tensor(std::vector<std::string> data, const Shape &shape);
  explicit Tensor(const std::vector<bool> &data);
  Tensor(const std::vector<bool> &data, const Shape &shape);
  template <Scalar T>
  Tensor(std::span<const T> data, const Shape &shape) // copies
      : Tensor(data.data(), data.size(), dtype_of<T>, shape) {}
  template <Scalar T> static Tensor of(std::initializer_list<T> data, const Shape &shape) { // copies
    return Tensor(data.begin(), data.size(), dtype_of<T>, shape);
  }
  template <Scalar T> static Tensor scalar(T v) { return Tensor(&v, 1, dtype_of<T>, Shape{}); }
  template <Scalar T> // no copy: the memory must outlive the tensor, or `owner` must keep it alive
  static Tensor borrow(std::span<T> data, const Shape &shape, std::shared_ptr<void> owner = {}) {
    return Tensor(Owned{std::move(owner), data.data(), data.size()}, dtype_of<T>, shape);
  }
  template <Scalar T> static Tensor borrow(std::vector<T> &&, const Shape &, std::shared_ptr<void> = {}) = delete;
  static Tensor zeros(const Shape &shape, DType dtype = float32);
  static Tensor ones(const Shape &shape, DType dtype = float32);
  /// An integer that the dtype can represent is exact; any other number is converted as by astype() from a float.
  static Tensor full(const Shape &shape, const Number &value, DType dtype = float32);
  /// Draws on the host with the generator of random::normal and the other functions: the same random words for the same
  /// seed.
  static Tensor normal(const Shape &shape, const NormalTensorArgs &args = {});
  static Tensor uniform(const Shape &shape, const UniformTensorArgs &args = {}); // minval <= v < maxval
  static Tensor randint(const Shape &shape, int64_t minval, int64_t maxval, const RandintTensorArgs &args = {});
  /// Concatenates copies of the tensors. type_error if dtypes differ; device_error if a tensor is not on the host.
  static Tensor concatenate(const std::vector<Tensor> &tensors, int64_t axis = 0);
  static Tensor stack(const std::vector<Tensor> &tensors, int64_t axis = 0);
  /// Reads NumPy's .npy, format 1.0 to 3.0, in either byte order, row- or column-major. io_error, which names the file,
  /// the expected and the actual contents. bfloat16 is `V2` and float8_e4m3fn `V1`, as ml_dtypes writes them;
  /// float8_e5m2 is ml_dtypes's `f1`, or `V1` with a comment that names it. (NumPy reads V1 and V2 as void: use
  /// .view().)
  static Tensor load_npy(const std::string &path);
  void save_npy(const std::string &path) const; // format 1.0, or 2.0 if its header needs it; row-major, little-endian

  bool defined() const { return impl_ != nullptr; }
  Shape shape() const;
  int64_t size() const; // the number of elements
  DType dtype() const;
  Device device() const;

  template <Scalar T> std::span<const T> span() const & { // type_error for another dtype, device_error off the host
    return {static_cast<const T *>(data(dtype_of<T>)), static_cast<size_t>(size())};
  }
  template <Scalar T> std::span<const T> span() const && = delete; // deleted, since the span could outlive the storage
  template <Scalar T> std::span<T> mutable_span() & {
    return {static_cast<T *>(mutable_data(dtype_of<T>)), static_cast<size_t>(size())};
  }
  /// The first element, from any device; blocks until it is computed. type_error for another dtype, value_error if
  /// there is no element.
  template <Scalar T> T item() const {
    T v;
    read(&v, 1, dtype_of<T>);
    return v;
  }
  /// The only element as a number, for any dtype and device: Python's item(). value_error unless there is exactly one.
  double item() const;
  /// Indexing as for a Value. A single index, or a single slice of step 1, gives a view. Other keys give a copy, and
  /// are a device_error if the tensor is not on the host.
  Tensor operator[](const Index &key) const;
  Tensor operator[](std::initializer_list<Index> key) const;
  class iterator { // over the rows: for (const Tensor &row : tensor)
  public:
    using value_type = Tensor;
    using difference_type = std::ptrdiff_t;
    iterator() = default;
    iterator(std::shared_ptr<Impl> of, int64_t row) : of_(std::move(of)), row_(row) {}
    Tensor operator*() const;
    iterator &operator++() {
      ++row_;
      return *this;
    }
    iterator operator++(int) {
      iterator old = *this;
      ++row_;
      return old;
    }
    bool operator==(const iterator &other) const { return row_ == other.row_; }

  private:
    std::shared_ptr<Impl> of_{};
    int64_t row_ = 0;
  };
  iterator begin() const { return {impl_, 0}; } // keeps the storage alive, so that a temporary can be iterated too
  iterator end() const { return {impl_, shape()[0]}; }
  template <Scalar T> std::vector<T> to_vector() const {
    if constexpr (std::same_as<T, bool>) {
      std::vector<uint8_t> bytes(static_cast<size_t>(size()));
      read(bytes.data(), bytes.size(), dtype_of<bool>);
      return {bytes.begin(), bytes.end()};
    } else {
      std::vector<T> v(static_cast<size_t>(size()));
      read(v.data(), v.size(), dtype_of<T>);
      return v;
    }
  }
  template <std::same_as<std::string>> std::vector<std::string> to_vector() const { return strings(); }

  [[nodiscard]] Tensor to(Device device) const;
  /// Converts the elements. To a float: rounds to nearest, ties to even. From a float to an integer: truncates and
  /// clamps; NaN gives 0. Between integers: wraps. To bool: != 0.
  [[nodiscard]] Tensor astype(DType dtype) const;
  [[nodiscard]] Tensor reshape(const Shape &shape) const;       // a view; one dimension may be none
  [[nodiscard]] Tensor slice(int64_t begin, int64_t end) const; // along axis 0, 0 <= begin <= end <= its extent; a view
  [[nodiscard]] Tensor argmax(int64_t axis = -1) const; // int64; the index of the first maximum, or of the first NaN
  std::string str() const;                              // shape, dtype and elements; abbreviated above 1,000 elements
private:
  friend struct TensorAccess;
  struct Owned {
    std::shared_ptr<void> owner;
    void *data;
    size_t count;
  };
  template <class T> static Owned own(std::vector<T> v) {
    auto p = std::make_shared<std::vector<T>>(std::move(v));
    return {p, p->data(), p->size()};
  }
  static Tensor of_rows(std::initializer_list<Rows> rows, DType dtype);
  Tensor(Owned owned, DType dtype, const Shape &shape);
  Tensor(Owned owned, DType dtype);
  Tensor(const void *data, size_t count, DType dtype, const Shape &shape);
  const void *data(DType expected) const;
  void *mutable_data(DType expected);
  void read(void *out, size_t count, DType expected) const;
  std::vector<std::string> strings() const;
  explicit Tensor(std::shared_ptr<Impl> impl);
  const Impl &impl() const;
  std::shared_ptr<Impl> impl_;
};
/// Arithmetic for data preparation, computed eagerly on the host with NumPy's broadcasting; models use ops::. Two
/// tensors give the dtype that ops:: gives (result_type; integers are divided in floatx). With a number, a float tensor
/// keeps its dtype, and any other tensor gives floatx; the number is first rounded to that dtype, and the result is
/// rounded once. device_error if a tensor is not on the host.
HALFTONE_API Tensor operator+(const Tensor &a, const Tensor &b);
HALFTONE_API Tensor operator-(const Tensor &a, const Tensor &b);
HALFTONE_API Tensor operator*(const Tensor &a, const Tensor &b);
HALFTONE_API Tensor operator/(const Tensor &a, const Tensor &b);
HALFTONE_API Tensor operator+(double a, const Tensor &b);
HALFTONE_API Tensor operator-(double a, const Tensor &b);
HALFTONE_API Tensor operator*(double a, const Tensor &b);
HALFTONE_API Tensor operator/(double a, const Tensor &b);
HALFTONE_API Tensor operator-(const Tensor &a);
HALFTONE_API Tensor operator+(const Tensor &a, double b);
HALFTONE_API Tensor operator-(const Tensor &a, double b);
HALFTONE_API Tensor operator*(const Tensor &a, double b);
HALFTONE_API Tensor operator/(const Tensor &a, double b);
/// a += b is a = a + b: `a` becomes a new tensor, and other handles of the old tensor are unaffected.
template <class B> Tensor &operator+=(Tensor &a, const B &b) { return a = a + b; }
template <class B> Tensor &operator-=(Tensor &a, const B &b) { return a = a - b; }
template <class B> Tensor &operator*=(Tensor &a, const B &b) { return a = a * b; }
template <class B> Tensor &operator/=(Tensor &a, const B &b) { return a = a / b; }
HALFTONE_API std::ostream &operator<<(std::ostream &os, const Tensor &tensor); // str()

/// One tensor, a list of tensors, or named tensors: the argument of a model with one or more inputs.
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
  Tensor operator[](size_t i) const;              // value_error if out of range
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
