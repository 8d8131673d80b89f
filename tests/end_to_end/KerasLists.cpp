// Lists given by name and by count, compared with the results and errors of real Keras.
// SPDX-License-Identifier: Apache-2.0
//
// HALFTONE_KERAS_LISTS: another file of record_lists.py in the place of tests/data/keras/lists.jsonl.
#include "runtime/TensorAccess.h"
#include "tests/frontend/RecordedJson.h"
#include <cstdlib>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;

namespace {

/// The lists of a case; `broken` replaces one of them.
struct Lists {
  Json json;
  explicit Lists(const Json &row, bool broken) : json(row["lists"]) {
    if (broken)
      json[row["broken"]["list"].get<std::string>()] = row["broken"]["form"];
  }

  Tensors tensors(const char *key) const {
    const Json &form = json[key];
    if (form.is_null())
      return {};
    std::vector<Tensor> list;
    for (size_t i = 0; i < form["tensors"].size(); ++i)
      list.push_back(tensorOf(form["tensors"][i], form["dtypes"][i]));
    return TensorAccess::named(std::move(list), form["names"]);
  }
  LossSpec losses() const {
    const Json &form = json["loss"];
    std::vector<Loss> list;
    std::vector<std::pair<std::string, Loss>> byName;
    for (const Json &loss : form["losses"]) {
      list.push_back(loss.is_null() ? Loss() : Loss(loss.get<std::string>()));
      if (!form["names"].empty())
        byName.emplace_back(form["names"].at(list.size() - 1), list.back());
    }
    return byName.empty() ? LossSpec(list) : LossSpec(byName);
  }
  static Metric metric(const std::string &text) {
    if (!text.ends_with("()"))
      return Metric(text);
    return metrics::deserialize(
        Config::parse(Json{{"class_name", text.substr(0, text.size() - 2)}, {"config", Json::object()}}.dump()));
  }
  MetricSpec metrics(const char *key) const {
    const Json &form = json[key];
    std::vector<Metric> list;
    std::vector<std::pair<std::string, std::vector<Metric>>> byName;
    for (size_t i = 0; i < form["metrics"].size(); ++i) {
      if (form["names"].empty()) {
        list.push_back(metric(form["metrics"][i]));
        continue;
      }
      std::vector<Metric> several;
      for (const Json &each : form["metrics"][i])
        several.push_back(metric(each));
      byName.emplace_back(form["names"][i], several);
    }
    return byName.empty() ? MetricSpec(list) : MetricSpec(byName);
  }
  CompileArgs arguments() const {
    CompileArgs args{.optimizer = optimizers::SGD(0.1), .loss = losses()};
    if (!json["loss_weights"].is_null())
      args.loss_weights = json["loss_weights"].get<std::vector<double>>();
    args.metrics = metrics("metrics");
    args.weighted_metrics = metrics("weighted_metrics");
    return args;
  }
};

Model netOf(const Json &row) {
  std::vector<Value> inputs, outputs;
  for (const Json &name : row["inputs"])
    inputs.push_back(Input({2}, {.name = name}));
  const Value joined = inputs.size() == 1 ? inputs[0] : Concatenate()(Values(inputs));
  for (const Json &head : row["outputs"]) {
    const std::vector<double> bias = elementsOf(head["bias"]);
    const Dense layer(std::ssize(bias),
                      {.activation = head["softmax"].get<bool>() ? "softmax" : "linear", .name = head["name"]});
    outputs.push_back(layer(joined));
    layer.set_weights({tensorOf(head["kernel"], "float32"), tensorOf(head["bias"], "float32")});
  }
  return Model(Values(inputs), Values(outputs));
}

/// The logs of the call; of fit, those of the last epoch.
Json resultOf(const Model &model, const Json &row, const Lists &lists) {
  const std::string call = row["call"];
  const int64_t size = row["batch_size"];
  const Tensors x = lists.tensors("x"), y = lists.tensors("y"), weights = lists.tensors("sample_weight");
  Logs logs;
  if (call == "train_on_batch" || call == "test_on_batch")
    logs = call == "train_on_batch" ? model.train_on_batch(x, y, {.sample_weight = weights})
                                    : model.test_on_batch(x, y, {.sample_weight = weights});
  else if (call == "evaluate")
    logs = model.evaluate(x, y, {.batch_size = size, .verbose = 0, .sample_weight = weights});
  else if (call == "dataset")
    logs = model.evaluate(Dataset(x, y, weights).batch(size), {.verbose = 0});
  else {
    FitArgs args{.batch_size = size, .verbose = 0, .shuffle = false, .sample_weight = weights};
    if (call == "validation")
      args.validation_data = {x, y, weights};
    const History history = model.fit(x, y, args);
    for (const std::string &name : history.keys())
      logs.set(name, history[name].back());
  }
  Json result;
  for (const auto &[name, value] : logs)
    result[name] = value;
  return result;
}

} // namespace

// policies 12.5
TEST_CASE("Lists by name and by count have Keras's results, and broken ones are refused without a change") {
  const char *other = std::getenv("HALFTONE_KERAS_LISTS");
  std::ifstream stream(other ? other : HALFTONE_SOURCE_DIR "/tests/data/keras/lists.jsonl");
  int cases = 0, refused = 0;
  for (std::string line; std::getline(stream, line); ++cases) {
    const Json row = Json::parse(line);
    INFO(row["seed"] << " " << row["call"] << " " << row["lists"].dump() << " broken: " << row["broken"].dump());
    const Model model = netOf(row);
    const Lists lists(row, false);
    if (const Json &broken = row["broken"]; !broken.is_null()) {
      ++refused;
      const std::string error = errorOf([&] {
        const Lists wrong(row, true);
        model.compile(wrong.arguments());
        (void)resultOf(model, row, wrong);
      });
      CHECK_THAT(error, Catch::Matchers::StartsWith("ValueError: "));
      const std::string list = broken["list"];
      CHECK_THAT(error, Catch::Matchers::Contains(list.ends_with("metrics") ? "metrics" : "`" + list + "`"));
    }
    model.compile(lists.arguments());
    const Json found = resultOf(model, row, lists);
    const Json &expected = row["logs"];
    CHECK(found.size() == expected.size());
    for (const auto &[name, value] : expected.items()) {
      INFO(name << " in " << found.dump());
      REQUIRE(found.contains(name));
      CHECK(found[name].get<double>() == Approx(value.get<double>()).epsilon(2e-5).margin(1e-6));
    }
  }
  CHECK(cases > 50);
  CHECK(refused > 20);
  if (other)
    WARN(cases << " cases, " << refused << " of them with a broken list");
}
