// Compares fusion graphs of random programs with searches through all dependencies.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/fusion/FusionGraph.h"
#include "dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <random>
#include <set>

using namespace mlir;
using namespace halftone;
using namespace halftone::compiler;
using namespace halftone::dialect;

namespace {

/// A program with @main, and the ops of its body.
struct Program {
  explicit Program(const std::string &text) : context(MLIRContext::Threading::DISABLED) {
    DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    module = parseSourceString<ModuleOp>(text, &context);
    REQUIRE(module);
    block = &module->lookupSymbol<func::FuncOp>("main").getBody().front();
    for (Operation &op : block->without_terminator())
      ops.push_back(&op);
  }
  std::string text() {
    std::string text;
    llvm::raw_string_ostream(text) << *module;
    return text;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  Block *block = nullptr;
  std::vector<Operation *> ops;
};

/// A program of `count` sums, each of two earlier values.
std::string randomSums(std::mt19937 &random, size_t count) {
  std::string text =
      R"(func.func @main(%v0: tensor<4xf32> {halftone.name = "x"}) -> (tensor<4xf32> {halftone.name = "y"}) {)";
  for (size_t i = 1; i <= count; ++i) {
    const auto earlier = [&] { return i - 1 - std::min<size_t>(random() % i, random() % 8); };
    text += fmt::format("\n  %v{} = halftone.add %v{}, %v{} : tensor<4xf32>", i, earlier(), earlier());
  }
  return text + fmt::format("\n  return %v{} : tensor<4xf32>\n}}", count);
}

/// Returns the groups that a group of these ops transitively depends on, by an exhaustive search. Cloned ops are in no
/// group.
std::set<FusionGroupId> dependenciesOf(const FusionGraph &graph, const std::vector<Operation *> &ops) {
  std::set<FusionGroupId> found;
  std::vector<Operation *> open = ops;
  std::set<Operation *> seen;
  while (!open.empty()) {
    Operation *op = open.back();
    open.pop_back();
    for (Value operand : op->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (!producer || !seen.insert(producer).second)
        continue;
      if (const auto id = graph.groupOf(producer)) {
        found.insert(*id);
        llvm::append_range(open, graph.group(*id).ops);
      } else {
        open.push_back(producer);
      }
    }
  }
  return found;
}

std::vector<Operation *> opsOf(const FusionGraph &graph, const std::vector<FusionGroupId> &ids) {
  std::vector<Operation *> ops;
  for (FusionGroupId id : ids)
    llvm::append_range(ops, graph.group(id).ops);
  return ops;
}

/// Requires that each group comes after those that it depends on.
void requireInOrder(FusionGraph &graph) {
  for (FusionGroupId id = 0; id < graph.size(); ++id)
    for (Operation *op : graph.group(id).ops)
      for (Operation *producer : graph.producersOf(op))
        if (const FusionGroupId other = *graph.groupOf(producer); other != id)
          REQUIRE(graph.isBefore(other, id));
}

/// Returns true if a kernel of both groups would depend on itself through a third group.
bool isCycle(const FusionGraph &graph, FusionGroupId a, FusionGroupId b) {
  for (auto [from, to] : {std::pair(a, b), std::pair(b, a)})
    for (Operation *op : graph.group(from).ops)
      for (Value operand : op->getOperands()) {
        Operation *producer = operand.getDefiningOp();
        const auto between = producer ? graph.groupOf(producer) : std::nullopt;
        if (between && *between != a && *between != b && dependenciesOf(graph, opsOf(graph, {*between})).contains(to))
          return true;
      }
  return false;
}

} // namespace

TEST_CASE("a fusion graph merges groups exactly if no cycle arises, keeps its order and edits no op") {
  std::mt19937 random(11);
  for (int round = 0; round < 20; ++round) {
    Program program(randomSums(random, 40));
    const std::string before = program.text();
    ClonedProducers cloned(*program.block);
    FusionGraph graph(*program.block, cloned);
    for (Operation *op : program.ops)
      if (random() % 5 == 0)
        graph.addOpaque(op);
      else
        graph.merge({}, op, {});
    for (int merge = 0; merge < 60; ++merge) {
      const FusionGroupId a = random() % graph.size(), b = random() % graph.size();
      if (a == b || !graph.group(a).isKernel() || !graph.group(b).isKernel())
        continue;
      const auto between = graph.predecessorsBetween({a, b}, nullptr);
      REQUIRE(between.has_value() == !isCycle(graph, a, b));
      if (!between)
        continue;
      const std::set<FusionGroupId> needed = dependenciesOf(graph, opsOf(graph, {a, b}));
      for (FusionGroupId id : *between)
        REQUIRE(needed.contains(id));
      const std::vector<Operation *> ops = opsOf(graph, {a, b});
      graph.moveBefore(*between, graph.first({a, b}));
      REQUIRE(graph.merge({a, b}, nullptr, {}) == a);
      REQUIRE(graph.group(b).ops.empty());
      for (Operation *op : ops)
        REQUIRE(graph.groupOf(op) == a);
      requireInOrder(graph);
    }
    REQUIRE(program.text() == before);
  }
}

TEST_CASE("a fusion graph sees dependencies through cloned producers") {
  Program program(R"(func.func @main(%x: tensor<4xf32> {halftone.name = "x"}) -> (tensor<4xf32> {halftone.name = "y"}) {
  %0 = halftone.neg %x : tensor<4xf32>
  %1 = halftone.exp %0 : tensor<4xf32>
  %2 = halftone.add %1, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
})");
  ClonedProducers cloned(*program.block);
  FusionGraph graph(*program.block, cloned);
  const FusionGroupId first = graph.merge({}, program.ops[0], {});
  cloned.markChain(program.ops[1]);
  graph.merge({}, program.ops[2], {});
  CHECK(!graph.groupOf(program.ops[1]));
  CHECK(graph.producersOf(program.ops[2]) == ArrayRef(program.ops[0]));
  CHECK(graph.producerKernels(program.ops[2]) == SmallVector<FusionGroupId>{first});
  CHECK(graph.consumersOf(program.ops[0]->getResult(0)) == SmallVector<Operation *>{program.ops[1], program.ops[2]});
  CHECK(cloned.bodyOf(program.ops[2]).ops == SmallVector<Operation *>{program.ops[1], program.ops[2]});
}

TEST_CASE("a fusion graph follows reports of edited and replaced ops") {
  Program program(R"(func.func @main(%x: tensor<4xf32> {halftone.name = "x"}) -> (tensor<4xf32> {halftone.name = "y"}) {
  %0 = halftone.neg %x : tensor<4xf32>
  %1 = halftone.exp %x : tensor<4xf32>
  %2 = halftone.add %0, %0 : tensor<4xf32>
  return %2 : tensor<4xf32>
})");
  ClonedProducers cloned(*program.block);
  FusionGraph graph(*program.block, cloned);
  for (Operation *op : program.ops)
    graph.merge({}, op, {});
  CHECK(graph.producersOf(program.ops[2]) == ArrayRef(program.ops[0]));
  program.ops[2]->setOperand(1, program.ops[1]->getResult(0));
  graph.operandsChanged(program.ops[2]);
  CHECK(graph.producersOf(program.ops[2]) == ArrayRef(program.ops).take_front(2));
  OpBuilder builder(program.ops[2]);
  Operation *copy = builder.clone(*program.ops[2]);
  graph.replace(program.ops[2], copy);
  CHECK(!graph.groupOf(program.ops[2]));
  CHECK(graph.groupOf(copy) == FusionGroupId(2));
  CHECK(graph.group(2).last > graph.group(1).last);
}
