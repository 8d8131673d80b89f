// Training steps distributed over processes beside steps of a single process, and a cost model of an exchange.
// SPDX-License-Identifier: Apache-2.0
//
// Run it with mpirun: mpirun -n 2 build/release/benchmarks/distributed, with HALFTONE_NUM_THREADS=1. Rank 0 writes the
// table.
#include "Mlp.h"
#include "Peer.h"
#include "Race.h"
#include "Table.h"
#include <cmath>
#include <cstdio>
#include <fmt/format.h>

using namespace halftone;
using namespace halftone::benchmarks;

namespace {

constexpr int rounds = 15;

struct Net {
  std::string title;
  int64_t hidden = 0, width = 0; // number of layers, and their units
};

Sequential modelOf(const Net &net) {
  set_random_seed(1);
  std::vector<Layer> stack{Input({784})};
  for (int64_t i = 0; i < net.hidden; ++i)
    stack.push_back(layers::Dense(net.width, {.activation = "relu"}));
  stack.push_back(layers::Dense(10));
  Sequential model(stack);
  model.compile(
      {.optimizer = optimizers::Adam(0.0), .loss = losses::SparseCategoricalCrossentropy({.from_logits = true})});
  return model;
}

/// The size of the gradients that a step all-reduces, in bytes.
double bytesOf(const Model &model) {
  double bytes = 0;
  for (const Variable &variable : model.trainable_variables())
    bytes += 4.0 * static_cast<double>(variable.shape().elements());
  return bytes;
}

struct Times {
  double alone, together, split, peer, bytes; // split: with shard_optimizer_state; peer: 0 without a peer
  double hidden;                              // the share of the exchange time during which rank 0 did other work
};

/// The seconds of a step of `batchAlone` rows in one process, and of `batch` rows in all processes, in alternation. The
/// other processes sleep while rank 0 runs alone, and while it asks the peer, which may be null.
Times timesOf(const Net &net, int64_t batchAlone, int64_t batch, int steps, Peer *peer = nullptr) {
  const distribution::DataParallel all, divided({.shard_optimizer_state = true});
  const bool isFirst = distribution::rank() == 0;
  const Batch one = images(batchAlone), shared = images(batch);
  const Sequential alone = modelOf(net), together = modelOf(net), split = modelOf(net);
  if (peer)
    peer->ask(fmt::format("prepare {} {} {}", net.hidden, net.width, batch));
  std::vector<double> seconds[4]; // alone, together, split, the peer
  double exchanged = 0, waited = 0;
  for (int round = -1; round < rounds; ++round) {
    const auto lap = [&](const Model &model, const Batch &data, std::vector<double> &laps) {
      const double taken = secondsOf([&] {
        for (int i = 0; i < steps; ++i)
          model.train_on_batch(data.x, data.y);
      });
      if (round >= 0)
        laps.push_back(taken / steps);
    };
    if (isFirst) {
      distribution::set_distribution(std::nullopt);
      lap(alone, one, seconds[0]);
      if (peer) {
        const double lap = peer->askNumbers(fmt::format("steps {}", steps)).at(0);
        if (round >= 0)
          seconds[3].push_back(lap);
      }
      distribution::set_distribution(all);
    }
    together.train_on_batch(shared.x, shared.y); // synchronizes the processes before the clock starts
    const distribution::ExchangeTimes before = distribution::exchange_times();
    lap(together, shared, seconds[1]);
    exchanged += distribution::exchange_times().seconds - before.seconds;
    waited += distribution::exchange_times().waited - before.waited;
    distribution::set_distribution(divided);
    split.train_on_batch(shared.x, shared.y);
    lap(split, shared, seconds[2]);
    distribution::set_distribution(all);
  }
  const double base = isFirst ? median(seconds[0]) : 0;
  const auto against = [&](const std::vector<double> &laps) {
    std::vector<double> quotients;
    for (size_t i = 0; isFirst && i < laps.size(); ++i)
      quotients.push_back(seconds[0][i] / laps[i]);
    return quotients.empty() ? 0 : base / median(quotients);
  };
  return {base, against(seconds[1]), against(seconds[2]), against(seconds[3]), bytesOf(alone), 1 - waited / exchanged};
}

/// The cost model of an exchange between `processes`: two message latencies per other process, plus the bytes that each
/// sends.
struct Link {
  double latency, bandwidth; // seconds per message; bytes per second
  double seconds(double bytes, double processes) const {
    return 2 * (processes - 1) * latency + 2 * (processes - 1) / processes * bytes / bandwidth;
  }
};

/// The link parameters that fit a small and a large exchange.
Link linkOf(double smallBytes, double small, double largeBytes, double large, double processes) {
  const double perByte = (large - small) / (largeBytes - smallBytes);
  return {(small - perByte * smallBytes) / (2 * (processes - 1)), 2 * (processes - 1) / processes / perByte};
}

/// The exchange time: by how much a step of one row per process is longer than a step of one row in one process.
double exchangeSeconds(const Net &net, double &bytes) {
  const int64_t processes = distribution::size();
  const Times times = timesOf(net, 1, processes, 20);
  bytes = times.bytes;
  return times.together - times.alone;
}

void addScaling(Table &table, const Net &net, int64_t batch, double bar, const Link &link, Peer *peer) {
  const int64_t processes = distribution::size();
  const Times times = timesOf(net, batch, batch, 10, peer), part = timesOf(net, batch / processes, batch, 10);
  if (distribution::rank() > 0)
    return;
  const std::string what = fmt::format("{} train step, global batch {}", net.title, batch);
  table.add({fmt::format("{}, {} processes against one", what, processes), milliseconds(times.together),
             "one " + milliseconds(times.alone), times.alone / times.together,
             processes == 2 ? std::optional(bar) : std::nullopt});
  table.add({fmt::format("{}, the optimizer's state divided", what), milliseconds(times.split),
             "whole " + milliseconds(times.together), times.together / times.split});
  if (peer)
    table.add({fmt::format("{}, {} processes against DDP with gloo", what, processes), milliseconds(times.together),
               "PyTorch DDP " + milliseconds(times.peer), times.peer / times.together, 1.2});
  std::printf("%s: one process takes %s for half the batch\n", what.c_str(), milliseconds(part.alone).c_str());
  std::printf("%s: %.0f %% of the exchanges' time was hidden behind launches\n", what.c_str(), 100 * times.hidden);
  const double predicted = part.alone + link.seconds(times.bytes, static_cast<double>(processes));
  table.add({what + ", the model of cost", milliseconds(times.together), "predicted " + milliseconds(predicted),
             predicted / times.together});
  for (const auto &[name, wire] :
       {std::pair("10 Gbit/s, 20 us", Link{20e-6, 1.1e9}), std::pair("100 Gbit/s, 2 us", Link{2e-6, 11e9})})
    for (double machines : {8.0, 64.0, 512.0})
      std::printf("model, not measured: %s, %.0f machines of batch %lld, %s: %.2f ms a step, efficiency %.2f\n",
                  net.title.c_str(), machines, static_cast<long long>(batch), name,
                  1e3 * (times.alone + wire.seconds(times.bytes, machines)),
                  times.alone / (times.alone + wire.seconds(times.bytes, machines)));
}

void run(Table &table) {
  double smallBytes = 0, largeBytes = 0, otherBytes = 0;
  const double small = exchangeSeconds({"small", 1, 16}, smallBytes),
               large = exchangeSeconds({"large", 1, 1024}, largeBytes),
               other = exchangeSeconds({"other", 2, 1024}, otherBytes);
  const auto processes = static_cast<double>(distribution::size());
  const Link link = linkOf(smallBytes, small, largeBytes, large, processes);
  if (distribution::rank() == 0) {
    table.version("latency of a message, us", fmt::format("{:.1f}", 1e6 * link.latency));
    table.version("bandwidth, GB/s", fmt::format("{:.2f}", 1e-9 * link.bandwidth));
    table.add({fmt::format("exchange of {:.1f} MB, the model of cost", otherBytes / 1e6), milliseconds(other),
               "predicted " + milliseconds(link.seconds(otherBytes, processes)),
               link.seconds(otherBytes, processes) / other});
  }
  std::optional<Peer> peer;
  if (distribution::rank() == 0) {
    peer.emplace("PyTorch DDP", "ddp", std::vector{std::to_string(distribution::size())});
    table.peer(*peer);
  }
  Peer *const present = peer && peer->missing().empty() ? &*peer : nullptr;
  addScaling(table, {"MLP 784-512-512-10", 2, 512}, 512, 1.8, link, present);
  addScaling(table, {"MLP of 4 x 1024", 4, 1024}, 512, 1.9, link, present);
}

} // namespace

int main() {
  try {
    distribution::set_distribution(distribution::DataParallel());
    if (distribution::size() > 1 && distribution::rank() > 0) {
      Table unused("distributed", "");
      run(unused);
      return 0;
    }
  } catch (const Error &error) {
    std::fprintf(stderr, "distributed: %s\n", error.what());
    return 77; // MPI is not available
  }
  if (distribution::size() == 1) {
    std::fprintf(stderr, "distributed: expected several processes: mpirun -n 2 distributed\n");
    return 2;
  }
  return runProgram("distributed", "steps shared by processes, each of one thread", run);
}
