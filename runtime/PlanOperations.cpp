// Converts the steps of a plan to queue operations in one pass.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/PlanOperations.h"
#include <optional>
#include <utility>

namespace halftone {
namespace {

class OperationBinder {
public:
  OperationBinder(const Plan &plan, std::span<Launch> launches, std::span<void *> buffers,
                  std::span<std::byte *const> addresses)
      : plan(plan), launch(launches.begin()), buffer(buffers.begin()), addresses(addresses) {
    made.operations.reserve(
        plan.steps.size()); // no reallocation: addresses point into the operations, and operations into `moving`
    made.moving.reserve(plan.steps.size());
  }

  PlanOperations bind() {
    const std::vector<Step> &steps = plan.steps;
    for (size_t i = 0; i < steps.size(); ++i) {
      endRepeats(i);
      if (auto *planned = std::get_if<LaunchStep>(&steps[i]))
        add(*planned);
      else if (auto *copy = std::get_if<CopyStep>(&steps[i]))
        add(*copy);
      else if (auto *repeat = std::get_if<RepeatStep>(&steps[i]))
        add(*repeat, i);
      else
        endSegment(std::holds_alternative<WaitStep>(steps[i]) ? OperationSegment::End::wait
                                                              : OperationSegment::End::collective);
    }
    endRepeats(steps.size());
    endSegment(OperationSegment::End::plan);
    return std::move(made);
  }

private:
  struct OpenRepeat {
    size_t operation, end; // its operation; the step after its body
    std::vector<MovingAddress> *moving;
  };

  void endSegment(OperationSegment::End then) {
    made.segments.push_back({made.segments.empty() ? 0 : made.segments.back().end, made.operations.size(), then});
  }
  void endRepeats(size_t step) {
    for (; !open.empty() && open.back().end <= step; open.pop_back()) {
      auto &repeat = std::get<QueuedRepeat>(made.operations[open.back().operation]);
      repeat.operations = made.operations.size() - open.back().operation - 1;
      repeat.moving = *open.back().moving;
    }
  }
  void note(SlotId id, AddressField field) {
    const SlotKind kind = plan.slots[id].kind;
    if (kind == SlotKind::feed || kind == SlotKind::fetch)
      made.changing.push_back({made.operations.size() - 1, id, field});
    const std::vector<Stride> &strides = plan.slots[id].strides;
    for (size_t level = 0; level < strides.size(); ++level)
      if (strides[level].bytes != 0)
        open[level].moving->push_back({field, strides[level]});
  }

  Condition condition(const std::optional<Predicate> &predicate) const {
    return predicate ? Condition{addresses[predicate->slot], predicate->negated} : Condition{};
  }

  void add(const LaunchStep &planned) {
    if (!planned.joined)
      made.operations.emplace_back(LaunchParts(&*launch, 1));
    else if (auto &parts = std::get<LaunchParts>(made.operations.back()); true)
      parts = {parts.data(), parts.size() + 1};
    if (planned.predicate)
      note(planned.predicate->slot, &launch->condition.byte);
    for (SlotId slot : planned.buffers)
      note(slot, &*buffer++);
    ++launch;
  }
  void add(const CopyStep &planned) {
    const std::byte *from = planned.from < 0 ? nullptr : addresses[planned.from];
    auto &copy = std::get<QueuedCopy>(made.operations.emplace_back(
        QueuedCopy{addresses[planned.to], from, plan.slots[planned.to].type.bytes(), condition(planned.predicate)}));
    note(planned.to, &copy.to);
    if (planned.from >= 0)
      note(planned.from, &copy.from);
    if (planned.predicate)
      note(planned.predicate->slot, &copy.condition.byte);
  }
  void add(const RepeatStep &planned, size_t step) {
    auto &repeat = std::get<QueuedRepeat>(
        made.operations.emplace_back(QueuedRepeat{planned.count, 0, condition(planned.running), {}}));
    if (planned.running)
      note(planned.running->slot, &repeat.condition.byte);
    open.push_back({made.operations.size() - 1, plan.bodyEnd(step), &made.moving.emplace_back()});
  }

  const Plan &plan;
  std::span<Launch>::iterator launch;
  std::span<void *>::iterator buffer;
  const std::span<std::byte *const> addresses;
  PlanOperations made;
  std::vector<OpenRepeat> open; // enclosing the step, outermost first
};

} // namespace

PlanOperations PlanOperations::of(const Plan &plan, std::span<Launch> launches, std::span<void *> buffers,
                                  std::span<std::byte *const> addresses) {
  return OperationBinder(plan, launches, buffers, addresses).bind();
}

} // namespace halftone
