// String inputs: a model that vectorizes its own text, and one of categories; both are saved, loaded and called again.
// SPDX-License-Identifier: Apache-2.0
#include <halftone/Halftone.h>
#include <iostream>
using namespace halftone;
using namespace halftone::layers;

static void require(bool holds, const char *what) {
  if (holds)
    return;
  std::cerr << what << '\n';
  std::exit(1);
}

static void reviews() {
  Tensor texts(std::vector<std::string>{"A great film!", "dull, and far too long", "great cast; dull plot"});
  Tensor labels({1, 0, 1}, int32);
  TextVectorization vectorize({.max_tokens = 1000, .output_sequence_length = 16});
  vectorize.adapt(texts);
  std::cout << vectorize.get_vocabulary()[2] << '\n' << vectorize(texts) << '\n'; // on data, immediately
  require(vectorize.get_vocabulary()[2] == "great", "the first of two most frequent words in falling order is 'great'");

  Input text({}, {.dtype = DType::string, .name = "text"});
  Value h = Embedding(vectorize.vocabulary_size(), 32, {.mask_zero = true})(vectorize(text));
  Model model({text}, {Dense(1, {.activation = "sigmoid"})(GlobalAvgPool1D()(h))});
  model.compile({.optimizer = "adam", .loss = "binary_crossentropy"});
  model.fit(texts, labels, {.epochs = 2, .verbose = 0});
  model.save("reviews.keras");
  const std::vector<float> before = model.predict(texts, {.verbose = 0}).to_vector<float>();
  const Model loaded = load_model("reviews.keras");
  require(loaded.predict(texts, {.verbose = 0}).to_vector<float>() == before,
          "a loaded model reads text as the saved one");
}

static void categories() {
  Input city({}, {.dtype = DType::string, .name = "city"}), age({}, {.name = "age"});
  Value a = StringLookup({.vocabulary = {"berlin", "rome"}, .output_mode = "one_hot"})(city);
  Value b = CategoryEncoding(4, {.output_mode = "one_hot"})(Discretization({.bin_boundaries = {18, 40, 65}})(age));
  Value c = Hashing(8, {.output_mode = "one_hot"})(city);
  Model table({city, age}, {Dense(1)(Concatenate()({a, b, c}))});
  const Tensors rows{{"city", Tensor(std::vector<std::string>{"rome", "oslo"})}, {"age", Tensor({30, 70})}};
  const std::vector<float> before = table.predict(rows, {.verbose = 0}).to_vector<float>();
  table.save("table.keras");
  require(load_model("table.keras").predict(rows, {.verbose = 0}).to_vector<float>() == before,
          "a loaded model encodes categories as the saved one");
}

int main() {
  reviews();
  categories();
}
