// Data for a model: batches, datasets, generators and common files.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Choice.h"
#include "Tensor.h"
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace halftone {
namespace detail {
struct DatasetAccess;
}
struct Batch {
  Tensors x{};
  Tensors y{};
  Tensors sample_weight{};
};

struct MapArgs {
  std::optional<int64_t> num_parallel_calls{}; // threads that call f, at most 256; none: the thread that reads does
};
struct PaddedBatchArgs {
  /// Upper bounds, ascending, of the lengths of elements: the extent of axis 0 of the first tensor of x.
  std::vector<int64_t> bucket_boundaries{};
  bool pad_y = false; // whether y and sample_weight have an axis 0 of that extent too
  double padding_value = 0.0;
  bool drop_remainder = false;
};
class HALFTONE_API Dataset { // a handle; the pipeline methods return a new dataset
public:
  Dataset(const Dataset &);
  Dataset(Dataset &&) noexcept;
  Dataset &operator=(const Dataset &) &;
  Dataset &operator=(Dataset &&) & noexcept;
  ~Dataset();
  Dataset(const Tensors &x, const Tensors &y = {}, const Tensors &sample_weight = {});
  /// Calls `make_epoch` once per pass over the data, and then the function that it returned until that returns nullopt.
  /// `cardinality` is the count of elements in a pass; the dataset asks for no more.
  static Dataset from_generator(std::function<std::function<std::optional<Batch>()>()> make_epoch,
                                std::optional<int64_t> cardinality = {});
  Dataset batch(int64_t batch_size, bool drop_remainder = false) const;
  Dataset shuffle(int64_t buffer_size, std::optional<int64_t> seed = {}) const;
  /// Elements of different extents, padded at the end of each axis to the longest of the batch; sample weights are padded
  /// with zeros. With `bucket_boundaries`, a batch has elements of one bucket, and axis 0 of x, with `pad_y` of all tensors,
  /// is padded to the boundary of the bucket: a model compiles once for each. Batches come in the order in which their buckets
  /// fill, and at the end the buckets that are not full. value_error for an element beyond the last boundary, for elements of
  /// different ranks or dtypes, and for boundaries that are not positive and ascending.
  Dataset padded_batch(int64_t batch_size, const PaddedBatchArgs &args = {}) const;
  /// The order is that of the elements. With `num_parallel_calls`, as many threads call f, which must be safe to call from
  /// several, on elements that they take one after another; at most that many are ahead of the reader. The elements end with
  /// the first error, of f or of the source, which reaches the reader. value_error for a count below 1.
  Dataset map(std::function<Batch(Batch)> f, const MapArgs &args = {}) const;
  /// The elements for which `keep` is true.
  Dataset filter(std::function<bool(const Batch &)> keep) const;
  Dataset take(int64_t count) const;
  /// The elements after the first `count`. value_error for a negative count.
  Dataset skip(int64_t count) const;
  /// The elements of this dataset, then those of the other one.
  Dataset concatenate(const Dataset &next) const;
  /// The rows of each element, which must have tensors of as many rows.
  Dataset unbatch() const;
  /// The elements of several datasets side by side, until one of them ends: x of `x`, and the x of the others as y and as
  /// sample weights.
  static Dataset zip(const Dataset &x, const Dataset &y);
  static Dataset zip(const Dataset &x, const Dataset &y, const Dataset &sample_weight);
  /// `count` passes, each with a new order of a shuffle() before it. None, or -1: infinitely many, so that fit() needs
  /// `steps_per_epoch`. A pass without elements ends the iteration. value_error for another negative count.
  Dataset repeat(std::optional<int64_t> count = {}) const;
  /// Keeps the elements of the first whole pass in memory, for later passes, which do not ask the source. A pass that ends
  /// early keeps nothing. Put what is random after it.
  Dataset cache() const;
  Dataset prefetch(int64_t buffer_size) const;
  std::optional<int64_t> cardinality() const; // none while only a pass can tell, and for an infinite dataset

  class HALFTONE_API iterator { // input iterator
  public:
    const Batch &operator*() const; // value_error at the end and for an iterator that was moved from; so is ++
    iterator &operator++();
    bool operator!=(const iterator &other) const { return (batch_ == nullptr) != (other.batch_ == nullptr); }
    iterator() = default;
    explicit iterator(std::function<std::optional<Batch>()> next);

  private:
    std::function<std::optional<Batch>()> next_;
    std::shared_ptr<Batch> batch_;
  };
  iterator begin() const; // starts an epoch
  iterator end() const { return {}; }

private:
  struct Rep;
  explicit Dataset(std::shared_ptr<Rep> rep);
  std::shared_ptr<Rep> rep_;
  friend class Model;
  friend struct detail::DatasetAccess;
};

namespace datasets {
struct Arrays {
  Tensor x_train, y_train, x_test, y_test;
};
/// The four MNIST files (train|t10k)-(images-idx3|labels-idx1)-ubyte[.gz] in a directory: for training uint8 (60000,
/// 28, 28) and uint8 (60000,), for tests the same with 10000 rows. io_error naming the file, the expected contents and
/// those found.
HALFTONE_API Arrays mnist(const std::string &directory);
/// Fashion-MNIST: files of the same names, shapes and dtypes as those of mnist(), with labels from 0 to 9 for garments.
HALFTONE_API Arrays fashion_mnist(const std::string &directory);
/// The binary version of CIFAR-10, data_batch_1.bin to data_batch_5.bin and test_batch.bin, in a directory or in its
/// folder cifar-10-batches-bin: for training uint8 (50000, 32, 32, 3) and uint8 (50000, 1), for tests the same with
/// 10000 rows. io_error as of mnist().
HALFTONE_API Arrays cifar10(const std::string &directory);
/// The binary version of CIFAR-100, train.bin and test.bin, in a directory or in its folder cifar-100-binary: arrays as
/// those of cifar10(), with labels below 100, or, if they are coarse, below 20. io_error as of mnist().
HALFTONE_API Arrays cifar100(const std::string &directory, Choice<CifarLabels> label_mode = CifarLabels::fine);

/// Any IDX file, gzipped or not: uint8, int8, int16, int32, float32 or float64. io_error as of mnist().
HALFTONE_API Tensor load_idx(const std::string &path);
} // namespace datasets
} // namespace halftone
