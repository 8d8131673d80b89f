// Queues NCCL collectives among the compute stream's work.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/cuda/NcclCollectives.h"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <optional>

namespace halftone::cuda {
namespace {

Status refusal(size_t rank, std::string_view reason) {
  return {ErrorKind::runtime_error, fmt::format("the GPUs of the processes cannot join: rank {} {}", rank, reason)};
}

/// Whether this process can join and, on rank 0, the id of the communicator.
struct Readiness {
  std::shared_ptr<const Nccl> nccl;
  nccl::GroupId id{};
  std::string word; // "+" and the version, or "-" and the reason
};

/// `gpu`: whether this process's GPU can join.
Readiness readinessOf(int rank, const Status &gpu) {
  if (!gpu.isOk())
    return {nullptr, {}, "-" + gpu.message()};
  StatusOr<std::shared_ptr<const Nccl>> nccl = Nccl::shared();
  if (!nccl.isOk())
    return {nullptr, {}, "-" + nccl.status().message()};
  Readiness own{*nccl, {}, "+" + (*nccl)->version()};
  const Status made =
      rank > 0 ? Status() : own.nccl->check(own.nccl->calls().getUniqueId(&own.id), "creating a group id", nullptr);
  if (!made.isOk())
    own.word = "-" + made.message();
  return own;
}

/// Gives all processes the id of rank 0. If one cannot join, all return the same error.
Status agree(ProcessGroup &group, Readiness &own) {
  std::vector<std::string> words;
  const auto exchange = [&](Collectives &collectives) -> Status {
    StatusOr<std::vector<std::string>> all = collectives.gather(own.word);
    HALFTONE_RETURN_IF_ERROR(all.status());
    words = *std::move(all);
    return collectives.broadcast(std::as_writable_bytes(std::span(own.id.bytes)));
  };
  HALFTONE_RETURN_IF_ERROR(group.run("the GPUs join", exchange));
  for (size_t rank = 0; rank < words.size(); ++rank)
    if (words[rank].front() == '-')
      return refusal(rank, "reports: " + words[rank].substr(1));
  for (size_t rank = 1; rank < words.size(); ++rank)
    if (words[rank] != words[0])
      return refusal(rank, fmt::format("has NCCL {}, rank 0 has {}", words[rank].substr(1), words[0].substr(1)));
  return {};
}

std::optional<nccl::DataType> typeOf(DType dtype) {
  switch (dtype) {
  case DType::float16:
    return nccl::DataType::float16;
  case DType::bfloat16:
    return nccl::DataType::bfloat16;
  case DType::float32:
    return nccl::DataType::float32;
  case DType::float64:
    return nccl::DataType::float64;
  case DType::int8:
    return nccl::DataType::int8;
  case DType::uint8:
    return nccl::DataType::uint8;
  case DType::int32:
    return nccl::DataType::int32;
  case DType::uint32:
    return nccl::DataType::uint32;
  case DType::int64:
    return nccl::DataType::int64;
  case DType::uint64:
    return nccl::DataType::uint64;
  default:
    return std::nullopt;
  }
}

} // namespace

StatusOr<std::shared_ptr<NcclCollectives>> NcclCollectives::join(std::shared_ptr<Gpu> gpu,
                                                                 const std::shared_ptr<ProcessGroup> &group) {
  std::shared_ptr<NcclCollectives> joined(new NcclCollectives(gpu));
  const StatusOr<ContextScope> context = gpu->current(); // no GpuLock: the calls below wait for other processes
  Readiness own = readinessOf(group->rank(), context.isOk() ? joined->makeStream() : context.status());
  HALFTONE_RETURN_IF_ERROR(agree(*group, own));
  joined->nccl_ = own.nccl;
  HALFTONE_RETURN_IF_ERROR(own.nccl->check(
      own.nccl->calls().commInitRank(&joined->comm_, group->size(), own.id, group->rank()),
      fmt::format("joining {} of rank {} with the other processes", gpu->name(), group->rank()), nullptr));
  return joined;
}

Status NcclCollectives::makeStream() {
  return gpu_->check(gpu_->calls().streamCreate(&stream_, nonBlockingStream), "creating a stream");
}

NcclCollectives::~NcclCollectives() {
  const StatusOr<GpuLock> lock = gpu_->lock();
  if (!lock.isOk())
    return;
  if (stream_)
    (void)gpu_->calls().streamSynchronize(stream_);
  if (comm_)
    (void)nccl_->calls().commDestroy(comm_);
  for (Event event : inFlight_)
    gpu_->giveEvent(event);
  if (stream_)
    (void)gpu_->calls().streamDestroy(stream_);
}

/// Makes work queued on `later` from now on wait for all work queued on `first`.
Status NcclCollectives::runAfter(Stream later, Stream first) {
  StatusOr<Event> event = gpu_->takeEvent();
  HALFTONE_RETURN_IF_ERROR(event.status());
  Status status = gpu_->check(gpu_->calls().eventRecord(*event, first), "a collective");
  if (status.isOk())
    status = gpu_->check(gpu_->calls().streamWaitEvent(later, *event, 0), "a collective");
  gpu_->giveEvent(*event);
  return status;
}

nccl::Result NcclCollectives::queue(CollectiveKind kind, const SharedArray &array) {
  if (isDivided(kind))
    return queueParts(kind, array);
  if (array.elements == 0)
    return nccl::Result::success;
  const nccl::Reduction reduction = kind == CollectiveKind::sum ? nccl::Reduction::sum : nccl::Reduction::max;
  return nccl_->calls().allReduce(array.from, array.to, static_cast<size_t>(array.elements), *typeOf(array.dtype),
                                  reduction, comm_, stream_);
}

/// Queues one reduce or broadcast per process, since NCCL's own reduce_scatter and all_gather require parts of equal
/// size.
nccl::Result NcclCollectives::queueParts(CollectiveKind kind, const SharedArray &array) {
  const nccl::Functions &calls = nccl_->calls();
  const nccl::DataType type = *typeOf(array.dtype);
  nccl::Result result = nccl::Result::success;
  for (int rank = 0; rank + 1 < std::ssize(array.offsets) && result == nccl::Result::success; ++rank) {
    const int64_t begin = array.partBegin(rank);
    const auto count = static_cast<size_t>(array.partBytes(rank) / itemsize(array.dtype));
    if (count == 0)
      continue;
    result = kind == CollectiveKind::scattered_sum
                 ? calls.reduce(array.from + begin, array.to, count, type, nccl::Reduction::sum, rank, comm_, stream_)
                 : calls.broadcast(array.from, array.to + begin, count, type, rank, comm_, stream_);
  }
  return result;
}

/// Queues one NCCL kernel for all arrays.
Status NcclCollectives::queue(CollectiveKind kind, std::span<const SharedArray> arrays) {
  const nccl::Functions &calls = nccl_->calls();
  HALFTONE_RETURN_IF_ERROR(nccl_->check(calls.groupStart(), "a collective", comm_));
  Status status;
  for (const SharedArray &array : arrays)
    if (status.isOk())
      status = nccl_->check(queue(kind, array), "a collective", comm_);
  const Status ended = nccl_->check(calls.groupEnd(), "a collective", comm_);
  return status.isOk() ? ended : status;
}

Status NcclCollectives::start(CollectiveKind kind, std::span<const SharedArray> arrays) {
  for (const SharedArray &array : arrays)
    if (!typeOf(array.dtype))
      return {ErrorKind::type_error,
              fmt::format("collectives between GPUs do not support dtype {}", name(array.dtype))};
  const StatusOr<GpuLock> lock = gpu_->lock();
  HALFTONE_RETURN_IF_ERROR(lock.status());
  nccl::Result late = nccl::Result::success;
  HALFTONE_RETURN_IF_ERROR(nccl_->check(nccl_->calls().commGetAsyncError(comm_, &late), "querying errors", comm_));
  HALFTONE_RETURN_IF_ERROR(nccl_->check(late, "a collective queued before", comm_));
  HALFTONE_RETURN_IF_ERROR(runAfter(stream_, gpu_->compute()));
  HALFTONE_RETURN_IF_ERROR(queue(kind, arrays));
  StatusOr<Event> arrived = gpu_->takeEvent();
  HALFTONE_RETURN_IF_ERROR(arrived.status());
  const Status recorded = gpu_->check(gpu_->calls().eventRecord(*arrived, stream_), "a collective");
  if (recorded.isOk())
    inFlight_.push_back(*arrived);
  else
    gpu_->giveEvent(*arrived);
  return recorded;
}

Status NcclCollectives::wait() {
  const StatusOr<GpuLock> lock = gpu_->lock();
  HALFTONE_RETURN_IF_ERROR(lock.status());
  if (inFlight_.empty()) // its start failed
    return {};
  const Event arrived = inFlight_.front();
  inFlight_.pop_front();
  const Status status = gpu_->check(gpu_->calls().streamWaitEvent(gpu_->compute(), arrived, 0), "a collective");
  gpu_->giveEvent(arrived);
  return status;
}

} // namespace halftone::cuda
