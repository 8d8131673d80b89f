// Layers of strings and categories reproduce Keras's configs, vocabularies and outputs for recorded rows.
// SPDX-License-Identifier: Apache-2.0
#include "tests/frontend/RecordedJson.h"

using namespace halftone;
using namespace halftone::test;

namespace {

const std::vector<std::string> &corpus() {
  static const std::vector<std::string> texts =
      Json::parse(recordedLines("strings.jsonl").at(0)).at("corpus").get<std::vector<std::string>>();
  return texts;
}

template <class T> void listLeaves(const Json &value, std::vector<T> &leaves) {
  if (!value.is_array())
    leaves.push_back(value);
  else
    for (const Json &entry : value)
      listLeaves(entry, leaves);
}
Tensor dataOf(const Json &value, bool isCorpus, const std::string &dtype) {
  if (isCorpus) {
    const auto first = corpus().begin() + value[0].get<int64_t>();
    return Tensor(std::vector<std::string>(first, first + value[1].get<int64_t>()));
  }
  if (dtype.starts_with("float"))
    return tensorOf(value, dtype);
  std::vector<int64_t> dims;
  for (const Json *list = &value; list->is_array(); list = &(*list)[0])
    dims.push_back(std::ssize(*list));
  const Shape shape(std::move(dims));
  std::vector<std::string> strings;
  std::vector<int64_t> integers; // beyond the range of a float
  if (dtype == "string")
    listLeaves(value, strings);
  else
    listLeaves(value, integers);
  return dtype == "string" ? Tensor(std::move(strings), shape) : Tensor(std::move(integers), shape);
}

std::vector<std::string> keysOf(const Json &object) {
  std::vector<std::string> keys;
  for (const auto &[key, value] : object.items())
    keys.push_back(key);
  return keys;
}

Layer layerOf(const Json &row, const char *config) {
  Config saved;
  saved.set("class_name", row.at("layer").get<std::string>());
  saved.set("config", Config::parse(row.at(config).dump()));
  return layers::deserialize(saved);
}

/// Calls adapt() as the row does, on the whole data or on a dataset of batches.
template <class L> void adaptAs(const Layer &layer, const Json &row, const std::string &dtype) {
  const auto typed = static_cast<const L &>(layer);
  const Tensor data = dataOf(row.at("adapt"), row.at("adapt_is_corpus"), dtype);
  if (row.at("batches").is_null())
    typed.adapt(data);
  else
    typed.adapt(Dataset(data).batch(row.at("batches").get<int64_t>()));
}
void adapt(const Layer &layer, const Json &row) {
  const std::string name = row.at("layer");
  if (name == "TextVectorization")
    adaptAs<layers::TextVectorization>(layer, row, "string");
  else if (name == "StringLookup")
    adaptAs<layers::StringLookup>(layer, row, "string");
  else if (name == "IntegerLookup")
    adaptAs<layers::IntegerLookup>(layer, row, "int64");
  else
    adaptAs<layers::Discretization>(layer, row, "float32");
}
Json vocabularyOf(const Layer &layer, const std::string &name) {
  if (name == "TextVectorization")
    return static_cast<const layers::TextVectorization &>(layer).get_vocabulary();
  if (name == "StringLookup")
    return static_cast<const layers::StringLookup &>(layer).get_vocabulary();
  return static_cast<const layers::IntegerLookup &>(layer).get_vocabulary();
}

void checkOutput(const Tensor &output, const Json &row) {
  std::vector<int64_t> dims = row.at("output_shape");
  CHECK(output.shape() == Shape(dims));
  if (output.dtype() == DType::string) {
    std::vector<std::string> expected;
    listLeaves(row.at("output"), expected);
    CHECK(output.to_vector<std::string>() == expected);
    return;
  }
  const bool isInt = row.at("before").at("output_mode") == "int";
  CHECK(name(output.dtype()) == (isInt ? row.at("output_dtype").get<std::string>() : "float32"));
  CHECK(distance(numbers(output), elementsOf(row.at("output"))) <=
        (row.at("before").at("output_mode") == "tf_idf" ? 1e-6 : 0));
}

/// Calls the row's layer on data directly, and on Inputs of a model.
void check(const Json &row) {
  const Layer layer = layerOf(row, "before");
  if (row.contains("adapt"))
    adapt(layer, row);
  const std::string name = row.at("layer");
  if (row.contains("vocabulary"))
    CHECK(vocabularyOf(layer, name) == row.at("vocabulary"));
  const Json after = Json::parse(layer.get_config().dump());
  if (name != "HashedCrossing") // its constructor in Keras accepts the arguments of every layer and drops them
    CHECK(layer.get_config().keys() == keysOf(row.at("after")));
  for (const auto &[key, value] : row.at("after").items())
    if (key == "bin_boundaries" && !value.is_null())
      CHECK(distance(elementsOf(after.at(key)), elementsOf(value)) <= 1e-7);
    else if (key != "dtype") // Keras gives an object or a name
      CHECK(after.at(key) == value);
  std::vector<Tensor> inputs;
  if (row.at("inputs_are_corpus").get<bool>())
    inputs.push_back(dataOf(row.at("inputs"), true, "string"));
  else
    for (size_t i = 0; i < row.at("inputs").size(); ++i)
      inputs.push_back(dataOf(row.at("inputs")[i], false, row.at("input_dtypes")[i]));
  checkOutput(Tensors(layer(Tensors(inputs)))[0], row);
  if (row.at("before").value("invert", false) && name == "StringLookup")
    return;
  std::vector<Value> symbols;
  for (const Tensor &input : inputs) {
    std::vector<int64_t> dims = input.shape().dims();
    dims.erase(dims.begin());
    symbols.push_back(Input(Shape(dims), {.dtype = input.dtype()}));
  }
  const Value result = layer(Values(symbols));
  std::vector<int64_t> dims = row.at("output_shape");
  if (inputs[0].shape().rank() > 1 || row.at("before").at("output_mode") == "int" || name == "TextVectorization") {
    const Model model(Values(symbols), {result});
    checkOutput(model.predict(Tensors(inputs), {.batch_size = 4096, .verbose = 0}), row);
    CHECK(result.shape().rank() == std::ssize(dims));
  }
}

} // namespace

TEST_CASE("Layers of strings and categories give Keras's vocabularies, outputs and configs") {
  const std::vector<std::string> lines = recordedLines("strings.jsonl");
  for (size_t i = 1; i < lines.size(); ++i) {
    const Json row = Json::parse(lines[i]);
    INFO("row " << i << ": " << row.at("layer") << " " << row.at("before").dump());
    check(row);
  }
  CHECK(lines.size() == 82);
}

TEST_CASE("A model that Keras saved with texts, cities and ages inside predicts as Keras does, and is written again") {
  const std::string folder = HALFTONE_SOURCE_DIR "/tests/data/keras/archives/";
  const Json facts = Json::parse(std::ifstream(folder + "strings.json"));
  const Tensors data{{"text", dataOf(facts.at("text"), false, "string")},
                     {"city", dataOf(facts.at("city"), false, "string")},
                     {"age", dataOf(facts.at("age"), false, "float32")}};
  const Model model = load_model(folder + "strings.keras");
  const std::vector<double> expected = elementsOf(facts.at("output"));
  CHECK(distance(numbers(model.predict(data, {.verbose = 0})), expected) <= 1e-6);
  model.save("strings_again.keras", {.overwrite = true});
  CHECK(distance(numbers(load_model("strings_again.keras").predict(data, {.verbose = 0})), expected) <= 1e-6);
}
