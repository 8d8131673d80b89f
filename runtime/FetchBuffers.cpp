// Assigns the addresses of fetches, and allocates their tensors.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/FetchBuffers.h"
#include "runtime/TensorAccess.h"
#include "runtime/TensorTypes.h"
#include <fmt/format.h>
#include <utility>

namespace halftone {

FetchBuffers::FetchBuffers(const Executable &executable, std::shared_ptr<DeviceRuntime> device)
    : executable_(&executable), device_(std::move(device)), locations_(executable.signature.fetches.size()),
      addresses_(locations_.size()) {}

/// Appends the fetch to the run, which is the last one.
void FetchBuffers::place(size_t index, int64_t run) {
  Run &last = runs_[static_cast<size_t>(run)];
  locations_[index] = {run, last.bytes};
  const int64_t bytes = executable_->signature.fetches[index].type.bytes();
  last.bytes += (bytes + bufferAlignment - 1) / bufferAlignment * bufferAlignment;
}

StatusOr<FetchBuffers> FetchBuffers::make(const Executable &executable, std::shared_ptr<DeviceRuntime> device) {
  FetchBuffers made(executable, std::move(device));
  if (made.device_->isHost())
    return made;
  const std::vector<Parameter> &fetches = executable.signature.fetches;
  const auto bytesOf = [&](size_t index) { return fetches[index].type.bytes(); };
  const auto end = [&] { return made.runs_.empty() ? 0 : made.runs_.back().offset + made.runs_.back().bytes; };
  for (size_t index = 0; index < fetches.size(); ++index)
    if (bytesOf(index) <= maxSharedBytes) {
      made.runs_.resize(1);
      made.place(index, 0);
    }
  for (size_t index = 0; index < fetches.size(); ++index)
    if (bytesOf(index) > maxSharedBytes && bytesOf(index) <= maxFixedBytes) {
      made.runs_.push_back({end(), 0});
      made.place(index, std::ssize(made.runs_) - 1);
    }
  if (made.runs_.empty())
    return made;
  StatusOr<DeviceMemory> memory = made.device_->allocate(end());
  if (!memory.isOk())
    return Status(memory.status().kind(),
                  fmt::format("{}: its fetches: {}", executable.name, memory.status().message()));
  made.fixed_ = *std::move(memory);
  for (size_t index = 0; index < fetches.size(); ++index)
    if (const Location &at = made.locations_[index]; at.run >= 0)
      made.addresses_[index] = made.fixed_.get() + made.runs_[static_cast<size_t>(at.run)].offset + at.offset;
  return made;
}

StatusOr<Tensor> FetchBuffers::tensor(size_t index) {
  const Parameter &parameter = executable_->signature.fetches[index];
  if (device_->isHost()) {
    StatusOr<Tensor> made = makeTensor(parameter.type);
    if (made.isOk())
      addresses_[index] = TensorAccess::address(*made);
    return made;
  }
  const Location &location = locations_[index];
  DeviceMemory own, &memory = location.run < 0 ? own : runs_[static_cast<size_t>(location.run)].to;
  if (!memory) {
    const int64_t bytes = location.run < 0 ? parameter.type.bytes() : runs_[static_cast<size_t>(location.run)].bytes;
    StatusOr<DeviceMemory> allocated = device_->allocateUndefined(bytes); // verify() ensures a full write
    HALFTONE_RETURN_IF_ERROR(allocated.status());
    memory = *std::move(allocated);
  }
  std::byte *const data = memory.get() + location.offset;
  if (location.run < 0)
    addresses_[index] = data;
  return TensorAccess::wrap(memory, data, parameter.type.dtype, Shape(parameter.type.shape), device_);
}

StatusOr<std::vector<Tensor>> FetchBuffers::tensors() {
  for (Run &run : runs_)
    run.to.reset();
  std::vector<Tensor> made;
  made.reserve(locations_.size());
  for (size_t index = 0; index < locations_.size(); ++index) {
    StatusOr<Tensor> next = tensor(index);
    if (!next.isOk())
      return Status(next.status().kind(),
                    fmt::format("{}: fetch '{}': {}", executable_->name, executable_->signature.fetches[index].name,
                                next.status().message()));
    made.push_back(*std::move(next));
  }
  return made;
}

void FetchBuffers::copyOut(DeviceQueue &queue) {
  for (Run &run : runs_) {
    queue.copy(run.to.get(), fixed_.get() + run.offset, run.bytes, {});
    run.to.reset(); // the tensors own it
  }
}

} // namespace halftone
