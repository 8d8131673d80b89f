// cu* functions of explicit graphs: kernels, copies and fills with their dependencies.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/driver/Driver.h"
#include <algorithm>
#include <variant>

using namespace halftone::emulator;

namespace {

struct KernelWork {
  Launch launch;
  std::shared_ptr<LoadedModule> module;
};

struct Work {
  std::variant<KernelWork, Copy3D, MemsetNodeParams> what;
  std::vector<size_t> after; ///< indices of the nodes on which it depends
};

struct Graph;
/// A node's handle.
struct Node {
  const Graph *graph;
  size_t place;
};

struct Graph {
  std::vector<Work> works;
  std::vector<std::unique_ptr<Node>> nodes;
};

struct GraphExecution {
  const Graph *graph;
  std::shared_ptr<const std::vector<Work>> works; ///< launches in flight keep the works with which they started
};

KernelWork kernelWork(Context &context, const KernelNodeParams *given) {
  expect(given && !given->extra);
  const Function &function = context.functionOf(given->func);
  LaunchShape shape{{given->gridDimX, given->gridDimY, given->gridDimZ},
                    {given->blockDimX, given->blockDimY, given->blockDimZ},
                    given->sharedMemBytes};
  return {makeLaunch(context, function, shape, given->kernelParams), function.module};
}

const Copy3D &checkedCopy(const Copy3D *copy) {
  expect(copy && copy->Height == 1 && copy->Depth == 1 && copy->WidthInBytes > 0);
  expect(!copy->srcY && !copy->srcZ && !copy->dstY && !copy->dstZ);
  bool known = (copy->srcMemoryType == MemoryType::Device && copy->dstMemoryType <= MemoryType::Device) ||
               (copy->srcMemoryType == MemoryType::Host && copy->dstMemoryType == MemoryType::Device);
  expect(known);
  return *copy;
}

const MemsetNodeParams &checkedMemset(const MemsetNodeParams *fill) {
  expect(fill && fill->height == 1 && fill->width > 0);
  expect(fill->elementSize == 1 || fill->elementSize == 2 || fill->elementSize == 4);
  return *fill;
}

void runWork(Context &context, const Work &work) {
  if (const auto *kernel = std::get_if<KernelWork>(&work.what))
    return runIn(context, kernel->launch);
  if (const auto *fill = std::get_if<MemsetNodeParams>(&work.what))
    return context.memory.fill(fill->dst, fill->value, fill->elementSize, fill->width);
  const auto &copy = std::get<Copy3D>(work.what);
  uint64_t from = copy.srcDevice + copy.srcXInBytes, to = copy.dstDevice + copy.dstXInBytes;
  if (copy.srcMemoryType == MemoryType::Host)
    context.memory.write(to, static_cast<const char *>(copy.srcHost) + copy.srcXInBytes, copy.WidthInBytes);
  else if (copy.dstMemoryType == MemoryType::Host)
    context.memory.read(static_cast<char *>(copy.dstHost) + copy.dstXInBytes, from, copy.WidthInBytes);
  else
    context.memory.copy(to, from, copy.WidthInBytes);
}

/// Runs the nodes in an order that `Random` draws among those that the dependencies permit.
void runGraph(Context &context, const std::vector<Work> &works) {
  std::vector<size_t> open(works.size());
  std::vector<std::vector<size_t>> before(works.size());
  std::vector<size_t> ready;
  for (size_t i = 0; i < works.size(); ++i) {
    open[i] = works[i].after.size();
    for (size_t other : works[i].after)
      before[other].push_back(i);
    if (!open[i])
      ready.push_back(i);
  }
  while (!ready.empty()) {
    size_t choice = context.random.below(ready.size());
    size_t place = ready[choice];
    ready.erase(ready.begin() + choice);
    runWork(context, works[place]);
    for (size_t next : before[place])
      if (!--open[next])
        ready.push_back(next);
  }
}

/// Adds the node that make(context) describes.
template <typename F>
int addNode(void **node, void *graph, void *const *dependencies, size_t count, F make,
            const char *function = __builtin_FUNCTION()) {
  return withContext(
      [&](Context &context) {
        Graph &found = objectOf<Graph>(context.graphs, graph);
        Work work{make(context), {}};
        for (size_t i = 0; i < count; ++i) {
          const auto *other = static_cast<const Node *>(dependencies[i]);
          expect(std::ranges::any_of(found.nodes, [&](const auto &n) { return n.get() == other; }));
          work.after.push_back(other->place);
        }
        found.nodes.push_back(std::make_unique<Node>(Node{&found, found.works.size()}));
        found.works.push_back(std::move(work));
        *node = found.nodes.back().get();
      },
      function);
}

/// Replaces the work of one node in an instantiated graph. The node's kind must not change.
template <typename F> int setNode(void *execution, void *node, F make, const char *function = __builtin_FUNCTION()) {
  return withContext(
      [&](Context &context) {
        auto &found = objectOf<GraphExecution>(context.executions, execution);
        const Graph &graph = objectOf<Graph>(context.graphs, found.graph);
        auto place = std::ranges::find(graph.nodes, static_cast<Node *>(node), [](const auto &n) { return n.get(); });
        expect(place != graph.nodes.end());
        size_t index = place - graph.nodes.begin();
        std::vector<Work> works = *found.works;
        expect(index < works.size());
        decltype(Work::what) made = make(context);
        expect(made.index() == works[index].what.index());
        works[index].what = std::move(made);
        found.works = std::make_shared<const std::vector<Work>>(std::move(works));
      },
      function);
}

} // namespace

HALFTONE_EMULATED int cuGraphCreate(void **graph, unsigned flags) {
  return withContext([&](Context &context) {
    expect(flags == 0);
    *graph = addObject(context.graphs, Graph());
  });
}

HALFTONE_EMULATED int cuGraphDestroy(void *graph) {
  return withContext([&](Context &context) { expect(context.graphs.erase(graph) == 1, Result::InvalidHandle); });
}

HALFTONE_EMULATED int cuGraphAddKernelNode(void **node, void *graph, void *const *dependencies, size_t count,
                                           const KernelNodeParams *given) {
  return addNode(node, graph, dependencies, count, [&](Context &context) { return kernelWork(context, given); });
}

HALFTONE_EMULATED int cuGraphAddKernelNode_v2(void **node, void *graph, void *const *dependencies, size_t count,
                                              const KernelNodeParams *given) {
  return addNode(node, graph, dependencies, count, [&](Context &context) { return kernelWork(context, given); });
}

HALFTONE_EMULATED int cuGraphAddMemcpyNode(void **node, void *graph, void *const *dependencies, size_t count,
                                           const Copy3D *copy, void *) {
  return addNode(node, graph, dependencies, count, [&](Context &) { return checkedCopy(copy); });
}

HALFTONE_EMULATED int cuGraphAddMemsetNode(void **node, void *graph, void *const *dependencies, size_t count,
                                           const MemsetNodeParams *fill, void *) {
  return addNode(node, graph, dependencies, count, [&](Context &) { return checkedMemset(fill); });
}

HALFTONE_EMULATED int cuGraphInstantiateWithFlags(void **execution, void *graph, unsigned long long flags) {
  return withContext([&](Context &context) {
    expect(flags == 0);
    const Graph &found = objectOf<Graph>(context.graphs, graph);
    *execution =
        addObject(context.executions, GraphExecution{&found, std::make_shared<const std::vector<Work>>(found.works)});
  });
}

HALFTONE_EMULATED int cuGraphExecDestroy(void *execution) {
  return withContext(
      [&](Context &context) { expect(context.executions.erase(execution) == 1, Result::InvalidHandle); });
}

HALFTONE_EMULATED int cuGraphLaunch(void *execution, void *stream) {
  return withContext([&](Context &context) {
    Stream *queue = context.streamOf(stream);
    context.streams.add(queue, [&context, works = objectOf<GraphExecution>(context.executions, execution).works] {
      runGraph(context, *works);
    });
  });
}

HALFTONE_EMULATED int cuGraphExecKernelNodeSetParams(void *execution, void *node, const KernelNodeParams *given) {
  return setNode(execution, node, [&](Context &context) { return kernelWork(context, given); });
}

HALFTONE_EMULATED int cuGraphExecKernelNodeSetParams_v2(void *execution, void *node, const KernelNodeParams *given) {
  return setNode(execution, node, [&](Context &context) { return kernelWork(context, given); });
}

HALFTONE_EMULATED int cuGraphExecMemcpyNodeSetParams(void *execution, void *node, const Copy3D *copy, void *) {
  return setNode(execution, node, [&](Context &) { return checkedCopy(copy); });
}

HALFTONE_EMULATED int cuGraphExecMemsetNodeSetParams(void *execution, void *node, const MemsetNodeParams *fill,
                                                     void *) {
  return setNode(execution, node, [&](Context &) { return checkedMemset(fill); });
}
