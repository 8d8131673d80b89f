// Streams and events.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/driver/Streams.h"
#include <algorithm>

namespace halftone::emulator {

Stream *Streams::create(bool isBlocking) {
  streams_.push_back(std::make_unique<Stream>());
  streams_.back()->isBlocking = isBlocking;
  return streams_.back().get();
}

bool Streams::isStream(const Stream *stream) const {
  return std::ranges::any_of(streams_, [&](const auto &s) { return s.get() == stream; });
}

bool Streams::isIdle() const {
  return std::ranges::all_of(streams_, [](const auto &s) { return s->queue.empty(); });
}

void Streams::destroy(Stream *stream) {
  finish(stream);
  std::erase_if(streams_, [&](const auto &s) { return s.get() == stream; });
}

void Streams::add(Stream *stream, std::function<void()> run) {
  if (stream) {
    stream->queue.push_back({std::move(run), nullptr, nullptr});
    return;
  }
  finishBlocking();
  run();
}

void Streams::addWhenReady(Stream *stream, std::function<void()> run, std::function<bool()> isReady) {
  stream->queue.push_back({std::move(run), nullptr, std::move(isReady)});
}

void Streams::wait(Stream *stream, std::shared_ptr<Mark> mark) {
  if (!mark)
    return;
  if (stream)
    stream->queue.push_back({[] {}, std::move(mark), nullptr});
  else
    finish(*mark);
}

void Streams::record(Stream *stream, Event &event) {
  event.mark = std::make_shared<Mark>();
  add(stream, [mark = event.mark] {
    mark->reached = true;
    mark->time = std::chrono::steady_clock::now();
  });
}

bool Streams::runOne() {
  std::vector<Stream *> ready;
  bool waitsForOthers = false;
  for (const auto &stream : streams_) {
    if (stream->queue.empty() || (stream->queue.front().after && !stream->queue.front().after->reached))
      continue;
    const Operation &next = stream->queue.front();
    if (!next.isReady || next.isReady())
      ready.push_back(stream.get());
    else
      waitsForOthers = true;
  }
  if (ready.empty() && waitsForOthers)
    pause_();
  if (ready.empty())
    return waitsForOthers;
  Stream *chosen = ready[random_.below(ready.size())];
  std::function<void()> run = std::move(chosen->queue.front().run);
  chosen->queue.pop_front();
  run();
  return true;
}

void Streams::finish(const Stream *stream) {
  if (!stream)
    return finishBlocking();
  while (!stream->queue.empty() && runOne())
    continue;
}

void Streams::finish(const Mark &mark) {
  while (!mark.reached && runOne())
    continue;
}

void Streams::finishBlocking() {
  auto isBusy = [](const auto &s) { return s->isBlocking && !s->queue.empty(); };
  while (std::ranges::any_of(streams_, isBusy) && runOne())
    continue;
}

void Streams::finishAll() {
  while (runOne())
    continue;
}

void Streams::drop() {
  for (const auto &stream : streams_)
    stream->queue.clear();
}

} // namespace halftone::emulator
