// Sums, copies and lists over all processes of a run, made of messages.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/communication/Communicator.h"
#include "runtime/plan/Plan.h"
#include <string>
#include <string_view>
#include <vector>

namespace halftone {

/// An array of this process that is combined with those of the others. `from` and `to` are disjoint.
struct SharedArray {
  DType dtype = DType::float32; // a float of at least 16 bits, or an integer
  int64_t elements = 0;         // of all processes together, if they have parts
  const std::byte *from = nullptr;
  std::byte *to = nullptr;
  /// If processes have parts of the array: rank r has the elements from borders[r] up to borders[r + 1].
  std::span<const int64_t> borders{};

  /// The first byte of a rank's part, and how many bytes the part has.
  int64_t partBegin(int rank) const { return borders[static_cast<size_t>(rank)] * itemsize(dtype); }
  int64_t partBytes(int rank) const { return partBegin(rank + 1) - partBegin(rank); }
};

/// Every process makes the same calls in the same order, with arrays of the same dtypes and sizes. A failure is that of
/// Communicator::exchange().
class Collectives {
public:
  explicit Collectives(Communicator &communicator) : communicator_(communicator) {}
  /// The words for the exchanges from now on, in which all processes must agree.
  void setLabel(std::string label) { label_ = std::move(label); }
  int rank() const { return communicator_.rank(); }
  int size() const { return communicator_.size(); }

  /// Combines each array with those of the other processes. The sum of an element is 0 + x0 + x1 + ... in the order of
  /// ranks, in f32 for floats of 16 bits and rounded once at the end. So every process has the same bits, in every run.
  Status allReduce(CollectiveKind kind, std::span<const SharedArray> arrays);
  /// Gives each process its part of the sum of each array, with the same bits: `from` is the whole array, `to` the part.
  Status reduceScatter(std::span<const SharedArray> arrays);
  /// Gives every process the parts of all: `from` is the own part, `to` the whole array.
  Status allGather(std::span<const SharedArray> arrays);
  /// Calls allReduce(), reduceScatter() or allGather().
  Status combine(CollectiveKind kind, std::span<const SharedArray> arrays);
  /// Gives all processes the bytes of rank 0.
  Status broadcast(std::span<std::byte> bytes);
  /// Gives each process the texts of all, by rank.
  StatusOr<std::vector<std::string>> gather(std::string_view own);
  /// The same of arrays of bytes whose sizes all processes know; `parts` has one for each rank, and this process's part
  /// stands in its place.
  Status gatherInPlace(std::span<const std::span<std::byte>> parts);
  /// The same of several arrays together.
  Status gatherInPlace(std::span<const std::vector<std::span<std::byte>>> arrays);

private:
  static Status check(std::span<const SharedArray> arrays);
  Status shareWhole(CollectiveKind kind, std::span<const SharedArray> arrays);
  Status shareChunks(CollectiveKind kind, std::span<const SharedArray> arrays);

  Status exchange(std::span<const Outgoing> sends, std::span<const Incoming> receives) {
    return communicator_.exchange(label_, sends, receives);
  }

  Communicator &communicator_;
  std::string label_;
  std::vector<std::byte> own_, others_; // memory that is kept from call to call
};

} // namespace halftone
