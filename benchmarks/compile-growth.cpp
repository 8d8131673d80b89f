// Growth of the time from the first call to a compiled step with the number of layers, in fresh processes.
// SPDX-License-Identifier: Apache-2.0
#include "Folder.h"
#include "Mlp.h"
#include "Race.h"
#include "Table.h"
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <stdexcept>
#include <sys/resource.h>

using namespace halftone;
using namespace halftone::benchmarks;

namespace {

constexpr int rounds = 5;
constexpr int64_t width = 16, batch = 32, blocks = 48;
constexpr int64_t sizes[] = {50, 100, 200, 400, 800, 1600};

/// A stack of `count` Dense(16) layers. Under mixed_float16 each step also checks that all gradients are finite.
Model dense(int64_t count, const std::string &policy) {
  set_dtype_policy(policy);
  std::vector<Layer> stack = {Input({width})};
  for (int64_t i = 0; i < count; ++i)
    stack.push_back(layers::Dense(width, {.activation = "relu"}));
  Sequential model(stack);
  set_dtype_policy("float32");
  model.compile({.optimizer = optimizers::Adam(), .loss = "mean_squared_error"});
  return model;
}

/// `count` transformer blocks without attention, each with a skip connection.
Model residual(int64_t count) {
  Input x({width}, {.name = "x"});
  Value h = x;
  for (int64_t i = 0; i < count; ++i) {
    Value inner = layers::LayerNormalization()(h);
    inner = layers::Dense(4 * width, {.activation = "gelu"})(inner);
    inner = layers::Dense(width)(inner);
    h = h + layers::Dropout(0.1)(inner);
  }
  Model model({x}, {h});
  model.compile({.optimizer = optimizers::Adam(), .loss = "mean_squared_error"});
  return model;
}

double cpuSeconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval &time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Cost {
  double seconds = 0, cpu = 0;
};

Cost costOf(const std::function<void()> &work) {
  const double before = cpuSeconds(), seconds = secondsOf(work);
  return {seconds, cpuSeconds() - before};
}

/// The costs that a child process measures, in the order of its output lines: creating the model; the first step minus
/// a second one; and compiling its program to each of these stages, including the stage's text.
constexpr Stage stages[] = {Stage::graph, Stage::pure, Stage::kernel};

/// The child process's main function.
int measure(const std::string &net, int64_t count, const std::string &program) {
  set_random_seed(1);
  const Tensor x = Tensor::ones({batch, width}), y = Tensor::zeros({batch, width});
  std::optional<Model> model;
  const auto tell = [](const Cost &cost) { fmt::print("{} {}\n", cost.seconds, cost.cpu); };
  tell(costOf([&] { model.emplace(net == "residual" ? residual(count) : dense(count, net)); }));
  const auto step = [&] { program == "train" ? (void)model->train_on_batch(x, y) : (void)model->predict_on_batch(x); };
  const Cost first = costOf(step), second = costOf(step);
  tell({first.seconds - second.seconds, first.cpu - second.cpu});
  for (Stage stage : stages)
    tell(costOf([&] {
      model->ir(stage, {.program = program == "train" ? Program::train : Program::predict, .batch_size = batch});
    }));
  return 0;
}

/// The costs that a child process prints, in order.
std::vector<Cost> child(const std::filesystem::path &cache, const std::string &net, int64_t count,
                        const std::string &program) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command =
      fmt::format("XDG_CACHE_HOME='{}' '{}' --measure {} {} {}", cache.string(), self, net, count, program);
  FILE *pipe = ::popen(command.c_str(), "r");
  std::vector<Cost> costs(2 + std::size(stages));
  bool told = pipe != nullptr;
  for (Cost &cost : costs)
    told = told && std::fscanf(pipe, "%lf %lf", &cost.seconds, &cost.cpu) == 2;
  if (!pipe || ::pclose(pipe) != 0 || !told)
    throw std::runtime_error("the measured process failed: " + command);
  return costs;
}

struct Case {
  std::string net, program; // net: "residual", or the policy of the Dense layers
  int64_t count;
  std::string what() const {
    return fmt::format("first {} step, {} {}{}", program, count,
                       net == "residual" ? "residual blocks" : "Dense(16) layers",
                       net == "mixed_float16" ? " under mixed_float16" : "");
  }
};

/// The medians over `rounds` children, line by line. Kernels come from the disk cache, filled by an untimed child.
std::vector<Cost> medians(const std::filesystem::path &cache, const Case &each) {
  std::vector<std::vector<double>> seconds, cpu;
  child(cache, each.net, each.count, each.program);
  for (int round = 0; round < rounds; ++round) {
    const std::vector<Cost> costs = child(cache, each.net, each.count, each.program);
    seconds.resize(costs.size());
    cpu.resize(costs.size());
    for (size_t line = 0; line < costs.size(); ++line) {
      seconds[line].push_back(costs[line].seconds);
      cpu[line].push_back(costs[line].cpu);
    }
  }
  std::vector<Cost> result;
  for (size_t line = 0; line < seconds.size(); ++line)
    result.push_back({median(seconds[line]), median(cpu[line])});
  return result;
}

std::string text(const Cost &cost) {
  return fmt::format("{} ({} of CPU)", milliseconds(cost.seconds), milliseconds(cost.cpu));
}

void addCase(Table &table, const Case &each, const std::vector<Cost> &costs) {
  std::string parts;
  for (size_t stage = 0; stage < std::size(stages); ++stage)
    parts +=
        fmt::format("{}{} {}", parts.empty() ? "" : ", ", name(stages[stage]), milliseconds(costs[2 + stage].seconds));
  Row row{each.what(), text(costs[1]), "-", costs[1].seconds};
  row.atMost = true;
  if (each.net == "float32" && each.program == "train" && each.count == 800)
    row.bar = 3.0;
  row.note = fmt::format("s; the model {}; to stage {}", milliseconds(costs[0].seconds), parts);
  table.add(row);
}

void run(Table &table) {
  const Folder cache;
  const std::pair<const char *, const char *> programs[] = {
      {"float32", "train"}, {"float32", "predict"}, {"mixed_float16", "train"}};
  for (const auto &[policy, program] : programs) {
    std::map<int64_t, double> seconds;
    for (int64_t count : sizes) {
      const Case each{policy, program, count};
      if (!table.wants(each.what()))
        continue;
      const std::vector<Cost> costs = medians(cache.path(), each);
      seconds[count] = costs[1].seconds;
      addCase(table, each, costs);
    }
    if (seconds.contains(400) && seconds.contains(1600))
      table.add({fmt::format("first {} step, 1600 layers against 400, {}", program, policy),
                 milliseconds(seconds[1600]), milliseconds(seconds[400]), seconds[1600] / seconds[400], 4.5, 4.2,
                 true});
  }
  for (const char *program : {"train", "predict"})
    if (const Case each{"residual", program, blocks}; table.wants(each.what()))
      addCase(table, each, medians(cache.path(), each));
}

} // namespace

int main(int argc, char **argv) {
  if (argc == 5 && std::string_view(argv[1]) == "--measure")
    try {
      return measure(argv[2], std::atoll(argv[3]), argv[4]);
    } catch (const std::exception &error) {
      fmt::print(stderr, "compile-growth: {}\n", error.what());
      return 1;
    }
  return runProgram("compile-growth", "seconds from the first call to a compiled step as layers are added", run);
}
