// Binds a plan once, then plays it.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/Player.h"
#include "runtime/FetchBuffers.h"
#include "runtime/PlanCollectives.h"
#include "runtime/PlanOperations.h"
#include "runtime/TensorAccess.h"
#include "runtime/TensorTypes.h"
#include "runtime/base/FloatMode.h"
#include "runtime/base/ForkGate.h"
#include <algorithm>
#include <fmt/format.h>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

namespace halftone {
namespace {

/// A shadow of the executable and the launch that refreshes it.
struct BoundShadow {
  std::shared_ptr<VariableShadow> shadow;
  const StoredVariable *variable;
  Launch refresh{};
  bool refreshed = false; // in this play
};

} // namespace

struct Player::Impl {
  std::shared_ptr<const Executable> executable;
  std::shared_ptr<const KernelLibrary> kernels;
  std::shared_ptr<DeviceRuntime> device;
  std::vector<BeforePlay> beforePlay;
  std::vector<VariableHandle> variables; // as in the executable
  std::vector<std::byte *> variableData; // the variables' addresses when the plan was bound
  std::vector<BoundShadow> shadows;
  std::vector<std::mutex *> locks; // of the stores of all variables, those of `beforePlay` included
  std::unique_ptr<DeviceQueue> queue;
  DeviceMemory arena;
  std::vector<DeviceMemory> constants;
  std::vector<DeviceMemory> feedCopies; // each allocated for the first feed that the device cannot read in place

  std::vector<SlotId> feedSlots, fetchSlots;
  std::optional<FetchBuffers> fetchBuffers; // from allocate() on
  /// By slot, in the first iteration of every repeat; the addresses of feeds and fetches change with every play.
  std::vector<std::byte *> addresses;
  std::vector<void *> buffers;  // of all launches, concatenated
  std::vector<Launch> launches; // in the order of the launch steps
  PlanOperations steps;         // the plan's steps
  std::unique_ptr<PlanCollectives> collectives;
  std::vector<size_t> changed; // indices of the operations whose addresses differ in this play
  bool played = false;
  std::mutex playing;

  Status bindVariables(const VariableBinding &binding);
  Status allocate();
  Status bindShadows();
  Status bindLaunches();
  StatusOr<Launch> bindLaunch(const LaunchStep &step);
  void playOperations(size_t begin, size_t end);
  Status playSegments();
  Status checkFeeds(std::span<const Tensor> feeds) const;
  StatusOr<const std::byte *> placeFeed(const Tensor &feed, DeviceMemory &copy) const;
  Status placeFeedsAndFetches(std::span<const Tensor> feeds, std::vector<Tensor> &fetches);
  void findChanged();
  Status checkVariables() const;
  Status playLocked(const std::vector<Tensor> &fetches);
  Condition condition(const std::optional<Predicate> &predicate) const {
    return predicate ? Condition{addresses[predicate->slot], predicate->negated} : Condition{};
  }
  void refreshShadows();
  void updateShadowVersions(bool failed);
};

Player::Player(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Player::~Player() = default;

const Executable &Player::executable() const { return *impl_->executable; }
const std::shared_ptr<DeviceRuntime> &Player::device() const { return impl_->device; }
std::vector<CollectiveTimes> Player::collectiveTimes() const {
  const ForkSafeLock turn(impl_->playing); // during a play, play() and the group's thread write the times
  return impl_->collectives->times();
}

StatusOr<std::shared_ptr<Player>> Player::onCopies(std::shared_ptr<DeviceRuntime> device, bool together) const {
  StatusOr<std::vector<Tensor>> values = readTogether(impl_->variables);
  HALFTONE_RETURN_IF_ERROR(values.status());
  VariableStore store(device);
  VariableBinding binding;
  for (size_t i = 0; i < values->size(); ++i) {
    const VariableSlot &slot = impl_->executable->variables[i];
    StatusOr<VariableHandle> copy = store.create(slot.path, std::exchange((*values)[i], Tensor()));
    HALFTONE_RETURN_IF_ERROR(copy.status());
    binding[slot.symbol] = *std::move(copy);
  }
  return bind(impl_->executable, impl_->kernels, std::move(device), binding, {},
              together ? impl_->collectives->group() : nullptr);
}

StatusOr<std::shared_ptr<Player>> Player::bind(std::shared_ptr<const Executable> executable,
                                               std::shared_ptr<const KernelLibrary> kernels,
                                               std::shared_ptr<DeviceRuntime> device, const VariableBinding &variables,
                                               std::vector<BeforePlay> beforePlay,
                                               std::shared_ptr<ProcessGroup> group) {
  HALFTONE_RETURN_IF_ERROR(verify(*executable));
  auto collectives = PlanCollectives::make(*executable, *device, std::move(group));
  HALFTONE_RETURN_IF_ERROR(collectives.status());
  auto impl = std::make_unique<Impl>();
  impl->executable = std::move(executable);
  impl->kernels = std::move(kernels);
  impl->device = std::move(device);
  impl->beforePlay = std::move(beforePlay);
  impl->collectives = *std::move(collectives);
  HALFTONE_RETURN_IF_ERROR(impl->bindVariables(variables));
  HALFTONE_RETURN_IF_ERROR(impl->bindShadows());
  HALFTONE_RETURN_IF_ERROR(impl->allocate());
  HALFTONE_RETURN_IF_ERROR(impl->bindLaunches());
  return std::shared_ptr<Player>(new Player(std::move(impl)));
}

Status Player::Impl::bindVariables(const VariableBinding &binding) {
  std::set<const StoredVariable *> bound;
  for (const VariableSlot &slot : executable->variables) {
    auto found = binding.find(slot.symbol);
    if (found == binding.end() || !found->second)
      return {ErrorKind::key_error,
              fmt::format("{}: variable @{} ({}) is not bound", executable->name, slot.symbol, slot.path)};
    const VariableHandle &variable = found->second;
    if (variable->type() != slot.type)
      return {ErrorKind::value_error,
              fmt::format("{}: variable @{} ({}): the plan expects {}, got {}", executable->name, slot.symbol,
                          slot.path, slot.type.str(), variable->type().str())};
    const ForkSafeLock guard(variable->lock());
    if (&variable->device() != device.get() && !(variable->device().isHost() && device->isHost()))
      return {ErrorKind::value_error, fmt::format("{}: the plan runs on {}, but variable {} is on {}", executable->name,
                                                  device->name(), variable->path(), variable->device().name())};
    if (!bound.insert(variable.get()).second)
      return {ErrorKind::value_error,
              fmt::format("{}: variable {} is bound to two symbols", executable->name, variable->path())};
    variables.push_back(variable);
    variableData.push_back(variable->data());
  }
  std::vector<VariableHandle> all = variables;
  for (const BeforePlay &work : beforePlay)
    all.insert(all.end(), work.variables.begin(), work.variables.end());
  locks = locksOf(all);
  return {};
}

Status Player::Impl::bindShadows() {
  for (const ShadowSlot &slot : executable->shadows) {
    StoredVariable &variable = *variables[slot.variable];
    const ForkSafeLock guard(variable.lock());
    StatusOr<std::shared_ptr<VariableShadow>> shadow = variable.shadow(slot.function, slot.type.bytes());
    if (!shadow.isOk())
      return {shadow.status().kind(),
              fmt::format("{}: shadow @{}: {}", executable->name, slot.symbol, shadow.status().message())};
    (*shadow)->isOfShadow = slot.source.has_value();
    shadows.push_back({*std::move(shadow), &variable});
  }
  return {};
}

Status Player::Impl::allocate() {
  const Plan &plan = executable->plan;
  StatusOr<DeviceMemory> memory = device->allocate(plan.arenaBytes);
  if (!memory.isOk())
    return {memory.status().kind(),
            fmt::format("{}: its intermediate values: {}", executable->name, memory.status().message())};
  arena = *std::move(memory);
  for (const std::string &bytes : executable->constants) {
    StatusOr<DeviceMemory> constant = device->allocate(static_cast<int64_t>(bytes.size()));
    HALFTONE_RETURN_IF_ERROR(constant.status());
    HALFTONE_RETURN_IF_ERROR(device->upload(constant->get(), std::as_bytes(std::span(bytes))));
    constants.push_back(*std::move(constant));
  }
  feedCopies.resize(executable->signature.feeds.size());
  addresses.resize(plan.slots.size());
  for (size_t i = 0; i < plan.slots.size(); ++i) {
    const Slot &slot = plan.slots[i];
    if (slot.kind == SlotKind::arena)
      addresses[i] = arena.get() + slot.index + slot.start();
    else if (slot.kind == SlotKind::variable)
      addresses[i] = variableData[slot.index] + slot.start();
    else if (slot.kind == SlotKind::shadow)
      addresses[i] = shadows[slot.index].shadow->memory.get() + slot.start();
    else if (slot.kind == SlotKind::constant)
      addresses[i] = constants[slot.index].get() + slot.start();
    else
      (slot.kind == SlotKind::feed ? feedSlots : fetchSlots).push_back(static_cast<SlotId>(i));
  }
  StatusOr<FetchBuffers> buffers = FetchBuffers::make(*executable, device);
  HALFTONE_RETURN_IF_ERROR(buffers.status());
  fetchBuffers = *std::move(buffers);
  int64_t scratchBytes = 0;
  for (const ShadowSlot &shadow : executable->shadows)
    scratchBytes = std::max(scratchBytes, shadow.refresh.scratchBytes);
  for (const Step &step : plan.steps)
    if (auto *launch = std::get_if<LaunchStep>(&step))
      scratchBytes = std::max(scratchBytes, launch->scratchBytes);
  StatusOr<std::unique_ptr<DeviceQueue>> made = device->makeQueue(scratchBytes);
  HALFTONE_RETURN_IF_ERROR(made.status());
  queue = *std::move(made);
  return {};
}

StatusOr<Launch> Player::Impl::bindLaunch(const LaunchStep &step) {
  StatusOr<KernelHandle> code = kernels->find(step.kernel);
  if (!code.isOk())
    return Status(code.status().kind(), fmt::format("{}: {}", executable->name, code.status().message()));
  const size_t first = buffers.size();
  for (SlotId id : step.buffers)
    buffers.push_back(addresses[id]);
  const std::string *const site = step.site < 0 ? nullptr : &executable->sites[static_cast<size_t>(step.site)].text;
  return Launch{*code,        &step.kernel,      step.grid, std::span(buffers).subspan(first),
                step.extents, step.scratchBytes, step.cost, condition(step.predicate),
                site};
}

Status Player::Impl::bindLaunches() {
  size_t count = 0;
  std::vector<const LaunchStep *> planned;
  for (const Step &step : executable->plan.steps)
    if (auto *launch = std::get_if<LaunchStep>(&step))
      planned.push_back(launch);
  const size_t ofSteps = planned.size();
  for (const ShadowSlot &shadow : executable->shadows)
    planned.push_back(&shadow.refresh);
  for (const LaunchStep *step : planned)
    count += step->buffers.size();
  buffers.reserve(count); // the launches hold spans into it, so it must not grow later
  for (size_t i = 0; i < planned.size(); ++i) {
    StatusOr<Launch> launch = bindLaunch(*planned[i]);
    HALFTONE_RETURN_IF_ERROR(launch.status());
    if (i >= ofSteps) {
      shadows[i - ofSteps].refresh = *std::move(launch);
      continue;
    }
    launches.push_back(*std::move(launch));
  }
  steps = PlanOperations::of(executable->plan, launches, buffers, addresses);
  return {};
}

Status Player::Impl::checkFeeds(std::span<const Tensor> feeds) const {
  const std::vector<Parameter> &parameters = executable->signature.feeds;
  if (feeds.size() != parameters.size())
    return {ErrorKind::value_error,
            fmt::format("{}: expected {} feeds, got {}", executable->name, parameters.size(), feeds.size())};
  for (size_t i = 0; i < feeds.size(); ++i) {
    const Parameter &parameter = parameters[i];
    if (!feeds[i].defined())
      return {ErrorKind::value_error, fmt::format("{}: feed '{}': expected {}, got an undefined tensor",
                                                  executable->name, parameter.name, parameter.type.str())};
    if (!isOfType(feeds[i], parameter.type))
      return {ErrorKind::value_error, fmt::format("{}: feed '{}': expected {}, got {}", executable->name,
                                                  parameter.name, parameter.type.str(), typeOf(feeds[i]).str())};
  }
  return {};
}

/// Returns the address from which the device reads a feed. `copy` is the player's own memory for the feed.
StatusOr<const std::byte *> Player::Impl::placeFeed(const Tensor &feed, DeviceMemory &copy) const {
  const std::byte *data = TensorAccess::address(feed);
  const bool isOnDevice = TensorAccess::device(feed) == (device->isHost() ? nullptr : device);
  if (isOnDevice && reinterpret_cast<uintptr_t>(data) % bufferAlignment == 0)
    return data;
  const auto bytes = static_cast<size_t>(TensorAccess::bytes(feed));
  if (!copy) {
    StatusOr<DeviceMemory> memory = device->allocate(static_cast<int64_t>(bytes));
    HALFTONE_RETURN_IF_ERROR(memory.status());
    copy = *std::move(memory);
  }
  if (isOnDevice && !device->isHost()) {
    queue->begin();
    queue->copy(copy.get(), data, static_cast<int64_t>(bytes), {});
    HALFTONE_RETURN_IF_ERROR(queue->finish());
  } else if (TensorAccess::device(feed)) {
    std::vector<std::byte> host(bytes);
    HALFTONE_RETURN_IF_ERROR(TensorAccess::device(feed)->download(host, data));
    HALFTONE_RETURN_IF_ERROR(device->upload(copy.get(), host));
  } else {
    HALFTONE_RETURN_IF_ERROR(device->upload(copy.get(), {data, bytes}));
  }
  return copy.get();
}

Status Player::Impl::placeFeedsAndFetches(std::span<const Tensor> feeds, std::vector<Tensor> &fetches) {
  StatusOr<std::vector<Tensor>> made = fetchBuffers->tensors();
  HALFTONE_RETURN_IF_ERROR(made.status());
  fetches = *std::move(made);
  const std::vector<Slot> &slots = executable->plan.slots;
  for (SlotId slot : feedSlots) {
    const auto index = static_cast<size_t>(slots[slot].index);
    StatusOr<const std::byte *> data = placeFeed(feeds[index], feedCopies[index]);
    HALFTONE_RETURN_IF_ERROR(data.status());
    // verify() ensures that no step writes a feed
    addresses[slot] = const_cast<std::byte *>(*data) + slots[slot].start();
  }
  for (SlotId slot : fetchSlots)
    addresses[slot] = fetchBuffers->address(static_cast<size_t>(slots[slot].index)) + slots[slot].start();
  findChanged();
  return {};
}

/// Call it under the stores' locks.
Status Player::Impl::checkVariables() const {
  for (size_t i = 0; i < variables.size(); ++i)
    if (variables[i]->data() != variableData[i])
      return {ErrorKind::value_error,
              fmt::format("{}: the plan runs on {}, but variable {} has moved to {}", executable->name, device->name(),
                          variables[i]->path(), variables[i]->device().name())};
  return {};
}

void Player::Impl::findChanged() {
  changed.clear();
  for (const ChangingAddress &address : steps.changing)
    if (address.set(addresses[address.slot]) && (changed.empty() || changed.back() != address.operation))
      changed.push_back(address.operation);
  if (played)
    return;
  played = true;
  changed.resize(steps.operations.size());
  std::iota(changed.begin(), changed.end(), size_t(0));
}

void Player::Impl::refreshShadows() {
  for (BoundShadow &bound : shadows) {
    bound.refreshed = bound.shadow->version != bound.variable->version();
    if (bound.refreshed)
      queue->launch(bound.refresh);
  }
}

/// Call it after the steps. A shadow is current if the plan wrote it or did not write its variable; after a failure no
/// shadow is.
void Player::Impl::updateShadowVersions(bool failed) {
  for (size_t i = 0; i < shadows.size(); ++i) {
    const ShadowSlot &slot = executable->shadows[i];
    VariableShadow &shadow = *shadows[i].shadow;
    shadow.refreshes += shadows[i].refreshed;
    shadow.coWrites += slot.written;
    const bool current = !failed && (slot.written || !executable->variables[slot.variable].written);
    shadow.version = current ? std::optional(shadows[i].variable->version()) : std::nullopt;
  }
}

void Player::Impl::playOperations(size_t begin, size_t end) {
  const std::span<const QueuedOperation> all(steps.operations);
  if (steps.segments.size() == 1)
    return queue->play(all, changed);
  std::vector<size_t> ofThese;
  for (auto index = std::ranges::lower_bound(changed, begin); index != changed.end() && *index < end; ++index)
    ofThese.push_back(*index - begin);
  queue->play(all.subspan(begin, end - begin), ofThese);
}

Status Player::Impl::playSegments() {
  Status status;
  for (const OperationSegment &segment : steps.segments) {
    playOperations(segment.begin, segment.end);
    if (segment.then == OperationSegment::End::collective)
      status = collectives->start(addresses, *queue);
    else if (segment.then == OperationSegment::End::wait)
      status = collectives->wait();
    if (!status.isOk())
      break;
  }
  collectives->finish();
  return status;
}

/// Runs the bound plan, under the stores' locks.
Status Player::Impl::playLocked(const std::vector<Tensor> &fetches) {
  queue->begin();
  refreshShadows();
  Status status = playSegments();
  if (status.isOk())
    fetchBuffers->copyOut(*queue);
  if (const Status finished = queue->finish(); status.isOk())
    status = finished;
  for (size_t i = 0; i < variables.size(); ++i)
    if (executable->variables[i].written)
      variables[i]->bumpVersion();
  updateShadowVersions(!status.isOk());
  HALFTONE_RETURN_IF_ERROR(status);
  if (!device->isHost())
    for (const Tensor &fetch : fetches)
      TensorAccess::setSubmission(fetch, device->submission());
  return {};
}

StatusOr<std::vector<Tensor>> Player::play(std::span<const Tensor> feeds) {
  HALFTONE_RETURN_IF_ERROR(impl_->checkFeeds(feeds));
  const FloatMode mode;
  for (;;) {
    const std::vector<BeforePlay::Begin> begins = prepareAll(impl_->beforePlay);
    const ForkSafeLock turn(impl_->playing);
    std::vector<Tensor> fetches;
    HALFTONE_RETURN_IF_ERROR(impl_->placeFeedsAndFetches(feeds, fetches));
    const LocksHeld stores(impl_->locks);
    HALFTONE_RETURN_IF_ERROR(impl_->checkVariables());
    const StatusOr<bool> begun = beginAll(begins);
    HALFTONE_RETURN_IF_ERROR(begun.status());
    if (!*begun) // another play came first
      continue;
    HALFTONE_RETURN_IF_ERROR(impl_->playLocked(fetches));
    return fetches;
  }
}

} // namespace halftone
