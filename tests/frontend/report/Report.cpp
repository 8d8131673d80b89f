// The page of Model::report(): its sections, sums and errors.
// SPDX-License-Identifier: Apache-2.0
#include "tests/TemporaryFolder.h"
#include "tests/frontend/report/Parsed.h"
#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <halftone/Halftone.h>

using namespace halftone;
using namespace halftone::layers;
using namespace halftone::test;
using Catch::Matchers::Contains;

namespace {

std::string pageOf(const Model &model, const ReportArgs &args = {}) {
  const TemporaryFolder folder;
  model.report(folder / "report.html", args);
  CHECK(folder.entries() == 1);
  return readFile(folder / "report.html");
}

/// The markup of one section.
std::string sectionOf(const std::string &page, const std::string &id) {
  const size_t first = page.find("<section id=\"" + id + "\">");
  REQUIRE(first != std::string::npos);
  return page.substr(first, page.find("</section>", first) - first);
}

/// The sort keys of the cells in the first column of a section's first table.
std::vector<double> firstKeys(const std::string &section) {
  std::vector<double> keys;
  const std::string row = "<tr><td class=\"number\" data-key=\"";
  for (size_t at = section.find(row); at != std::string::npos; at = section.find(row, at + 1))
    keys.push_back(std::stod(section.substr(at + row.size())));
  return keys;
}

Sequential mixed() {
  DTypePolicyMap policies("mixed_bfloat16");
  policies.insert(".*/head", DTypePolicy("float32"));
  policies.insert(".*/nobody", DTypePolicy("float16"));
  const PolicyScope scope(policies);
  return Sequential({Input({16}), Dense(32, {.activation = "relu"}), Dense(32), Dense(4, {.name = "head"})},
                    {.name = "mixed"});
}

void train(const Model &model, int64_t epochs) {
  model.fit(Tensor::ones(Shape{{64, 16}}), Tensor::zeros(Shape{{64, 4}}),
            {.epochs = epochs, .verbose = 0, .validation_split = 0.25, .validation_freq = 2});
}

struct Holding {
  Dense dense{3, {.name = "held"}};
  Value call(const Value &x) { return dense(x); }
};

} // namespace

TEST_CASE("the page of a trained model is XML that refers to nothing outside and holds every section") {
  const Sequential model = mixed();
  model.compile({.optimizer = "adam", .loss = "mse", .metrics = {"mae"}});
  train(model, 4);
  const std::string page = pageOf(model);
  const XmlFacts facts = parseXml(page);
  for (const char *id : {"curves", "graph", "layers", "policies", "casts", "kernels", "memory"})
    CHECK(facts.ids.contains(id));
  CHECK(!facts.attributes.contains("src"));
  CHECK(countOf(page, "http") == countOf(page, "xmlns=\"http"));
  CHECK_THAT(page, !Contains("@import") && !Contains("url(h"));
  for (const SummaryReport::Row &row : model.summary().rows)
    CHECK_THAT(sectionOf(page, "layers"), Contains("<code>" + row.path + "</code>"));
  CHECK_THAT(sectionOf(page, "curves"), Contains("The last fit(): 4 epochs") && Contains(">val_loss<") &&
                                            Contains(">val_mae<") && Contains("line k0 dashed"));
  CHECK_THAT(page, Contains("compiled with adam, trained") && Contains("<dt>Numerics</dt><dd>fast</dd>") &&
                       Contains("<dt>Device</dt><dd>cpu</dd>"));
}

TEST_CASE("validation values stand at their own epochs") {
  const Sequential model = mixed();
  model.compile({.optimizer = "adam", .loss = "mse"});
  train(model, 4);
  const std::string curves = sectionOf(pageOf(model), "curves");
  CHECK(countOf(curves, "<title>loss: ") == 4);
  CHECK(countOf(curves, "<title>val_loss: ") == 2);
  const History history = model.history();
  CHECK_THAT(curves, Contains(fmt::format("val_loss: {:.6g} at 2<", history["val_loss"][0])) &&
                         Contains(fmt::format("val_loss: {:.6g} at 4<", history["val_loss"][1])));
  CHECK(history.epoch() == std::vector<int64_t>{0, 1, 2, 3});
}

TEST_CASE("shares of kernels sum to 100 %, and the arena is as large as the summary says") {
  const Sequential model = mixed();
  model.compile({.optimizer = "adam", .loss = "mse"});
  for (const bool timed : {true, false}) {
    const std::string page = pageOf(model, {.time_kernels = timed});
    const std::string kernels = sectionOf(page, "kernels");
    CHECK_THAT(kernels, Contains(timed ? "Share of time" : "Estimated share"));
    const std::vector<double> shares = firstKeys(kernels);
    CHECK(!shares.empty());
    double sum = 0;
    for (double share : shares)
      sum += share;
    CHECK(sum == Approx(1).margin(1e-6));
    const int64_t bytes = model.summary().training_step_bytes;
    CHECK(bytes > 0);
    std::string digits = sectionOf(page, "memory");
    std::erase(digits, ',');
    CHECK_THAT(digits, Contains(fmt::format("({} bytes)", bytes)));
    CHECK(countOf(digits, "class=\"span") > 2);
  }
}

TEST_CASE("the page tells for each kernel by which rules its ops joined, and why kernels stayed apart") {
  const Sequential model({Input({16}), Dense(8, {.activation = "softmax", .name = "head"})}, {.name = "net"});
  const std::string kernels = sectionOf(pageOf(model, {.time_kernels = false}), "kernels");
  CHECK_THAT(kernels, Contains("op contract [net/head]: contraction<") &&
                          Contains("op add [net/head]: join producers<") &&
                          Contains("start reduce [net/head]: join producers: it cannot be fused with any kernel") &&
                          Contains("not fused with &quot;net/head"));
}

TEST_CASE("the casts of a page are those of the ledger") {
  const Sequential model = mixed();
  model.compile({.optimizer = "adam", .loss = "mse"});
  const CastLedger ledger = model.cast_ledger();
  const std::string casts = sectionOf(pageOf(model, {.time_kernels = false}), "casts");
  CHECK_THAT(casts, Contains(fmt::format("has {} casts: {} fused", ledger.rows.size(), ledger.fused)));
  const size_t every = casts.find("Every cast");
  REQUIRE(every != std::string::npos);
  CHECK(countOf(casts.substr(every), "<tr><td>") + countOf(casts.substr(every), "<tr><td data-key") ==
        ledger.rows.size());
}

TEST_CASE("the page names the keys of a policy map that decide for no layer") {
  const std::string policies = sectionOf(pageOf(mixed(), {.time_kernels = false}), "policies");
  CHECK_THAT(policies, Contains("<code>.*/head</code>") && Contains("Unused keys: <code>.*/nobody</code>") &&
                           !Contains("Unused keys: <code>.*/head</code>"));
}

TEST_CASE("a report changes no variable and no random state") {
  const Sequential model({Input({16}), Dense(8), Dropout(0.5), Dense(4)});
  model.compile({.optimizer = "adam", .loss = "mse"});
  train(model, 1);
  const auto bytes = [&] {
    std::string text;
    for (const Variable &variable : model.variables())
      text += variable.value().str();
    for (const Variable &variable : model.optimizer().variables())
      text += variable.value().str();
    return text;
  };
  const std::string before = bytes();
  pageOf(model);
  CHECK(bytes() == before);
}

TEST_CASE("the page of a model that is not built says why sections are missing") {
  const std::string page = pageOf(Sequential({Dense(2), Dense(1)}, {.name = "unbuilt"}));
  parseXml(page);
  CHECK_THAT(page, Contains("Sequential, not built, not compiled, not trained by fit()"));
  CHECK_THAT(sectionOf(page, "curves"), Contains("fit() has not finished an epoch"));
  CHECK_THAT(sectionOf(page, "kernels"),
             Contains("There is no compiled program: ") && Contains("has not seen an input"));
  CHECK_THAT(sectionOf(page, "layers"), Contains("not built"));
}

TEST_CASE("the page of a model without compile() shows the program of predict") {
  const Sequential model({Input({3}), Dense(2)});
  const std::string page = pageOf(model);
  parseXml(page);
  CHECK_THAT(sectionOf(page, "kernels"), Contains("The predict program launches"));
  CHECK_THAT(page, !Contains("<dt>Numerics"));
}

TEST_CASE("models without layers, structs of users and eager models have a page") {
  parseXml(pageOf(Sequential({}, {.name = "empty"})));
  const Model custom(Holding{}, {.name = "own"});
  CHECK_THAT(sectionOf(pageOf(custom), "graph"), Contains("not been called yet"));
  static_cast<void>(custom(Tensor::zeros(Shape{{2, 4}})));
  const std::string page = pageOf(custom);
  parseXml(page);
  CHECK_THAT(page, Contains("it has no graph of connections") && Contains("own/held"));
  const Sequential eager({Input({3}), Dense(2)});
  eager.compile({.loss = "mse", .run_eagerly = true});
  CHECK_THAT(sectionOf(pageOf(eager), "kernels"), Contains("runs eagerly"));
}

TEST_CASE("names with characters of markup are escaped in a page") {
  const Sequential model({Input({2}), Dense(1, {.name = "a<b>&\"c\" Ünïcode 層"})}, {.name = "<script><b>"});
  model.compile({.loss = "mse"});
  const std::string page = pageOf(model);
  parseXml(page);
  CHECK_THAT(page, Contains("a&lt;b&gt;&amp;&quot;c&quot; Ünïcode 層") && Contains("<h1>&lt;script&gt;&lt;b&gt;</h1>"));
  CHECK(countOf(page, "<script>") == 1);
}

TEST_CASE("losses that are not finite leave a page") {
  const Sequential model({Input({16}), Dense(4)});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  model.fit(Tensor::full(Shape{{8, 16}}, 1e30), Tensor::zeros(Shape{{8, 4}}), {.epochs = 2, .verbose = 0});
  const std::string page = pageOf(model);
  parseXml(page);
  CHECK_THAT(sectionOf(page, "curves"), Contains("no finite value"));
}

TEST_CASE("the page and the summary of a model that skips steps tell the scale, the count and the last fault") {
  const PolicyScope scope("mixed_float16");
  const Sequential model({Input({16}), Dense(4, {.name = "first"})}, {.name = "net"});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  CHECK_THAT(model.summary().text(), Contains(" Loss scale: 32768, 0 steps skipped\n"));
  model.fit(Tensor::full(Shape{{8, 16}}, 1e30), Tensor::zeros(Shape{{8, 4}}), {.epochs = 3, .verbose = 0});
  CHECK_THAT(model.summary().text(),
             Contains(" Loss scale: 4096, 3 steps skipped, the last one for the gradient of 'net/first/kernel'\n"));
  CHECK_THAT(model.summary().json(),
             Contains(R"("loss_scale":{"scale":4096.0,"skipped_steps":3,"last_fault":"net/first/kernel"})"));
  const std::string page = pageOf(model);
  parseXml(page);
  CHECK_THAT(page, Contains("<dt>Loss scale</dt><dd>4096</dd>") && Contains("<dt>Skipped steps</dt><dd>3</dd>") &&
                       Contains("<dt>Last fault, in the gradient of</dt><dd>net/first/kernel</dd>"));
  model.compile({.optimizer = "sgd", .loss = "mse", .auto_scale_loss = false});
  CHECK_THAT(model.summary().text(), !Contains("Loss scale"));
  CHECK_THAT(model.summary().json(), Contains(R"("loss_scale":null)"));
  CHECK_THAT(pageOf(model), !Contains("Loss scale"));
}

TEST_CASE("a report that cannot be written is one error with the file's name and changes nothing") {
  const TemporaryFolder folder;
  const Sequential model({Input({2}), Dense(1)});
  CHECK_THROWS_WITH(model.report(folder / "r.pdf"), Contains("must end with .html, got") && Contains("r.pdf"));
  CHECK_THROWS_WITH(model.report(folder / "none/r.html"), Contains("none/r.html"));
  CHECK(folder.entries() == 0);
}
