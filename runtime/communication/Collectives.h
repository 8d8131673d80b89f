// Collective sums, copies and gathers over all processes of a run, implemented with messages.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/communication/Communicator.h"
#include "runtime/plan/Plan.h"
#include <string>
#include <string_view>
#include <vector>

namespace halftone {

/// An array of this process that is combined with those of the other processes. `from` and `to` are disjoint.
struct SharedArray {
  DType dtype = DType::float32; // a float of at least 16 bits, or an integer
  int64_t elements = 0;         // in all processes together, if each process has a part
  const std::byte *from = nullptr;
  std::byte *to = nullptr;
  /// If each process has a part of the array: rank r owns elements [offsets[r], offsets[r + 1]).
  std::span<const int64_t> offsets{};

  /// The byte offset and the byte count of a rank's part.
  int64_t partBegin(int rank) const { return offsets[static_cast<size_t>(rank)] * itemsize(dtype); }
  int64_t partBytes(int rank) const { return partBegin(rank + 1) - partBegin(rank); }
};

/// Message-based collectives. Every process makes the same calls in the same order, with arrays of the same dtypes and
/// sizes. Errors are those of Communicator::exchange().
class Collectives {
public:
  explicit Collectives(Communicator &communicator) : communicator_(communicator) {}
  /// Sets the label of the following exchanges, which must be the same in all processes.
  void setLabel(std::string label) { label_ = std::move(label); }
  int rank() const { return communicator_.rank(); }
  int size() const { return communicator_.size(); }

  /// Combines each array with those of the other processes. The sum of an element is 0 + x0 + x1 + ... in rank order,
  /// in f32 for 16-bit floats and rounded once at the end. So the bits are the same in every process and in every run.
  Status allReduce(CollectiveKind kind, std::span<const SharedArray> arrays);
  /// Gives each process its part of the sum of each array, with the same bits as allReduce(): `from` is the whole
  /// array, `to` the part.
  Status reduceScatter(std::span<const SharedArray> arrays);
  /// Gives every process the parts of all: `from` is its own part, `to` the whole array.
  Status allGather(std::span<const SharedArray> arrays);
  /// Calls allReduce(), reduceScatter() or allGather().
  Status combine(CollectiveKind kind, std::span<const SharedArray> arrays);
  /// Copies the bytes of rank 0 to all processes.
  Status broadcast(std::span<std::byte> bytes);
  /// Gives each process the texts of all processes, by rank.
  StatusOr<std::vector<std::string>> gather(std::string_view own);
  /// Like gather(), for byte arrays whose sizes all processes know. `parts` has one element per rank; the element of
  /// this process holds its input.
  Status gatherInPlace(std::span<const std::span<std::byte>> parts);
  /// Like the above, for several arrays in one exchange.
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
  std::vector<std::byte> own_, others_; // buffers reused from call to call
};

} // namespace halftone
