// Packs arrays into one message, and combines the messages in rank order.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/communication/Collectives.h"
#include "runtime/base/Half.h"
#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>

namespace halftone {

namespace {

/// Alignment of arrays in a message. Chunk bounds are multiples of it too, so they split no element.
constexpr int64_t alignment = 8;
/// Up to this size every process sends its whole message to all others: one exchange instead of two, but more bytes.
constexpr int64_t maxBytesSharedWhole = 8192;
/// Arrays of at least this size are separate messages: copying them would take longer than sending one more message.
constexpr int64_t minBytesInPlace = 32768;

int64_t alignedBytes(const SharedArray &array) {
  return (array.elements * itemsize(array.dtype) + alignment - 1) / alignment * alignment;
}
int64_t bytesOf(std::span<const SharedArray> arrays) {
  int64_t bytes = 0;
  for (const SharedArray &array : arrays)
    bytes += alignedBytes(array);
  return bytes;
}

void pack(std::span<const SharedArray> arrays, std::byte *to) {
  for (const SharedArray &array : arrays) {
    if (array.elements > 0)
      std::memcpy(to, array.from, static_cast<size_t>(array.elements * itemsize(array.dtype)));
    to += alignedBytes(array);
  }
}
void unpack(std::span<const SharedArray> arrays, const std::byte *from) {
  for (const SharedArray &array : arrays) {
    if (array.elements > 0)
      std::memcpy(array.to, from, static_cast<size_t>(array.elements * itemsize(array.dtype)));
    from += alignedBytes(array);
  }
}

/// Converts elements of a stored type to and from the type in which they are combined.
template <class T> struct Plain {
  using Storage = T;
  using Number = T;
  static Number decode(T x) { return x; }
  static T encode(Number x) { return x; }
};
template <class Format> struct Narrow {
  using Storage = typename Format::Storage;
  using Number = float;
  static float decode(Storage x) { return Format::decode(x); }
  static Storage encode(float x) { return Format::encode(x); }
};

template <class T> T combined(CollectiveKind kind, T a, T b) {
  if (kind == CollectiveKind::sum) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
    else
      return a + b;
  }
  return a != a || a > b ? a : b; // propagates NaN
}

/// Adds the elements of two processes; `to` may alias one of them. Like the sum over more processes it starts with 0,
/// so that -0 + -0 has the same bits.
template <class Codec>
void addTwo(const typename Codec::Storage *first, const typename Codec::Storage *second, typename Codec::Storage *to,
            int64_t elements) {
  using Number = typename Codec::Number;
  for (int64_t i = 0; i < elements; ++i)
    to[i] = Codec::encode(combined<Number>(CollectiveKind::sum,
                                           combined<Number>(CollectiveKind::sum, 0, Codec::decode(first[i])),
                                           Codec::decode(second[i])));
}

/// Combines elements of all processes. `parts` is the same byte range of each process's message, by rank; `to` may
/// alias one of them.
template <class Codec>
void combine(CollectiveKind kind, std::span<const std::byte *const> parts, std::byte *to, int64_t elements) {
  using Storage = typename Codec::Storage;
  using Number = typename Codec::Number;
  if (kind == CollectiveKind::sum && parts.size() == 2)
    return addTwo<Codec>(reinterpret_cast<const Storage *>(parts[0]), reinterpret_cast<const Storage *>(parts[1]),
                         reinterpret_cast<Storage *>(to), elements);
  constexpr int64_t limit = 512; // elements that fit in the L1 cache
  std::array<Number, limit> numbers;
  for (int64_t begin = 0; begin < elements; begin += limit) {
    const int64_t count = std::min(limit, elements - begin);
    for (size_t rank = 0; rank < parts.size(); ++rank) {
      const auto *from = reinterpret_cast<const Storage *>(parts[rank]) + begin;
      if (rank == 0 && kind == CollectiveKind::sum)
        std::fill_n(numbers.begin(), count, Number(0));
      else if (rank == 0)
        std::transform(from, from + count, numbers.begin(), Codec::decode);
      if (rank > 0 || kind == CollectiveKind::sum)
        for (int64_t i = 0; i < count; ++i)
          numbers[i] = combined<Number>(kind, numbers[i], Codec::decode(from[i]));
    }
    std::transform(numbers.begin(), numbers.begin() + count, reinterpret_cast<Storage *>(to) + begin, Codec::encode);
  }
}

using Combine = void (*)(CollectiveKind, std::span<const std::byte *const>, std::byte *, int64_t);
Combine combineOf(DType dtype) {
  switch (dtype) {
  case DType::float16:
    return combine<Narrow<Float16>>;
  case DType::bfloat16:
    return combine<Narrow<Bfloat16>>;
  case DType::float32:
    return combine<Plain<float>>;
  case DType::float64:
    return combine<Plain<double>>;
  case DType::int8:
    return combine<Plain<int8_t>>;
  case DType::int16:
    return combine<Plain<int16_t>>;
  case DType::int32:
    return combine<Plain<int32_t>>;
  case DType::int64:
    return combine<Plain<int64_t>>;
  case DType::uint8:
    return combine<Plain<uint8_t>>;
  case DType::uint16:
    return combine<Plain<uint16_t>>;
  case DType::uint32:
    return combine<Plain<uint32_t>>;
  case DType::uint64:
    return combine<Plain<uint64_t>>;
  default:
    return nullptr;
  }
}

/// Combines the bytes [begin, end) of messages. `messages` point to byte `begin` of each; so does `to`.
void combineBytes(CollectiveKind kind, std::span<const SharedArray> arrays, int64_t begin, int64_t end,
                  std::span<const std::byte *const> messages, std::byte *to) {
  int64_t at = 0; // start of the array
  std::vector<const std::byte *> parts(messages.size());
  for (const SharedArray &array : arrays) {
    const int64_t size = itemsize(array.dtype), first = std::max(begin, at),
                  last = std::min(end, at + array.elements * size);
    if (first < last) {
      for (size_t rank = 0; rank < parts.size(); ++rank)
        parts[rank] = messages[rank] + (first - begin);
      combineOf(array.dtype)(kind, parts, to + (first - begin), (last - first) / size);
    }
    at += alignedBytes(array);
  }
}

std::byte *ensureSize(std::vector<std::byte> &memory, int64_t bytes) {
  if (std::ssize(memory) < bytes)
    memory.resize(static_cast<size_t>(bytes));
  return memory.data();
}

} // namespace

Status Collectives::check(std::span<const SharedArray> arrays) {
  for (const SharedArray &array : arrays)
    if (!combineOf(array.dtype))
      return {ErrorKind::type_error, fmt::format("collectives do not support dtype {}", name(array.dtype))};
  return {};
}

Status Collectives::combine(CollectiveKind kind, std::span<const SharedArray> arrays) {
  switch (kind) {
  case CollectiveKind::sum:
  case CollectiveKind::max:
    return allReduce(kind, arrays);
  case CollectiveKind::scattered_sum:
    return reduceScatter(arrays);
  case CollectiveKind::gather:
    return allGather(arrays);
  }
  return {ErrorKind::internal_error, "a collective of an unknown kind"};
}

Status Collectives::allReduce(CollectiveKind kind, std::span<const SharedArray> arrays) {
  HALFTONE_RETURN_IF_ERROR(check(arrays));
  return bytesOf(arrays) <= maxBytesSharedWhole ? shareWhole(kind, arrays) : shareChunks(kind, arrays);
}

Status Collectives::shareWhole(CollectiveKind kind, std::span<const SharedArray> arrays) {
  const int64_t bytes = bytesOf(arrays);
  std::byte *const all = ensureSize(others_, bytes * size());
  std::vector<std::span<std::byte>> parts;
  std::vector<const std::byte *> messages;
  for (int other = 0; other < size(); ++other) {
    parts.emplace_back(all + bytes * other, static_cast<size_t>(bytes));
    messages.push_back(parts.back().data());
  }
  pack(arrays, parts[static_cast<size_t>(rank())].data());
  HALFTONE_RETURN_IF_ERROR(gatherInPlace(parts));
  std::byte *const result = ensureSize(own_, bytes);
  combineBytes(kind, arrays, 0, bytes, messages, result);
  unpack(arrays, result);
  return {};
}

namespace {

/// Arrays whose memory layout is that of a message: one large array, or packed small ones. `to` may be `from`.
struct Region {
  std::vector<SharedArray> arrays;
  const std::byte *from;
  std::byte *to;
  int64_t bytes;

  int64_t boundary(int64_t chunk, int64_t chunks) const { return bytes / alignment * chunk / chunks * alignment; }
  /// The range of the chunk. The last chunk includes the bytes after the last multiple.
  std::pair<int64_t, int64_t> chunk(int64_t number, int64_t chunks) const {
    return {boundary(number, chunks), number + 1 == chunks ? bytes : boundary(number + 1, chunks)};
  }
};

} // namespace

/// Rank r combines chunk r of each region and sends the result to all. Large arrays are sent from and received into
/// their own memory.
Status Collectives::shareChunks(CollectiveKind kind, std::span<const SharedArray> arrays) {
  std::vector<SharedArray> small;
  std::vector<Region> regions;
  for (const SharedArray &array : arrays)
    if (const int64_t bytes = array.elements * itemsize(array.dtype); bytes < minBytesInPlace)
      small.push_back(array);
    else
      regions.push_back({{array}, array.from, array.to, bytes});
  if (const int64_t bytes = bytesOf(small); bytes > 0) {
    std::byte *const packed = ensureSize(own_, bytes);
    pack(small, packed);
    regions.push_back({small, packed, packed, bytes});
  }
  int64_t ownBytes = 0; // size of the chunks that this process combines
  for (const Region &region : regions) {
    const auto [begin, end] = region.chunk(rank(), size());
    ownBytes += (end - begin + alignment - 1) / alignment * alignment;
  }
  std::byte *const others = ensureSize(others_, ownBytes * size());
  std::vector<Outgoing> sends, results;
  std::vector<Incoming> receives, chunks;
  for (int other = 0; other < size(); ++other) {
    if (other == rank())
      continue;
    std::byte *next = others + ownBytes * other;
    for (const Region &region : regions) {
      const auto [begin, end] = region.chunk(other, size());
      const auto [ownBegin, ownEnd] = region.chunk(rank(), size());
      const auto bytes = static_cast<size_t>(end - begin), own = static_cast<size_t>(ownEnd - ownBegin);
      sends.push_back({other, {region.from + begin, bytes}});
      receives.push_back({other, {next, own}});
      results.push_back({other, {region.to + ownBegin, own}});
      chunks.push_back({other, {region.to + begin, bytes}});
      next += (ownEnd - ownBegin + alignment - 1) / alignment * alignment;
    }
  }
  HALFTONE_RETURN_IF_ERROR(exchange(sends, receives));
  int64_t at = 0;
  for (const Region &region : regions) {
    const auto [begin, end] = region.chunk(rank(), size());
    std::vector<const std::byte *> messages;
    for (int other = 0; other < size(); ++other)
      messages.push_back(other == rank() ? region.from + begin : others + ownBytes * other + at);
    combineBytes(kind, region.arrays, begin, end, messages, region.to + begin);
    at += (end - begin + alignment - 1) / alignment * alignment;
  }
  HALFTONE_RETURN_IF_ERROR(exchange(results, chunks));
  if (!small.empty())
    unpack(small, own_.data());
  return {};
}

namespace {

/// The concatenated parts of one rank: first the large ones, each a separate message, then the small ones, which share
/// one message.
struct PartLayout {
  std::vector<int64_t> offsets; // by array
  int64_t smallBegin = 0, bytes = 0;

  static bool isSmall(const SharedArray &array, int rank) { return array.partBytes(rank) < minBytesInPlace; }
  PartLayout(std::span<const SharedArray> arrays, int rank) : offsets(arrays.size()) {
    for (const bool small : {false, true}) {
      smallBegin = small ? bytes : 0;
      for (size_t i = 0; i < arrays.size(); ++i)
        if (isSmall(arrays[i], rank) == small) {
          offsets[i] = bytes;
          bytes += (arrays[i].partBytes(rank) + alignment - 1) / alignment * alignment;
        }
    }
  }
  int64_t smallBytes() const { return bytes - smallBegin; }
};

} // namespace

Status Collectives::reduceScatter(std::span<const SharedArray> arrays) {
  HALFTONE_RETURN_IF_ERROR(check(arrays));
  const PartLayout own(arrays, rank());
  std::vector<PartLayout> layouts;
  int64_t packedBytes = 0;
  for (int other = 0; other < size(); ++other)
    packedBytes += layouts.emplace_back(arrays, other).smallBytes();
  std::byte *const others = ensureSize(others_, own.bytes * size()), *packed = ensureSize(own_, packedBytes);
  std::vector<Outgoing> sends;
  std::vector<Incoming> receives;
  const auto send = [&](int to, const std::byte *from, int64_t bytes) {
    sends.push_back({to, {from, static_cast<size_t>(bytes)}});
  };
  for (int other = 0; other < size(); ++other) {
    if (other == rank())
      continue;
    const PartLayout &theirs = layouts[static_cast<size_t>(other)];
    std::byte *const received = others + own.bytes * other;
    for (size_t i = 0; i < arrays.size(); ++i) {
      const SharedArray &array = arrays[i];
      const int64_t bytes = array.partBytes(other), ownBytes = array.partBytes(rank());
      const std::byte *const part = array.from + array.partBegin(other);
      if (!PartLayout::isSmall(array, other))
        send(other, part, bytes);
      else if (bytes > 0)
        std::memcpy(packed + (theirs.offsets[i] - theirs.smallBegin), part, static_cast<size_t>(bytes));
      if (!PartLayout::isSmall(array, rank()))
        receives.push_back({other, {received + own.offsets[i], static_cast<size_t>(ownBytes)}});
    }
    if (theirs.smallBytes() > 0)
      send(other, packed, theirs.smallBytes());
    if (own.smallBytes() > 0)
      receives.push_back({other, {received + own.smallBegin, static_cast<size_t>(own.smallBytes())}});
    packed += theirs.smallBytes();
  }
  HALFTONE_RETURN_IF_ERROR(exchange(sends, receives));
  std::vector<const std::byte *> parts(static_cast<size_t>(size()));
  for (size_t i = 0; i < arrays.size(); ++i) {
    for (int other = 0; other < size(); ++other)
      parts[static_cast<size_t>(other)] =
          other == rank() ? arrays[i].from + arrays[i].partBegin(other) : others + own.bytes * other + own.offsets[i];
    const int64_t elements = arrays[i].partBytes(rank()) / itemsize(arrays[i].dtype);
    if (elements > 0)
      combineOf(arrays[i].dtype)(CollectiveKind::sum, parts, arrays[i].to, elements);
  }
  return {};
}

Status Collectives::allGather(std::span<const SharedArray> arrays) {
  HALFTONE_RETURN_IF_ERROR(check(arrays));
  std::vector<std::vector<std::span<std::byte>>> wholes;
  for (const SharedArray &array : arrays) {
    std::vector<std::span<std::byte>> &parts = wholes.emplace_back();
    for (int other = 0; other < size(); ++other)
      parts.emplace_back(array.to + array.partBegin(other), static_cast<size_t>(array.partBytes(other)));
    if (const std::span<std::byte> own = parts[static_cast<size_t>(rank())]; !own.empty())
      std::memcpy(own.data(), array.from, own.size());
  }
  return gatherInPlace(wholes);
}

Status Collectives::gatherInPlace(std::span<const std::span<std::byte>> parts) {
  std::vector<Outgoing> sends;
  std::vector<Incoming> receives;
  for (int other = 0; other < size(); ++other)
    if (other != rank()) {
      sends.push_back({other, parts[static_cast<size_t>(rank())]});
      receives.push_back({other, parts[static_cast<size_t>(other)]});
    }
  return exchange(sends, receives);
}

/// Parts of less than minBytesInPlace bytes are packed into one message per process.
Status Collectives::gatherInPlace(std::span<const std::vector<std::span<std::byte>>> arrays) {
  const auto isSmall = [](std::span<std::byte> part) { return std::ssize(part) < minBytesInPlace; };
  std::vector<int64_t> ends; // of each process's small parts
  for (size_t rank = 0; rank < static_cast<size_t>(size()); ++rank) {
    ends.push_back(ends.empty() ? 0 : ends.back());
    for (const auto &parts : arrays)
      ends.back() += isSmall(parts[rank]) ? std::ssize(parts[rank]) : 0;
  }
  std::byte *const memory = ensureSize(others_, ends.back());
  std::vector<std::span<std::byte>> packed;
  for (size_t rank = 0; rank < ends.size(); ++rank) {
    const int64_t begin = rank == 0 ? 0 : ends[rank - 1];
    packed.emplace_back(memory + begin, static_cast<size_t>(ends[rank] - begin));
  }
  const auto eachSmall = [&](size_t rank, const auto &copy) {
    std::byte *at = packed[rank].data();
    for (const auto &parts : arrays)
      if (const std::span<std::byte> part = parts[rank]; isSmall(part) && !part.empty()) {
        copy(at, part);
        at += part.size();
      }
  };
  const auto own = static_cast<size_t>(rank());
  eachSmall(own, [](std::byte *at, std::span<std::byte> part) { std::memcpy(at, part.data(), part.size()); });
  std::vector<Outgoing> sends;
  std::vector<Incoming> receives;
  for (size_t other = 0; other < ends.size(); ++other) {
    if (other == own)
      continue;
    const auto rank = static_cast<int>(other);
    for (const auto &parts : arrays) {
      if (!isSmall(parts[own]))
        sends.push_back({rank, parts[own]});
      if (!isSmall(parts[other]))
        receives.push_back({rank, parts[other]});
    }
    if (!packed[own].empty())
      sends.push_back({rank, packed[own]});
    if (!packed[other].empty())
      receives.push_back({rank, packed[other]});
  }
  HALFTONE_RETURN_IF_ERROR(exchange(sends, receives));
  for (size_t other = 0; other < ends.size(); ++other)
    if (other != own)
      eachSmall(other, [](std::byte *at, std::span<std::byte> part) { std::memcpy(part.data(), at, part.size()); });
  return {};
}

Status Collectives::broadcast(std::span<std::byte> bytes) {
  if (rank() > 0) {
    const Incoming receive{0, bytes};
    return exchange({}, {&receive, 1});
  }
  std::vector<Outgoing> sends;
  for (int other = 1; other < size(); ++other)
    sends.push_back({other, bytes});
  return exchange(sends, {});
}

StatusOr<std::vector<std::string>> Collectives::gather(std::string_view own) {
  std::vector<int64_t> lengths(static_cast<size_t>(size()));
  lengths[static_cast<size_t>(rank())] = std::ssize(own);
  std::vector<std::span<std::byte>> parts;
  for (int64_t &length : lengths)
    parts.push_back(std::as_writable_bytes(std::span(&length, 1)));
  HALFTONE_RETURN_IF_ERROR(gatherInPlace(parts));
  std::vector<std::string> texts;
  for (int64_t length : lengths)
    texts.emplace_back(static_cast<size_t>(length), '\0');
  texts[static_cast<size_t>(rank())] = own;
  parts.clear();
  for (std::string &text : texts)
    parts.push_back(std::as_writable_bytes(std::span(text)));
  HALFTONE_RETURN_IF_ERROR(gatherInPlace(parts));
  return texts;
}

} // namespace halftone
