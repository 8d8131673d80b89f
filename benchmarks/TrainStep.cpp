// Compares training steps with those of peers.
// SPDX-License-Identifier: Apache-2.0
#include "TrainStep.h"
#include "Exchange.h"
#include "Race.h"
#include <fmt/format.h>
#include <tuple>

namespace halftone::benchmarks {

namespace {

constexpr int checkedSteps = 5;

/// Writes a batch and the initial weights for the peers, and returns our losses of the first steps from them.
std::vector<double> firstLosses(const Model &model, const Batch &data, const Exchange &exchange) {
  exchange.put(data, model);
  std::vector<double> losses;
  for (int step = 0; step < checkedSteps; ++step)
    losses.push_back(model.train_on_batch(data.x, data.y)["loss"]);
  return losses;
}

/// A lap ends when the last loss is available, since a GPU still works when a step returns.
Contestant ours(const Network &network, const std::string &policy, const Batch &data) {
  return {"Halftone " + policy, [model = network.make(policy, false), data](int times) {
            return secondsOf([&] {
                     for (int i = 1; i < times; ++i)
                       model.train_on_batch(data.x, data.y);
                     (void)model.train_on_batch(data.x, data.y)["loss"];
                   }) /
                   times;
          }};
}

void compare(Table &table, const std::map<std::string, std::unique_ptr<Peer>> &peers, const Network &network,
             const std::string &policy, int64_t batch, Device device) {
  const std::string what = fmt::format("{} train step, batch {}, {}", network.title, batch, policy);
  if (!table.wants(what))
    return;
  const Exchange exchange;
  Batch data = network.data(batch);
  const std::vector<double> losses = firstLosses(network.make(policy, true), data, exchange);
  data = {data.x[0].to(device), data.y[0].to(device)};
  std::vector<Contestant> field = {ours(network, policy, data)};
  if (network.besideFloat32 && policy != "float32")
    field.push_back(ours(network, "float32", data));
  // PyTorch's Adam adds epsilon after the bias correction, the others before it, so losses differ in the third digit.
  const double tolerance = policy == "float32" ? 5e-3 : 3e-2;
  const std::string request =
      fmt::format("prepare {} {} {} {} {}", network.name, policy, checkedSteps, network.checkedRate, exchange.path());
  std::vector<Row> absent;
  for (const std::string &name : network.peers) {
    Peer &peer = *peers.at(name);
    if (const std::string reason = refusal(peer, request, losses, tolerance); !reason.empty())
      absent.push_back({what, "", name + " missing", {}, {}, {}, false, reason});
    else
      field.push_back({name, [&peer](int times) { return peer.askNumbers(fmt::format("steps {}", times)).at(0); }});
  }
  const std::vector<double> seconds = race(field, 7, 0.15);
  for (size_t i = 1; i < field.size(); ++i) {
    Row row{what, milliseconds(seconds[0]), field[i].name + " " + milliseconds(seconds[i]), seconds[i] / seconds[0]};
    if (field[i].name == "Halftone float32")
      row.bar = 0.95;
    else if (const auto bars = network.bars.find(field[i].name);
             bars != network.bars.end() && policy != "mixed_float16")
      std::tie(row.bar, row.stretch) = bars->second;
    table.add(std::move(row));
  }
  for (Row &row : absent) {
    row.ours = milliseconds(seconds[0]);
    table.add(std::move(row));
  }
}

} // namespace

void compareTrainSteps(Table &table, const std::vector<Network> &networks, Device device) {
  const DeviceScope scope(device);
  const std::string place = device == Device::cpu() ? "cpu" : "cuda";
  const std::string threads = std::to_string(coreCount());
  std::map<std::string, std::unique_ptr<Peer>> peers;
  for (const Network &network : networks)
    for (const std::string &name : network.peers)
      if (auto &peer = peers[name]; !peer) {
        peer = std::make_unique<Peer>(name, "train_step", std::vector<std::string>{name, threads, place});
        table.peer(*peer);
      }
  for (const Network &network : networks)
    for (const std::string &policy : network.policies)
      for (const int64_t batch : network.batches)
        compare(table, peers, network, policy, batch, device);
}

} // namespace halftone::benchmarks
