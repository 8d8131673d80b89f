// Times the first training step and the first prediction of nets with a cold cache, beside Keras on JAX and PyTorch.
// SPDX-License-Identifier: Apache-2.0
//
// Each first call runs in a separate process with an empty cache; its time includes one step. cold --call NET POLICY
// PROGRAM makes a first call and a second one, and prints for each the wall seconds, the processor seconds and the peak
// memory in MB, so that the libraries of two builds can be compared in alternation. Peers read the models from files
// that Halftone writes.
//
// cold measures training steps under float32 and mixed_bfloat16 beside Keras on JAX. cold --all measures both programs
// under three policies, also beside Keras on PyTorch, whose first calls take minutes, and writes results/cold-all.json.
// HALFTONE_BENCH_ONLY selects among all rows.
#include "ColdNets.h"
#include "Folder.h"
#include "Race.h"
#include "Table.h"
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <stdexcept>
#include <sys/resource.h>

using namespace halftone;
using namespace halftone::benchmarks;

namespace {

constexpr int rounds = 3;

struct Cost {
  double seconds = 0, cpu = 0, megabytes = 0;
};

/// The processor time used by this process so far, and its peak memory.
Cost costSoFar() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval &time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return {0, seconds(usage.ru_utime) + seconds(usage.ru_stime), static_cast<double>(usage.ru_maxrss) / 1024};
}

const ColdNet &netNamed(const std::string &name) {
  for (const ColdNet &net : coldNets())
    if (net.name == name)
      return net;
  throw std::invalid_argument("no net '" + name + "'");
}

/// The child process's main function.
int call(const std::string &name, const std::string &policy, const std::string &program) {
  const ColdNet &net = netNamed(name);
  const Model model = net.make(policy);
  const Batch data = net.data();
  for (int time = 0; time < 2; ++time) {
    const double before = costSoFar().cpu;
    const double seconds = secondsOf([&] {
      if (program == "train")
        model.train_on_batch(data.x, data.y);
      else
        (void)model.predict_on_batch(data.x);
    });
    const Cost after = costSoFar();
    fmt::print("{} {} {}\n", seconds, after.cpu - before, after.megabytes);
  }
  return 0;
}

/// The cost of a first call, measured in a child process.
Cost child(const std::string &net, const std::string &policy, const std::string &program) {
  const Folder cache;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command =
      fmt::format("XDG_CACHE_HOME='{}' '{}' --call '{}' {} {}", cache.path().string(), self, net, policy, program);
  FILE *pipe = ::popen(command.c_str(), "r");
  Cost first;
  const bool told = pipe && std::fscanf(pipe, "%lf %lf %lf", &first.seconds, &first.cpu, &first.megabytes) == 3;
  while (told && std::fgetc(pipe) != EOF)
    continue;
  if (!pipe || ::pclose(pipe) != 0 || !told)
    throw std::runtime_error("the measured process failed: " + command);
  return first;
}

struct Case {
  const ColdNet &net;
  std::string policy, program;
  std::string title() const { return fmt::format("first {} step of {}, {}", program, net.name, policy); }
};

/// The medians over the rounds.
Cost costOf(const Case &each) {
  std::vector<double> seconds, cpu, megabytes;
  for (int round = 0; round < rounds; ++round) {
    const Cost cost = child(each.net.name, each.policy, each.program);
    seconds.push_back(cost.seconds);
    cpu.push_back(cost.cpu);
    megabytes.push_back(cost.megabytes);
  }
  return {median(seconds), median(cpu), median(megabytes)};
}

void writeModel(const Case &each, const std::string &folder) {
  const Batch data = each.net.data();
  each.net.make(each.policy).save(folder + "/model.keras");
  for (size_t i = 0; i < data.x.size(); ++i)
    data.x[i].save_npy(fmt::format("{}/x{}.npy", folder, i));
  data.y[0].save_npy(folder + "/y.npy");
}

/// The figures from which the means are computed.
struct Figures {
  std::map<std::string, std::vector<double>> besidePeers;          // our time divided by the peer's, by peer
  std::map<std::string, std::map<std::string, double>> cpuSeconds; // by policy: of each net and program
};

void compare(Table &table, const Case &each, bool all, Figures &figures) {
  const std::string what = each.title();
  if (!table.wants(what))
    return;
  const Cost ours = costOf(each);
  figures.cpuSeconds[each.policy][each.net.name + " " + each.program] = ours.cpu;
  const std::string text =
      fmt::format("{} ({} of CPU, {:.0f} MB)", milliseconds(ours.seconds), milliseconds(ours.cpu), ours.megabytes);
  const Folder folder;
  writeModel(each, folder.path().string());
  for (const char *name : {"Keras on JAX", "Keras on PyTorch"}) {
    if (!all && std::string_view(name) == "Keras on PyTorch")
      continue;
    // A new process each time, since a library may reuse what it compiled for an earlier net.
    Peer peer(name, "cold", {name, std::to_string(coreCount()), folder.path().string()});
    table.peer(peer);
    Row row{what, text, std::string(name) + " missing"};
    row.atMost = true;
    try {
      if (!peer.missing().empty())
        throw std::runtime_error(peer.missing());
      peer.ask("prepare " + each.program);
      const double seconds = peer.askNumbers("calls 1").at(0);
      row.peer = fmt::format("{} {}", name, milliseconds(seconds));
      row.ratio = ours.seconds / seconds;
      figures.besidePeers[name].push_back(*row.ratio);
    } catch (const std::runtime_error &error) {
      row.note = error.what();
    }
    table.add(row);
  }
}

void addMean(Table &table, const std::string &what, const std::vector<double> &ratios, double bar,
             std::optional<double> stretch) {
  if (!table.isWhole() || ratios.empty())
    return;
  Row row{what, "", "", geometricMean(ratios), bar, stretch};
  row.atMost = true;
  table.add(row);
}

void run(Table &table, bool all) {
  Figures figures;
  for (const ColdNet &net : coldNets())
    for (const std::string policy : {"float32", "mixed_bfloat16", "mixed_float16"})
      for (const std::string program : {"train", "predict"})
        if (all || (policy != "mixed_float16" && program == "train"))
          compare(table, {net, policy, program}, all, figures);
  for (const auto &[name, ratios] : figures.besidePeers)
    addMean(table, "geometric mean beside " + name, ratios, 0.5, 0.35);
  if (!table.isWhole()) // HALFTONE_BENCH_ONLY may have excluded float32
    return;
  std::vector<double> ratios;
  for (const auto &[name, seconds] : figures.cpuSeconds["mixed_bfloat16"])
    ratios.push_back(seconds / figures.cpuSeconds["float32"].at(name));
  addMean(table, "geometric mean of mixed_bfloat16 against float32, processor time", ratios, 1.15, {});
}

} // namespace

int main(int argc, char **argv) {
  if (argc == 5 && std::string_view(argv[1]) == "--call")
    try {
      return call(argv[2], argv[3], argv[4]);
    } catch (const std::exception &error) {
      fmt::print(stderr, "cold: {}\n", error.what());
      return 1;
    }
  const bool all = argc == 2 && std::string_view(argv[1]) == "--all";
  if (argc > 1 && !all) {
    fmt::print(stderr, "usage: cold [--all | --call NET POLICY PROGRAM]\n");
    return 2;
  }
  return runProgram(all ? "cold-all" : "cold", "seconds of the first call with a cold cache",
                    [all](Table &table) { run(table, all); });
}
