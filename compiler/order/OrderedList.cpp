// Maintains labels that increase along a list.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/order/OrderedList.h"

namespace halftone::compiler {

static constexpr uint64_t stride = uint64_t(1) << 32; // between neighbors, until items are inserted between them

OrderedList::OrderedList(size_t count) {
  for (size_t at = 0; at <= count; ++at) {
    before.push_back(at == 0 ? count : at - 1);
    after.push_back(at == count ? 0 : at + 1);
    labels.push_back(at * stride);
  }
}

size_t OrderedList::add(size_t left) {
  const size_t item = itemOf(labels.size());
  before.push_back(0);
  after.push_back(0);
  labels.push_back(0);
  put(left, item);
  return item;
}

void OrderedList::remove(size_t item) {
  after[before[slot(item)]] = after[slot(item)];
  before[after[slot(item)]] = before[slot(item)];
}

void OrderedList::put(size_t left, llvm::ArrayRef<size_t> items) {
  size_t at = slot(left);
  const size_t right = after[at];
  const uint64_t gap = right == 0 ? stride : (labels[right] - labels[at]) / (items.size() + 1);
  for (size_t item : items) {
    labels[slot(item)] = labels[at] + gap;
    before[slot(item)] = at;
    after[at] = slot(item);
    at = slot(item);
  }
  after[at] = right;
  before[right] = at;
  if (gap == 0)
    relabel();
}

void OrderedList::relabel() {
  uint64_t label = 0;
  for (size_t at = after[0]; at != 0; at = after[at])
    labels[at] = label += stride;
}

} // namespace halftone::compiler
