// The copies from global to shared memory that the threads of a warp have started and not waited for.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/AsyncCopies.h"
#include "tests/emulator/Block.h"

namespace halftone::emulator {

namespace {

void readSource(Warp &warp, int lane, AsyncCopy &copy) {
  copy.isRead = true;
  if (copy.source.bytes == copy.target.bytes)
    return warp.load(lane, Space::Global, copy.source, copy.bytes.data());
  for (uint32_t i = 0; i < copy.source.bytes; ++i)
    warp.load(lane, Space::Global, {copy.source.address + i, 1}, copy.bytes.data() + i);
}

} // namespace

AsyncCopies::Lane &AsyncCopies::at(int lane) {
  if (lanes_.empty())
    lanes_.resize(warpSize);
  return lanes_[lane];
}

void AsyncCopies::begin(Warp &warp, int lane, const AsyncCopy &copy) {
  warp.block().shared().storeLater(copy.target, warp.userAt(lane));
  AsyncCopy begun = copy;
  bool readsNow = warp.block().random().below(2) == 0;
  if (readsNow)
    readSource(warp, lane, begun);
  at(lane).open.push_back(begun);
}

void AsyncCopies::commit(int lane) {
  Lane &state = at(lane);
  state.groups.push_back(std::move(state.open));
  state.open.clear();
}

void AsyncCopies::finish(Warp &warp, int lane, Group &group) {
  for (AsyncCopy &copy : group) {
    if (!copy.isRead)
      readSource(warp, lane, copy);
    warp.block().shared().storeLate(copy.target, warp.userAt(lane), copy.bytes.data());
  }
}

void AsyncCopies::wait(Warp &warp, int lane, size_t left) {
  Lane &state = at(lane);
  for (; state.groups.size() > left; state.groups.pop_front())
    finish(warp, lane, state.groups.front());
}

void AsyncCopies::waitAll(Warp &warp, int lane) {
  wait(warp, lane, 0);
  Lane &state = at(lane);
  finish(warp, lane, state.open);
  state.open.clear();
}

} // namespace halftone::emulator
