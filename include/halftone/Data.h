// Data for models: batches, datasets, generators and common file formats.
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
  std::optional<int64_t> num_parallel_calls{}; // threads that call f, at most 256; none: the reading thread
};
struct PaddedBatchArgs {
  /// Upper bounds, ascending, of the length of an element, which is the extent of axis 0 of the first tensor of x.
  std::vector<int64_t> bucket_boundaries{};
  bool pad_y = false; // true if axis 0 of y and sample_weight has that length too
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
  /// A dataset from functions. Each pass over the data calls `make_epoch`, and then the function that it returns until
  /// that returns nullopt. `cardinality` is the number of elements in a pass, and limits it.
  static Dataset from_generator(std::function<std::function<std::optional<Batch>()>()> make_epoch,
                                std::optional<int64_t> cardinality = {});
  Dataset batch(int64_t batch_size, bool drop_remainder = false) const;
  Dataset shuffle(int64_t buffer_size, std::optional<int64_t> seed = {}) const;
  /// Batches elements of different extents, padded at the end of each axis to the longest of the batch; sample weights
  /// are padded with zeros. With `bucket_boundaries`, a batch has elements of one bucket, and axis 0 of x (with `pad_y`
  /// of all tensors) is padded to the boundary of the bucket, so that a model compiles once per bucket. Batches are
  /// returned as their buckets fill, and incomplete buckets at the end. value_error for an element beyond the last
  /// boundary, for elements of different ranks or dtypes, and for boundaries that are not positive and ascending.
  Dataset padded_batch(int64_t batch_size, const PaddedBatchArgs &args = {}) const;
  /// Applies f to each element, and keeps the order. With `num_parallel_calls`, that many threads call f, which must be
  /// thread-safe, and at most that many elements are computed ahead of the reader. The first error of f or of the
  /// source ends the iteration, and is reported to the reader. value_error for fewer than 1 thread.
  Dataset map(std::function<Batch(Batch)> f, const MapArgs &args = {}) const;
  /// Keeps the elements for which `keep` returns true.
  Dataset filter(std::function<bool(const Batch &)> keep) const;
  Dataset take(int64_t count) const;
  /// Drops the first `count` elements. value_error for a negative count.
  Dataset skip(int64_t count) const;
  /// Appends the elements of `next`.
  Dataset concatenate(const Dataset &next) const;
  /// Divides each element into its rows. All tensors of an element must have the same number of rows.
  Dataset unbatch() const;
  /// Pairs the elements of several datasets until one of them ends: x of `x`, and the x of the others as y and as
  /// sample weights.
  static Dataset zip(const Dataset &x, const Dataset &y);
  static Dataset zip(const Dataset &x, const Dataset &y, const Dataset &sample_weight);
  /// Repeats the dataset for `count` passes; a shuffle() before repeat() reshuffles for each. None or -1: infinitely
  /// many, so that fit() needs `steps_per_epoch`. An empty pass ends the iteration. value_error for another negative
  /// count.
  Dataset repeat(std::optional<int64_t> count = {}) const;
  /// Keeps the elements of the first complete pass in memory for later passes, which do not read the source. An
  /// incomplete pass is not kept. Place random transformations after it.
  Dataset cache() const;
  Dataset prefetch(int64_t buffer_size) const;
  std::optional<int64_t> cardinality() const; // none if only a pass can determine it, and for an infinite dataset

  class HALFTONE_API iterator { // input iterator
  public:
    const Batch &operator*() const; // value_error at the end and for a moved-from iterator, as for ++
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
/// Loads the four MNIST files (train|t10k)-(images-idx3|labels-idx1)-ubyte[.gz] from a directory: for training uint8
/// (60000, 28, 28) and uint8 (60000,), for tests the same with 10000 rows. io_error, which names the file, the expected
/// and the actual contents.
HALFTONE_API Arrays mnist(const std::string &directory);
/// Loads Fashion-MNIST, whose files have the names, shapes and dtypes of mnist(), with labels from 0 to 9 for types of
/// garment.
HALFTONE_API Arrays fashion_mnist(const std::string &directory);
/// Loads the binary version of CIFAR-10, data_batch_1.bin to data_batch_5.bin and test_batch.bin, from a directory or
/// its subdirectory cifar-10-batches-bin: for training uint8 (50000, 32, 32, 3) and uint8 (50000, 1), for tests the
/// same with 10000 rows. io_error as for mnist().
HALFTONE_API Arrays cifar10(const std::string &directory);
/// Loads the binary version of CIFAR-100, train.bin and test.bin, from a directory or its subdirectory
/// cifar-100-binary: arrays as for cifar10(), with labels below 100, or below 20 for coarse labels. io_error as for
/// mnist().
HALFTONE_API Arrays cifar100(const std::string &directory, Choice<CifarLabels> label_mode = CifarLabels::fine);

/// Loads an IDX file, optionally gzipped, of uint8, int8, int16, int32, float32 or float64. io_error as for mnist().
HALFTONE_API Tensor load_idx(const std::string &path);
} // namespace datasets
} // namespace halftone
