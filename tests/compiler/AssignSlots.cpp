// Compares plans with the semantics of the modules from which they were made.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/AssignSlots.h"
#include "RandomModule.h"
#include "compiler/Compiler.h"
#include "compiler/passes/PlanValues.h"
#include "dialect/Interpreter.h"
#include "mlir/Parser/Parser.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <functional>
#include <random>

using namespace mlir;
using namespace halftone;
using namespace halftone::dialect;

namespace {

std::optional<Predicate> predicateOf(const Step &step) {
  if (auto *launch = std::get_if<LaunchStep>(&step))
    return launch->predicate;
  auto *copy = std::get_if<CopyStep>(&step);
  return copy ? copy->predicate : std::nullopt;
}

struct Context : MLIRContext {
  Context() : MLIRContext(MLIRContext::Threading::DISABLED) {
    DialectRegistry registry;
    registerDialects(registry);
    appendDialectRegistry(registry);
    loadAllAvailableDialects();
  }
};

compiler::KernelArguments argumentsOf(ModuleOp module) {
  compiler::KernelArguments arguments;
  for (auto kernel : module.getOps<KernelOp>())
    arguments[kernel.getSymName()].key = kernel.getSymName().str();
  return arguments;
}

StatusOr<Executable> planOf(ModuleOp module) {
  REQUIRE(compiler::addRefreshKernels(module).isOk());
  const compiler::KernelArguments arguments = argumentsOf(module);
  auto exe = compiler::assignSlots(module, arguments);
  if (exe)
    REQUIRE(compiler::checkPlanValues(module, arguments, *exe).str() == "ok");
  if (exe)
    for (auto kernel : module.getOps<KernelOp>())
      exe->kernels[kernel.getSymName().str()] = {};
  return exe;
}

/// Plays a plan with the interpreter as its device.
class Play {
public:
  Play(ModuleOp module, const Executable &exe, const std::vector<TensorData> &feeds, VariableValues &variables)
      : module(module), exe(exe), arena(exe.plan.arenaBytes, '\xAB') {
    for (const TensorData &feed : feeds)
      feedBytes.push_back(feed.toBytes());
    for (const VariableSlot &variable : exe.variables)
      variableBytes.push_back(variables.at(variable.symbol).toBytes());
    for (const Parameter &fetch : exe.signature.fetches)
      fetchBytes.push_back(std::string(fetch.type.bytes(), '\xCD'));
    constantBytes = exe.constants;
    for (const ShadowSlot &shadow : exe.shadows)
      shadowBytes.push_back(std::string(shadow.type.bytes(), '\xEF'));
  }

  void run() {
    for (const ShadowSlot &shadow : exe.shadows)
      launch(shadow.refresh);
    runSteps(0, exe.plan.steps.size());
    // A shadow that the plan writes must have the bytes that recomputing it would give.
    for (size_t i = 0; i < exe.shadows.size(); ++i) {
      std::string written = shadowBytes[i];
      launch(exe.shadows[i].refresh);
      if (exe.shadows[i].written)
        REQUIRE(written == shadowBytes[i]);
    }
  }
  void runSteps(size_t begin, size_t end) {
    std::vector<size_t> order; // the parts of one launch, in reverse order: they must be independent
    size_t firstPart = 0;
    for (size_t i = begin; i < end; ++i) {
      auto *launch = std::get_if<LaunchStep>(&exe.plan.steps[i]);
      if (!launch || !launch->joined)
        firstPart = order.size();
      order.insert(order.begin() + static_cast<int64_t>(firstPart), i);
      if (std::holds_alternative<RepeatStep>(exe.plan.steps[i]))
        i = exe.plan.bodyEnd(i) - 1;
    }
    for (size_t i : order)
      runStep(exe.plan.steps[i], i);
  }
  void runStep(const Step &step, size_t index) {
    const std::optional<Predicate> predicate = predicateOf(step);
    if (predicate && !holds(*predicate))
      return;
    if (auto *collective = std::get_if<CollectiveStep>(&step)) { // in a single process
      for (size_t i = 0; i < collective->from.size(); ++i)
        copy(*collective, i);
    } else if (auto *copy = std::get_if<CopyStep>(&step)) {
      int64_t bytes = exe.plan.slots[copy->to].type.bytes();
      if (copy->from < 0)
        std::memset(at(copy->to), 0, bytes);
      else
        std::memmove(at(copy->to), at(copy->from), bytes);
    } else if (auto *repeat = std::get_if<RepeatStep>(&step)) {
      // As on a GPU, whose host checks the predicate late: additional iterations change nothing.
      constexpr int64_t mostVoid = 2;
      iterations.push_back(0);
      int64_t left = mostVoid;
      for (int64_t iteration = 0; iteration < repeat->count; ++iteration) {
        iterations.back() = iteration;
        if (repeat->running && !holds(*repeat->running) && left-- == 0)
          break;
        runSteps(index + 1, exe.plan.bodyEnd(index));
      }
      iterations.pop_back();
    } else if (auto *planned = std::get_if<LaunchStep>(&step)) {
      launch(*planned);
    }
  }
  bool holds(const Predicate &predicate) { return (*at(predicate.slot) != 0) != predicate.negated; }
  /// The value of a pair, or the elements of it that this process owns.
  void copy(const CollectiveStep &step, size_t pair) {
    const auto bytes = [&](SlotId id) { return exe.plan.slots[id].type.bytes(); };
    const SlotId from = step.from[pair], to = step.to[pair];
    int64_t begin = 0;
    if (isDivided(step.kind))
      begin = step.offsets[pair][static_cast<size_t>(step.rank)] * itemsize(exe.plan.slots[from].type.dtype);
    if (step.kind == halftone::CollectiveKind::gather)
      std::memset(at(to), 0, bytes(to));
    const bool gathers = step.kind == halftone::CollectiveKind::gather;
    std::memmove(at(to) + (gathers ? begin : 0), at(from) + (gathers ? 0 : begin), std::min(bytes(from), bytes(to)));
  }
  void launch(const LaunchStep &step) {
    auto kernel = module.lookupSymbol<KernelOp>(step.kernel);
    REQUIRE(kernel);
    auto type = cast<FunctionType>(kernel.getFunctionType());
    REQUIRE(step.operandCount == static_cast<int64_t>(type.getNumInputs()));
    std::vector<TensorData> operands;
    for (unsigned i = 0; i < type.getNumInputs(); ++i)
      operands.push_back(TensorData::fromBytes(cast<RankedTensorType>(type.getInput(i)), at(step.buffers[i])));
    auto results = interpretKernel(kernel, operands);
    REQUIRE(results.status().str() == "ok");
    for (unsigned i = 0; i < type.getNumResults(); ++i) {
      std::string bytes = (*results)[i].toBytes();
      std::memcpy(at(step.buffers[type.getNumInputs() + i]), bytes.data(), bytes.size());
    }
  }
  char *at(SlotId id) {
    const Slot &slot = exe.plan.slots[id];
    int64_t offset = slot.offset;
    for (size_t level = 0; level < slot.strides.size(); ++level)
      offset += slot.strides[level].at(iterations[level]);
    return begin(slot) + offset;
  }
  char *begin(const Slot &slot) {
    switch (slot.kind) {
    case SlotKind::arena:
      return arena.data() + slot.index;
    case SlotKind::variable:
      return variableBytes[slot.index].data();
    case SlotKind::shadow:
      return shadowBytes[slot.index].data();
    case SlotKind::feed:
      return feedBytes[slot.index].data();
    case SlotKind::fetch:
      return fetchBytes[slot.index].data();
    case SlotKind::constant:
      return constantBytes[slot.index].data();
    }
    return nullptr;
  }

  ModuleOp module;
  const Executable &exe;
  std::vector<char> arena;
  std::vector<int64_t> iterations; // the iteration of each repeat around the step
  std::vector<std::string> feedBytes, variableBytes, shadowBytes, fetchBytes, constantBytes;
};

TensorData randomData(RankedTensorType type, std::mt19937 &random) {
  TensorData data;
  data.type = type;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    if (isa<FloatType>(type.getElementType())) {
      double value = static_cast<float>(static_cast<double>(random() % 4001) / 1000.0 - 2.0);
      data.low.push_back(value);
      data.high.push_back(value);
    } else {
      data.integers.push_back(random() % 2);
    }
  return data;
}

/// Compiles `text` (stage pure) to a plan and plays it twice; the second play starts from the variables of the first.
void compare(const std::string &text, int64_t height, int64_t width, bool strict, uint32_t seed) {
  Context context;
  auto pure = parseSourceString<ModuleOp>(text, &context);
  REQUIRE(pure);
  OwningOpRef<ModuleOp> kernels(cast<ModuleOp>(pure->clone()));
  compiler::CompileOptions options;
  options.numerics = compiler::Numerics::strictIf(strict);
  options.verifyStages = true;
  Status status = compiler::runStages(*kernels, compiler::Stage::pure, compiler::Stage::kernel, options);
  REQUIRE(status.str() == "ok");
  auto exe = planOf(*kernels);
  REQUIRE(exe.status().str() == "ok");
  INFO(print(*exe));
  REQUIRE(verify(*exe).str() == "ok");
  REQUIRE(exe->plan.arenaBytes >= exe->plan.largestLiveBytes);

  std::mt19937 random(seed);
  auto tensor = [&](ArrayRef<int64_t> shape, Type element) {
    return randomData(RankedTensorType::get(shape, element), random);
  };
  Builder builder(&context);
  VariableValues variables;
  for (const char *name : {"v0", "v1", "v2"})
    variables[name] = tensor({height, width}, builder.getF32Type());
  variables["u"] = tensor({}, builder.getF32Type());
  for (int play = 0; play < 2; ++play) {
    std::vector<TensorData> feeds = {tensor({height, width}, builder.getF32Type()),
                                     tensor({height, width}, builder.getF32Type()), tensor({}, builder.getF32Type()),
                                     tensor({}, builder.getI1Type()), tensor({}, builder.getI1Type())};
    VariableValues wanted = variables, ranges = variables;
    Play player(*kernels, *exe, feeds, variables);
    player.run();
    auto fetches = interpret(*kernels, feeds, wanted);
    REQUIRE(fetches.status().str() == "ok");
    for (size_t i = 0; i < fetches->size(); ++i)
      REQUIRE(player.fetchBytes[i] == (*fetches)[i].toBytes());
    for (size_t i = 0; i < exe->variables.size(); ++i)
      REQUIRE(player.variableBytes[i] == wanted.at(exe->variables[i].symbol).toBytes());
    // The pure module bounds the results, since form-kernels reorders sums. Conditions on computed values may then
    // differ.
    auto bounds = interpret(*pure, feeds, ranges, {.intervals = true});
    REQUIRE(bounds.status().str() == "ok");
    for (size_t i = 0; i < fetches->size(); ++i) {
      int64_t outside = 0;
      for (int64_t element = 0; element < (*fetches)[i].size(); ++element)
        outside += !(*bounds)[i].contains((*fetches)[i], element);
      REQUIRE(outside == 0);
    }
    variables = wanted;
  }
}

} // namespace

TEST_CASE("random plans mean what their modules mean") {
  uint32_t seed = GENERATE(range(1u, 401u));
  bool strict = seed % 4 == 0;
  bool large = seed % 40 == 39; // partial reductions have several blocks
  int64_t height = large ? 150 : 6, width = large ? 140 : 5;
  std::string text = randomModule(seed, height, width);
  INFO("seed " << seed << "\n" << text);
  compare(text, height, width, strict, seed);
}

TEST_CASE("random plans with loops mean what their modules mean, also if iterations follow the end of a while") {
  uint32_t seed = GENERATE(range(1u, 401u));
  std::string text = randomLoops(seed, seed % 2 ? 8 : 3, seed % 3 ? 16 : 5);
  INFO("seed " << seed << "\n" << text);
  compare(text, seed % 2 ? 8 : 3, seed % 3 ? 16 : 5, seed % 4 == 0, seed);
}

namespace {

/// A module around `body` with variable @v0, whose new value is the first yield. It fetches the other yields.
std::string around(const std::string &body, const std::string &fresh, const std::string &fetched = "%x0") {
  return R"(halftone.variable @v0 : tensor<6x5xf32>
func.func @main(%x0: tensor<6x5xf32> {halftone.name = "x0"}, %p: tensor<i1> {halftone.name = "p"},
    %v0: tensor<6x5xf32> {halftone.variable = @v0})
    -> (tensor<6x5xf32> {halftone.name = "a"}, tensor<6x5xf32> {halftone.variable = @v0}) {
)" + body +
         "  return " + fetched + ", " + fresh + " : tensor<6x5xf32>, tensor<6x5xf32>\n}\n";
}

std::string printed(const std::string &text) {
  Context context;
  auto module = parseSourceString<ModuleOp>(text, &context);
  REQUIRE(module);
  REQUIRE(compiler::runStages(*module, compiler::Stage::pure, compiler::Stage::kernel, {}).str() == "ok");
  auto exe = planOf(*module);
  REQUIRE(exe.status().str() == "ok");
  REQUIRE(verify(*exe).str() == "ok");
  std::string steps;
  for (const Step &step : exe->plan.steps) {
    auto name = [&](SlotId id) {
      if (id < 0) // a copy of zeros
        return std::string("0");
      const Slot &slot = exe->plan.slots[id];
      return std::string(1, "avsfoc"[static_cast<int>(slot.kind)]);
    };
    const std::optional<Predicate> predicate = predicateOf(step);
    if (predicate)
      steps += predicate->negated ? "!" : "?";
    if (auto *copy = std::get_if<CopyStep>(&step)) {
      steps += "copy " + name(copy->from) + ">" + name(copy->to) + "; ";
    } else if (auto *collective = std::get_if<CollectiveStep>(&step)) {
      const bool isSum = collective->kind == halftone::CollectiveKind::sum;
      steps += isSum ? "sum " : collective->kind == halftone::CollectiveKind::gather ? "gather " : "scatter ";
      steps += name(collective->from.front()) + ">" + name(collective->to.front()) + "; ";
    } else if (std::holds_alternative<WaitStep>(step)) {
      steps += "wait; ";
    } else {
      auto &launch = std::get<LaunchStep>(step);
      steps += launch.joined ? "+" : "";
      for (size_t i = 0; i < launch.buffers.size(); ++i)
        steps += (static_cast<int64_t>(i) == launch.operandCount ? ">" : "") + name(launch.buffers[i]);
      steps += "; ";
    }
  }
  return steps;
}

} // namespace

// Slots: a: arena, v: variable, f: feed, o: fetch, c: constant.
TEST_CASE("a new value is made in place when nothing reads the old one after") {
  const char *add = "  %0 = halftone.add %v0, %x0 : tensor<6x5xf32>\n";
  CHECK(printed(around(add, "%0")) == "copy f>o; vf>v; ");
  // The launch that computes the new value also writes the fetch, with the old value or with the new one.
  CHECK(printed(around(add, "%0", "%v0")) == "vf>vo; ");
  CHECK(printed(around(add, "%0", "%0")) == "vf>vo; ");
  // A reader that transposes, broadcasts or reduces needs the whole old value.
  CHECK(printed(around("  %r = halftone.reduce max %v0 {axes = array<i64: 1>} : tensor<6x5xf32> -> tensor<6xf32>\n"
                       "  %b = halftone.broadcast %r {axes = array<i64: 0>} : tensor<6xf32> to tensor<6x5xf32>\n"
                       "  %0 = halftone.sub %v0, %b : tensor<6x5xf32>\n",
                       "%0")) == "copy f>o; v>a; copy a>v; ");
}

TEST_CASE("a scatter changes rows of a variable in place, but not of the tensor that its updates are read from") {
  const std::string indices = "  %i = halftone.constant dense<[0, 2, 2, 9, 1, 1]> : tensor<6xi32>\n";
  const std::string types =
      " {axis = 0 : i64} : (tensor<6x5xf32>, tensor<6xi32>, tensor<6x5xf32>) -> tensor<6x5xf32>\n";
  CHECK(printed(around((indices + "  %0 = halftone.scatter set %v0, %i, %x0" + types).c_str(), "%0")) ==
        "copy f>o; vcf>v; ");
  CHECK(printed(around((indices + "  %0 = halftone.scatter set %x0, %i, %v0" + types).c_str(), "%0")) ==
        "copy f>o; fcv>a; copy a>v; ");
}

TEST_CASE("a variable decays in place before rows of it change, unless the decayed value is fetched") {
  const char *decayed = "  %i = halftone.constant dense<[0, 2, 2, 9, 1, 1]> : tensor<6xi32>\n"
                        "  %1 = halftone.mul %v0, %x0 : tensor<6x5xf32>\n"
                        "  %0 = halftone.when %p : (tensor<6x5xf32>) {\n"
                        "    %2 = halftone.gather %1, %i {axis = 0 : i64} : (tensor<6x5xf32>, tensor<6xi32>) -> "
                        "tensor<6x5xf32>\n"
                        "    %3 = halftone.scatter set %1, %i, %2 {axis = 0 : i64} : (tensor<6x5xf32>, tensor<6xi32>, "
                        "tensor<6x5xf32>) -> tensor<6x5xf32>\n"
                        "    halftone.yield %3 : tensor<6x5xf32>\n"
                        "  } else {\n"
                        "    %4 = halftone.add %1, %x0 : tensor<6x5xf32>\n"
                        "    halftone.yield %4 : tensor<6x5xf32>\n"
                        "  }\n";
  CHECK(printed(around(decayed, "%0")) == "copy f>o; vf>v; ?vc>a; ?vca>v; !vf>v; ");
  CHECK(printed(around(decayed, "%0", "%1")) == "vf>o; ?oc>a; ?oca>v; !of>v; ");
}

TEST_CASE("both branches in a branch update a variable in place") {
  const char *nested = "  %4 = halftone.reduce max %x0 {axes = array<i64: 0, 1>} : tensor<6x5xf32> -> tensor<f32>\n"
                       "  %q = halftone.is_finite %4 : tensor<f32>\n"
                       "  %0 = halftone.when %p : (tensor<6x5xf32>) {\n"
                       "    %1 = halftone.when %q : (tensor<6x5xf32>) {\n"
                       "      %2 = halftone.add %v0, %x0 : tensor<6x5xf32>\n"
                       "      halftone.yield %2 : tensor<6x5xf32>\n"
                       "    } else {\n"
                       "      %3 = halftone.sub %v0, %x0 : tensor<6x5xf32>\n"
                       "      halftone.yield %3 : tensor<6x5xf32>\n"
                       "    }\n"
                       "    halftone.yield %1 : tensor<6x5xf32>\n"
                       "  } else {\n"
                       "    halftone.yield %v0 : tensor<6x5xf32>\n"
                       "  }\n";
  CHECK(printed(around(nested, "%0")) ==
        "copy f>o; f>a; copy 0>a; ?copy a>a; copy 0>a; ?copy c>a; ?copy 0>a; ?vf>v; ?vf>v; ");
}

TEST_CASE("a branch that leaves a variable as it was costs nothing") {
  const char *when = "  %0 = halftone.when %p : (tensor<6x5xf32>) {\n"
                     "    %1 = halftone.add %v0, %x0 : tensor<6x5xf32>\n"
                     "    halftone.yield %1 : tensor<6x5xf32>\n"
                     "  } else {\n"
                     "    halftone.yield %v0 : tensor<6x5xf32>\n"
                     "  }\n";
  CHECK(printed(around(when, "%0")) == "copy f>o; ?vf>v; ");
  // If the value is only fetched, the branch that is not taken copies it.
  CHECK(printed(around(when, "%v0", "%0")) == "?vf>o; !copy v>o; ");
}

namespace {
/// A variable that is updated under a flag, and whose old value is read under the new value of the flag.
constexpr const char *flagged = R"(halftone.variable @flag : tensor<i1>
halftone.variable @v : tensor<6x5xf32>
func.func @main(%x: tensor<6x5xf32> {halftone.name = "x"}, %p: tensor<i1> {halftone.name = "p"},
    %flag: tensor<i1> {halftone.variable = @flag}, %v: tensor<6x5xf32> {halftone.variable = @v})
    -> (tensor<6x5xf32> {halftone.name = "y"}, tensor<i1> {halftone.variable = @flag}, tensor<6x5xf32> {halftone.variable = @v}) {
  %n = halftone.when %flag : (tensor<6x5xf32>) {
    %0 = halftone.add %v, %x : tensor<6x5xf32>
    halftone.yield %0 : tensor<6x5xf32>
  } else {
    halftone.yield %v : tensor<6x5xf32>
  }
  %s = halftone.reduce max %n {axes = array<i64: 0, 1>} : tensor<6x5xf32> -> tensor<f32>
  %m = halftone.reduce min %x {axes = array<i64: 0, 1>} : tensor<6x5xf32> -> tensor<f32>
  %g = halftone.compare lt %s, %m : tensor<f32>
  %y = halftone.when %g : (tensor<6x5xf32>) {
    %1 = halftone.exp %x : tensor<6x5xf32>
    halftone.yield %1 : tensor<6x5xf32>
  } else {
    %2 = halftone.exp %v : tensor<6x5xf32>
    halftone.yield %2 : tensor<6x5xf32>
  }
  return %y, %g, %n : tensor<6x5xf32>, tensor<i1>, tensor<6x5xf32>
}
)";
} // namespace

TEST_CASE("a flag that gets a new value is another condition") {
  // The second `when` reads the old value of @v, which the first one may have replaced.
  const std::string steps = printed(flagged);
  CAPTURE(steps);
  CHECK(steps.find("?vf>a; ") != std::string::npos);
  CHECK(steps.ends_with("copy a>v; "));
}

TEST_CASE("a plan whose steps find other values in memory than the module names is refused") {
  Context context;
  auto module = parseSourceString<ModuleOp>(flagged, &context);
  REQUIRE(compiler::runStages(*module, compiler::Stage::pure, compiler::Stage::kernel, {}).str() == "ok");
  const auto made = planOf(*module);
  REQUIRE(made.status().str() == "ok");
  const auto checked = [&](const std::function<void(std::vector<Step> &)> &edit) {
    Executable exe = *made;
    edit(exe.plan.steps);
    REQUIRE(verify(exe).str() == "ok");
    return compiler::checkPlanValues(*module, argumentsOf(*module), exe).str();
  };
  using Catch::Matchers::Contains;
  CHECK_THAT(checked([](auto &steps) { steps.pop_back(); }), Contains("variable @v has a different value"));
  CHECK_THAT(checked([](auto &steps) { // @v is updated before its old value is read
               const auto reader = std::prev(steps.end(), 2);
               std::iter_swap(reader, std::next(reader));
             }),
             Contains("fetch 'y' has a different value"));
}

TEST_CASE("independent launches of one kernel side by side are one launch") {
  // The two negations share a kernel and do not access each other's values. The third negation reads the first.
  CHECK(printed(around("  %0 = halftone.neg %v0 : tensor<6x5xf32>\n  %1 = halftone.neg %x0 : tensor<6x5xf32>\n", "%0",
                       "%1"))
            .find("+") != std::string::npos);
}

TEST_CASE("a sum over processes travels until its first reader") {
  const std::string sum = "  %0 = halftone.neg %x0 : tensor<6x5xf32>\n"
                          "  %1 = halftone.all_reduce sum (%0) {order = 0 : i64} : tensor<6x5xf32>\n"
                          "  %2 = halftone.add %v0, %1 : tensor<6x5xf32>\n"
                          "  %3 = halftone.exp %x0 : tensor<6x5xf32>\n";
  CHECK(printed(around(sum, "%2", "%3")) == "f>a; sum a>a; f>o; wait; va>v; ");
  // Without a reader the sum is in flight until the end. Its result may be written to a variable or a fetch.
  CHECK(printed(around(sum, "%1", "%3")) == "f>a; sum a>v; f>o; wait; ");
  CHECK(printed(around(sum, "%v0", "%1")) == "f>a; sum a>o; wait; ");
}

TEST_CASE("Parts of all processes are gathered in the variable") {
  const std::string parts =
      "  %0 = halftone.reduce_scatter (%x0) rank 1 borders [array<i64: 0, 16, 30>] {order = 0 : i64} : "
      "tensor<6x5xf32>\n"
      "  %1 = halftone.neg %0 : tensor<14xf32>\n"
      "  %2 = halftone.all_gather (%1) rank 1 borders [array<i64: 0, 16, 30>] {order = 1 : i64} : "
      "tensor<14xf32>\n"
      "  %3 = halftone.reshape %2 : tensor<30xf32> to tensor<6x5xf32>\n";
  CHECK(printed(around(parts, "%3")) == "copy f>o; scatter f>a; wait; a>a; gather a>v; wait; ");
}
