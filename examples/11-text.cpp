// Classifies reviews as praise or blame with a transformer on strings: trains, saves, loads, and answers typed lines.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <halftone/Halftone.h>
#include <iostream>
#include <map>
#include <string>
#include <vector>

using namespace halftone;
using namespace halftone::layers;

namespace {

using Options = std::map<std::string, std::string>;

/// A random number generator that depends on its seed alone.
class Draws {
public:
  explicit Draws(uint64_t seed) : state_(seed) {}
  size_t below(size_t count) { // SplitMix64
    uint64_t bits = state_ += 0x9e3779b97f4a7c15;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    return static_cast<size_t>((bits ^ (bits >> 31)) % count);
  }
  const std::string &of(const std::vector<std::string> &words) { return words[below(words.size())]; }

private:
  uint64_t state_;
};

struct Clause {
  std::string text;
  bool praises;
};

/// A clause such as "the plot was not dull". A negation inverts the sentiment.
Clause clause(Draws &draws) {
  static const std::vector<std::string> subjects{"plot",     "cast",        "music",     "ending",
                                                 "dialogue", "camera work", "first half"},
      good{"great", "moving", "clever", "wonderful", "fresh", "funny", "gripping"},
      bad{"dull", "shallow", "tedious", "awful", "predictable", "lifeless", "clumsy"},
      degrees{"", "", "very ", "really ", "quite "};
  const bool isGood = draws.below(2), isNegated = draws.below(3) == 0;
  return {"the " + draws.of(subjects) + " was " + (isNegated ? "not " : "") + draws.of(degrees) +
              draws.of(isGood ? good : bad),
          isGood != isNegated};
}

struct Reviews {
  std::vector<std::string> texts;
  std::vector<float> labels; // 1: praise
};

/// Reviews of one or two clauses. The sentiment is that of the clause after "but", or of the one before "although".
Reviews write(size_t count, uint64_t seed) {
  Draws draws(seed);
  Reviews reviews;
  while (reviews.texts.size() < count) {
    const Clause first = clause(draws), second = clause(draws);
    const size_t form = draws.below(3);
    if (form > 0 && first.praises == second.praises)
      continue;
    reviews.texts.push_back(form == 0   ? first.text + "!"
                            : form == 1 ? first.text + ", but " + second.text + "."
                                        : first.text + ", although " + second.text + ".");
    reviews.labels.push_back(form == 1 ? second.praises : first.praises);
  }
  return reviews;
}

/// One transformer encoder block over token and position embeddings; padding is masked.
Model classifier(const TextVectorization &vectorize, int64_t length) {
  constexpr int64_t width = 32;
  Input text({}, {.dtype = DType::string, .name = "text"});
  Value x = Embedding(vectorize.vocabulary_size(), width, {.mask_zero = true})(vectorize(text));
  x = Add()({x, PositionEmbedding(length)(x)});
  const Value attended = MultiHeadAttention(4, width / 4)(x, x);
  x = LayerNormalization()(Add()({x, attended}));
  const Value mixed = Dense(width)(Dense(2 * width, {.activation = "gelu"})(x));
  x = LayerNormalization()(Add()({x, mixed}));
  return Model({text}, {Dense(1, {.activation = "sigmoid"})(Dropout(0.1)(GlobalAveragePooling1D()(x)))},
               {.name = "critic"});
}

void answer(const Model &model, const std::string &text) {
  const double praise = model.predict(Tensor(std::vector<std::string>{text}), {.verbose = 0}).item();
  std::printf("%-64s %s (%.2f)\n", text.c_str(), praise > 0.5 ? "praise" : "blame", praise);
}

void run(const Options &options, int64_t epochs, bool asks) {
  set_random_seed(1);
  constexpr int64_t length = 20;
  const Reviews train = write(6000, 1), test = write(1000, 2);
  const Tensor texts(train.texts), labels(train.labels, {static_cast<int64_t>(train.labels.size()), 1});
  TextVectorization vectorize({.max_tokens = 200, .output_sequence_length = length});
  vectorize.adapt(texts);
  std::printf("%lld words\n", static_cast<long long>(vectorize.vocabulary_size()));

  const Model model = classifier(vectorize, length);
  model.compile({.optimizer = optimizers::Adam(2e-3), .loss = "binary_crossentropy", .metrics = {"accuracy"}});
  model.fit(texts, labels, {.batch_size = 64, .epochs = epochs, .verbose = 0});
  model.save(options.at("--model"), {.overwrite = true});

  const Model loaded = load_model(options.at("--model")); // takes strings; the file contains the vocabulary
  const Tensor shown(test.texts), truth(test.labels, {static_cast<int64_t>(test.labels.size()), 1});
  std::printf("accuracy on new reviews: %.3f\n", loaded.evaluate(shown, truth, {.verbose = 0})["accuracy"]);
  for (const char *text :
       {"The cast was great, but the plot was not clever.", "The plot was not clever, but the cast was great.",
        "The ending was awful, although the music was wonderful!"})
    answer(loaded, text);
  for (std::string line; asks && std::getline(std::cin, line);)
    answer(loaded, line);
}

int usage(const std::string &complaint) {
  std::fprintf(stderr, "11-text: %s\nusage: 11-text [--epochs N] [--model FILE] [--ask yes|no]\n", complaint.c_str());
  return 2;
}

} // namespace

int main(int argc, char **argv) {
  Options options{{"--epochs", "8"}, {"--model", "critic.keras"}, {"--ask", "yes"}};
  for (int i = 1; i < argc; i += 2) {
    const auto option = options.find(argv[i]);
    if (option == options.end() || i + 1 == argc)
      return usage(std::string("expected an option and its value, got '") + argv[i] + "'");
    option->second = argv[i + 1];
  }
  char *end = nullptr;
  const int64_t epochs = std::strtoll(options["--epochs"].c_str(), &end, 10);
  if (epochs < 1 || *end)
    return usage("--epochs expects a whole number from 1, got '" + options["--epochs"] + "'");
  try {
    run(options, epochs, options["--ask"] == "yes");
  } catch (const Error &error) {
    std::fprintf(stderr, "11-text: %s\n", error.what());
    return 1;
  }
}
