// Binds a plan once, then plays it.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/Player.h"
#include "runtime/TensorAccess.h"
#include "runtime/TensorTypes.h"
#include "runtime/base/ForkGate.h"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <functional>
#include <mutex>
#include <set>

namespace halftone {

namespace {

/// Holds all of them, taken in their order.
class LocksHeld {
public:
  explicit LocksHeld(std::span<std::mutex *const> locks) : locks_(locks) {
    for (std::mutex *lock : locks_)
      lock->lock();
  }
  ~LocksHeld() {
    for (std::mutex *lock : locks_)
      lock->unlock();
  }
  LocksHeld(const LocksHeld &) = delete;

private:
  std::span<std::mutex *const> locks_;
};

/// A shadow of the executable, in its order.
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
  std::vector<std::function<void()>> beforePlay;
  std::vector<VariableHandle> variables; // as in the executable
  std::vector<BoundShadow> shadows;
  std::vector<std::mutex *> locks; // of the variables' stores, each once, in order of address
  std::unique_ptr<DeviceQueue> queue;
  DeviceMemory arena;
  std::vector<DeviceMemory> constants;
  std::vector<DeviceMemory> alignedFeeds; // made when a feed first comes unaligned

  std::vector<const std::byte *> feedData; // where this play's feeds are, aligned
  std::vector<SlotId> feedSlots, fetchSlots;
  std::vector<std::byte *> addresses;              // by slot; those of feeds and fetches change with every play
  std::vector<void *> buffers;                     // of all launches, one after another
  std::vector<std::pair<size_t, SlotId>> changing; // entries of `buffers` that are feeds or fetches
  std::vector<Launch> launches;                    // in the order of the launch steps; conditions are set in play
  std::vector<int64_t> partCounts;                 // by launch: how many parts begin with it, 0 for a joined one
  std::mutex playing;

  Status bindVariables(const VariableBinding &binding);
  Status allocate();
  Status bindShadows();
  Status bindLaunches();
  StatusOr<Launch> bindLaunch(const LaunchStep &step);
  Status checkFeeds(std::span<const Tensor> feeds) const;
  Status placeFeedsAndFetches(std::span<const Tensor> feeds, std::vector<Tensor> &fetches);
  Condition condition(const std::optional<Predicate> &predicate) const {
    return predicate ? Condition{addresses[predicate->slot], predicate->negated} : Condition{};
  }
  void refreshShadows();
  Status runSteps();
  void settleShadows(bool failed);
};

Player::Player(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Player::~Player() = default;

const Executable &Player::executable() const { return *impl_->executable; }

StatusOr<std::shared_ptr<Player>> Player::bind(std::shared_ptr<const Executable> executable,
                                               std::shared_ptr<const KernelLibrary> kernels,
                                               std::shared_ptr<DeviceRuntime> device, const VariableBinding &variables,
                                               std::vector<std::function<void()>> beforePlay) {
  HALFTONE_RETURN_IF_ERROR(verify(*executable));
  auto impl = std::make_unique<Impl>();
  impl->executable = std::move(executable);
  impl->kernels = std::move(kernels);
  impl->device = std::move(device);
  impl->beforePlay = std::move(beforePlay);
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
              fmt::format("{}: variable @{} ({}): the plan expects {}, it is {}", executable->name, slot.symbol,
                          slot.path, slot.type.str(), variable->type().str())};
    if (!bound.insert(variable.get()).second)
      return {ErrorKind::value_error,
              fmt::format("{}: variable {} is bound to two symbols", executable->name, variable->path())};
    variables.push_back(variable);
    locks.push_back(&variable->lock());
  }
  std::ranges::sort(locks, std::less<>());
  locks.erase(std::ranges::unique(locks).begin(), locks.end());
  return {};
}

Status Player::Impl::bindShadows() {
  for (const ShadowSlot &slot : executable->shadows) {
    StoredVariable &variable = *variables[slot.variable];
    const ForkSafeLock guard(variable.lock());
    StatusOr<std::shared_ptr<VariableShadow>> shadow = variable.shadow(slot.function, slot.type.bytes(), *device);
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
    std::ranges::copy(std::as_bytes(std::span(bytes)), constant->get());
    constants.push_back(*std::move(constant));
  }
  alignedFeeds.resize(executable->signature.feeds.size());
  feedData.resize(executable->signature.feeds.size());
  addresses.resize(plan.slots.size());
  for (size_t i = 0; i < plan.slots.size(); ++i) {
    const Slot &slot = plan.slots[i];
    if (slot.kind == SlotKind::arena)
      addresses[i] = arena.get() + slot.index;
    else if (slot.kind == SlotKind::variable)
      addresses[i] = variables[slot.index]->data();
    else if (slot.kind == SlotKind::shadow)
      addresses[i] = shadows[slot.index].shadow->memory.get();
    else if (slot.kind == SlotKind::constant)
      addresses[i] = constants[slot.index].get();
    else
      (slot.kind == SlotKind::feed ? feedSlots : fetchSlots).push_back(static_cast<SlotId>(i));
  }
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
  StatusOr<CpuKernelFunction> function = kernels->find(step.kernel);
  if (!function.isOk())
    return Status(function.status().kind(), fmt::format("{}: {}", executable->name, function.status().message()));
  const size_t first = buffers.size();
  for (SlotId id : step.buffers) {
    const SlotKind kind = executable->plan.slots[id].kind;
    if (kind == SlotKind::feed || kind == SlotKind::fetch)
      changing.emplace_back(buffers.size(), id);
    buffers.push_back(addresses[id]);
  }
  return Launch{*function,    &step.kernel,      step.grid, std::span(buffers).subspan(first),
                step.extents, step.scratchBytes, step.cost, {}};
}

Status Player::Impl::bindLaunches() {
  size_t count = 0;
  std::vector<const LaunchStep *> steps;
  for (const Step &step : executable->plan.steps)
    if (auto *launch = std::get_if<LaunchStep>(&step))
      steps.push_back(launch);
  const size_t planned = steps.size();
  size_t leader = 0; // the part that the present launch begins with
  for (const ShadowSlot &shadow : executable->shadows)
    steps.push_back(&shadow.refresh);
  for (const LaunchStep *step : steps)
    count += step->buffers.size();
  buffers.reserve(count); // the spans of the launches point into it
  for (size_t i = 0; i < steps.size(); ++i) {
    StatusOr<Launch> launch = bindLaunch(*steps[i]);
    HALFTONE_RETURN_IF_ERROR(launch.status());
    if (i >= planned) {
      shadows[i - planned].refresh = *std::move(launch);
      continue;
    }
    launches.push_back(*std::move(launch));
    leader = steps[i]->joined ? leader : i;
    partCounts.push_back(0);
    ++partCounts[leader];
  }
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

Status Player::Impl::placeFeedsAndFetches(std::span<const Tensor> feeds, std::vector<Tensor> &fetches) {
  fetches.reserve(executable->signature.fetches.size());
  for (const Parameter &parameter : executable->signature.fetches) {
    StatusOr<Tensor> tensor = makeTensor(parameter.type);
    if (!tensor.isOk())
      return {tensor.status().kind(),
              fmt::format("{}: fetch '{}': {}", executable->name, parameter.name, tensor.status().message())};
    fetches.push_back(*std::move(tensor));
  }
  for (size_t i = 0; i < feeds.size(); ++i) {
    const std::byte *data = TensorAccess::data(feeds[i]);
    if (reinterpret_cast<uintptr_t>(data) % bufferAlignment != 0) {
      const int64_t bytes = TensorAccess::bytes(feeds[i]);
      if (!alignedFeeds[i]) {
        StatusOr<DeviceMemory> memory = device->allocate(bytes);
        HALFTONE_RETURN_IF_ERROR(memory.status());
        alignedFeeds[i] = *std::move(memory);
      }
      std::copy_n(data, bytes, alignedFeeds[i].get());
      data = alignedFeeds[i].get();
    }
    feedData[i] = data;
  }
  const std::vector<Slot> &slots = executable->plan.slots;
  for (SlotId slot : feedSlots)
    addresses[slot] = const_cast<std::byte *>(feedData[slots[slot].index]); // the plan is verified not to write feeds
  for (SlotId slot : fetchSlots)
    addresses[slot] = TensorAccess::mutableData(fetches[slots[slot].index]);
  for (auto [buffer, slot] : changing)
    buffers[buffer] = addresses[slot];
  return {};
}

void Player::Impl::refreshShadows() {
  for (BoundShadow &bound : shadows) {
    bound.refreshed = bound.shadow->version != bound.variable->version();
    if (bound.refreshed)
      queue->launch(bound.refresh);
  }
}

/// After the steps: what was made is known to be of the variables as they now are; nothing is known after a failure.
void Player::Impl::settleShadows(bool failed) {
  for (size_t i = 0; i < shadows.size(); ++i) {
    const ShadowSlot &slot = executable->shadows[i];
    VariableShadow &shadow = *shadows[i].shadow;
    shadow.refreshes += shadows[i].refreshed;
    shadow.coWrites += slot.written;
    const bool current = !failed && (slot.written || !executable->variables[slot.variable].written);
    shadow.version = current ? std::optional(shadows[i].variable->version()) : std::nullopt;
  }
}

Status Player::Impl::runSteps() {
  auto launch = launches.begin();
  for (const Step &step : executable->plan.steps) {
    if (auto *planned = std::get_if<LaunchStep>(&step)) {
      if (planned->joined) // went with the first part
        continue;
      launch->condition = condition(planned->predicate);
      const auto parts = std::span(launch, launch + partCounts[launch - launches.begin()]);
      queue->launch(parts);
      launch += static_cast<int64_t>(parts.size());
      continue;
    }
    const CopyStep &copy = std::get<CopyStep>(step);
    const int64_t bytes = executable->plan.slots[copy.to].type.bytes();
    if (copy.from < 0)
      queue->fillZero(addresses[copy.to], bytes, condition(copy.predicate));
    else
      queue->copy(addresses[copy.to], addresses[copy.from], bytes, condition(copy.predicate));
  }
  return queue->finish();
}

StatusOr<std::vector<Tensor>> Player::play(std::span<const Tensor> feeds) {
  HALFTONE_RETURN_IF_ERROR(impl_->checkFeeds(feeds));
  for (const std::function<void()> &call : impl_->beforePlay)
    call();
  const ForkSafeLock turn(impl_->playing);
  std::vector<Tensor> fetches;
  HALFTONE_RETURN_IF_ERROR(impl_->placeFeedsAndFetches(feeds, fetches));
  const LocksHeld stores(impl_->locks);
  impl_->queue->begin();
  impl_->refreshShadows();
  Status status = impl_->runSteps();
  for (size_t i = 0; i < impl_->variables.size(); ++i)
    if (impl_->executable->variables[i].written)
      impl_->variables[i]->bumpVersion();
  impl_->settleShadows(!status.isOk());
  HALFTONE_RETURN_IF_ERROR(status);
  return fetches;
}

} // namespace halftone
