// A list with numbers that rise along it.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/Line.h"

namespace halftone::compiler {

static constexpr uint64_t stride = uint64_t(1) << 32; // between neighbours, until others go in between

Line::Line(size_t count) {
  for (size_t at = 0; at <= count; ++at) {
    before.push_back(at == 0 ? count : at - 1);
    behind.push_back(at == count ? 0 : at + 1);
    places.push_back(at * stride);
  }
}

size_t Line::add(size_t left) {
  const size_t item = itemOf(places.size());
  before.push_back(0);
  behind.push_back(0);
  places.push_back(0);
  put(left, item);
  return item;
}

void Line::remove(size_t item) {
  behind[before[slot(item)]] = behind[slot(item)];
  before[behind[slot(item)]] = before[slot(item)];
}

void Line::put(size_t left, llvm::ArrayRef<size_t> items) {
  size_t at = slot(left);
  const size_t right = behind[at];
  const uint64_t gap = right == 0 ? stride : (places[right] - places[at]) / (items.size() + 1);
  for (size_t item : items) {
    places[slot(item)] = places[at] + gap;
    before[slot(item)] = at;
    behind[at] = slot(item);
    at = slot(item);
  }
  behind[at] = right;
  before[right] = at;
  if (gap == 0)
    renumber();
}

void Line::renumber() {
  uint64_t place = 0;
  for (size_t at = behind[0]; at != 0; at = behind[at])
    places[at] = place += stride;
}

} // namespace halftone::compiler
