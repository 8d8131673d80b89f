// Trains a character-level GPT on Shakespeare's plays for some minutes, draws its loss curves and generates text.
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <halftone/Halftone.h>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>

using namespace halftone;
using namespace halftone::layers;

namespace {

using Options = std::map<std::string, std::string>;

/// Throws std::invalid_argument unless the option is a number of at least `least`.
double number(const Options &options, const std::string &name, double least) {
  const std::string &text = options.at(name);
  char *end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end || !(value >= least) || !std::isfinite(value))
    throw std::invalid_argument(name + " expects a number of at least " + std::to_string(least) + ", got '" + text +
                                "'");
  return value;
}
int64_t whole(const Options &options, const std::string &name, int64_t least = 1) {
  const double value = number(options, name, static_cast<double>(least));
  if (value != std::floor(value) || value > 1e15)
    throw std::invalid_argument(name + " expects a whole number, got '" + options.at(name) + "'");
  return static_cast<int64_t>(value);
}

/// A text as tokens. A token is the index of a character in the sorted list of distinct characters.
struct Text {
  std::string characters;
  std::vector<int32_t> tokens;

  explicit Text(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (!file || text.empty())
      throw Error(ErrorKind::io_error, "cannot read a text from '" + path + "'");
    characters = text;
    std::ranges::sort(characters);
    characters.erase(std::unique(characters.begin(), characters.end()), characters.end());
    for (char character : text)
      tokens.push_back(static_cast<int32_t>(characters.find(character)));
  }
  Tensor encode(const std::string &text) const {
    std::vector<int32_t> tokens;
    for (char character : text)
      if (const size_t token = characters.find(character); token != std::string::npos)
        tokens.push_back(static_cast<int32_t>(token));
      else
        throw Error(ErrorKind::value_error,
                    std::string("the text does not have the character '") + character + "' of --prompt");
    return Tensor(std::move(tokens), {text.size()});
  }
  std::string decode(const Tensor &tokens) const {
    std::string text;
    for (int32_t token : tokens.to_vector<int32_t>())
      text += characters.at(static_cast<size_t>(token));
    return text;
  }
};

/// Windows of `length` tokens, with the same windows shifted by one token as targets.
struct Windows {
  std::vector<int32_t> tokens;
  int64_t length, batch;

  size_t places() const { return tokens.size() - static_cast<size_t>(length); }
  /// The windows of `steps` tokens that begin at `starts`; `steps` is at most `length`.
  Batch at(const std::vector<size_t> &starts, int64_t steps) const {
    std::vector<int32_t> x, y;
    for (size_t start : starts) {
      const auto from = tokens.begin() + static_cast<int64_t>(start);
      x.insert(x.end(), from, from + steps);
      y.insert(y.end(), from + 1, from + 1 + steps);
    }
    const Shape shape{starts.size(), steps};
    return {.x = Tensor(std::move(x), shape), .y = Tensor(std::move(y), shape)};
  }
  /// An endless dataset of batches of random windows. While `areShort` returns true, and if the length is a multiple of
  /// 4, a batch has four times as many windows of a quarter of the length: with a short context the model learns sooner
  /// which tokens matter. It learns the later positions afterwards; until then the validation loss, computed on full
  /// windows, stays high.
  Dataset drawn(uint64_t seed, const std::function<bool()> &areShort) const {
    return Dataset::from_generator([windows = *this, areShort, engine = std::mt19937_64(seed)] {
      return [windows, areShort, engine]() mutable -> std::optional<Batch> {
        const int64_t parts = windows.length % 4 == 0 && areShort() ? 4 : 1;
        std::vector<size_t> starts(static_cast<size_t>(windows.batch * parts));
        for (size_t &start : starts)
          start = engine() % windows.places();
        return windows.at(starts, windows.length / parts);
      };
    });
  }
  /// Batches of consecutive windows, without an incomplete one at the end of the text.
  Dataset inOrder() const {
    const int64_t count = static_cast<int64_t>(places() - 1) / (length * batch) + 1;
    return Dataset::from_generator(
        [windows = *this] {
          return [windows, next = size_t{0}]() mutable -> std::optional<Batch> {
            std::vector<size_t> starts;
            for (; starts.size() < static_cast<size_t>(windows.batch) && next < windows.places();
                 next += static_cast<size_t>(windows.length))
              starts.push_back(next);
            return starts.empty() ? std::nullopt : std::optional(windows.at(starts, windows.length));
          };
        },
        count);
  }
};

/// Measures training time in minutes from the end of the first step, so that compilation does not count.
class Clock {
public:
  explicit Clock(double end) : end_(end) {}
  void start() {
    if (!began_)
      began_ = std::chrono::steady_clock::now();
  }
  double now() const {
    using Minutes = std::chrono::duration<double, std::ratio<60>>;
    return began_ ? Minutes(std::chrono::steady_clock::now() - *began_).count() : 0.0;
  }
  double end() const { return end_; }
  double share() const { return std::min(now() / end_, 1.0); }

private:
  double end_;
  std::optional<std::chrono::steady_clock::time_point> began_;
};

/// The lines of the chart: the mean training loss since the last validation, and the validation loss.
enum : size_t { training, validation };

/// Stops training when the time is up, and shows the progress.
class Progress : public Callback {
public:
  Progress(LineChart &chart, std::shared_ptr<Clock> clock, int64_t tokensPerStep)
      : chart_(&chart), clock_(std::move(clock)), tokensPerStep_(tokensPerStep) {}
  void on_epoch_begin(int64_t, const Logs &) override { timeSteps(); }
  void on_train_batch_end(int64_t, const Logs &logs) override {
    if (++steps_ == 1) {
      clock_->start();
      timeSteps();
    }
    ended_ = clock_->now();
    if (clock_->share() == 1.0)
      model().stop_training();
    if (ended_ - drawn_ < 1.0 / 60)
      return;
    drawn_ = ended_;
    print(logs["loss"]);
  }
  void on_epoch_end(int64_t, Logs &logs) override {
    const double trained = logs["loss"], validated = logs["val_loss"];
    print(trained);
    std::printf(" - validation loss: %.4f\n", validated);
    std::fflush(stdout);
    chart_->lines[training].points.emplace_back(std::min(clock_->now(), clock_->end()), trained);
    chart_->lines[validation].points.emplace_back(std::min(clock_->now(), clock_->end()), validated);
  }

private:
  void timeSteps() {
    began_ = ended_ = drawn_ = clock_->now();
    stepsBefore_ = steps_;
  }
  void print(double loss) const {
    constexpr int cells = 20;
    const int full = static_cast<int>(cells * clock_->share());
    std::string bar;
    for (int i = 0; i < cells; ++i)
      bar += i < full ? "━" : "─";
    const double seconds = 60 * (ended_ - began_);
    std::printf("\r%s %.1f of %.3g min - step %lld - %.0f tokens/s - loss: %.4f", bar.c_str(), clock_->now(),
                clock_->end(), static_cast<long long>(steps_),
                seconds > 0 ? static_cast<double>((steps_ - stepsBefore_) * tokensPerStep_) / seconds : 0.0, loss);
    std::fflush(stdout);
  }
  LineChart *chart_;
  std::shared_ptr<Clock> clock_;
  int64_t tokensPerStep_, steps_ = 0, stepsBefore_ = 0;
  double began_ = 0.0, ended_ = 0.0, drawn_ = 0.0; // minutes: of the steps since validation; of the bar
};

struct Sizes {
  int64_t layers, width, heads, length;
  double dropout;
};

/// A pre-norm transformer block: attention and a two-layer feed-forward network, each with a residual connection.
struct Block {
  LayerNormalization first{{.epsilon = 1e-5}}, second{{.epsilon = 1e-5}};
  MultiHeadAttention attention;
  Dense wide, narrow;
  Dropout afterAttention, afterNet;

  explicit Block(const Sizes &sizes)
      : attention(sizes.heads, sizes.width / sizes.heads), wide(4 * sizes.width, {.activation = "gelu"}),
        narrow(sizes.width), afterAttention(sizes.dropout), afterNet(sizes.dropout) {}
  Value call(const Value &x) const {
    const Value h = first(x), y = x + afterAttention(attention(h, h, {.use_causal_mask = true}));
    return y + afterNet(narrow(wide(second(y))));
  }
};

/// Maps tokens (batch, steps) to logits (batch, steps, vocabulary) of the next tokens.
Model gpt(int64_t vocabulary, const Sizes &sizes) {
  const Input tokens({none}, {.dtype = int32});
  Value x = Embedding(vocabulary, sizes.width)(tokens);
  x = x + PositionEmbedding(sizes.length, {.initializer = "uniform"})(x);
  for (int64_t i = 0; i < sizes.layers; ++i)
    x = Custom(Block(sizes))(x);
  x = LayerNormalization({.epsilon = 1e-5})(x);
  return Model({tokens}, {Dense(vocabulary, {.dtype = "float32"})(x)}, {.name = "gpt"});
}

/// Linear warmup for 2% of the time, then cosine decay to a tenth of the maximum.
double learningRate(double most, double share) {
  const double pi = std::acos(-1.0);
  return most * std::min(50 * share + 0.01, 0.55 + 0.45 * std::cos(pi * share));
}

LineChart train(const Model &model, const Options &options, const Windows &all) {
  const size_t cut = all.tokens.size() / 10 * 9;
  const Windows text{{all.tokens.begin(), all.tokens.begin() + static_cast<int64_t>(cut)}, all.length, all.batch};
  const Windows held{{all.tokens.begin() + static_cast<int64_t>(cut), all.tokens.end()}, all.length, all.batch};
  if (std::min(text.tokens.size(), held.tokens.size()) <= static_cast<size_t>(all.length))
    throw Error(ErrorKind::value_error, "the text is too short: a tenth of it must be longer than --length");
  const auto clock = std::make_shared<Clock>(number(options, "--minutes", 0.001));
  const double most = number(options, "--rate", 0.0);
  model.compile({.optimizer = optimizers::AdamW([=](int64_t) { return learningRate(most, clock->share()); },
                                                {.weight_decay = 0.1, .beta_2 = 0.99, .global_clipnorm = 1.0}),
                 .loss = losses::SparseCategoricalCrossentropy({.from_logits = true})});
  LineChart chart{
      options.at("--policy"), "minutes", {{"training loss", {}}, {"validation loss", {}, true}}, std::pair(1.0, 4.0)};
  std::vector<CallbackArg> callbacks{Progress(chart, clock, all.batch * all.length)};
  if (const std::string &path = options.at("--checkpoint"); !path.empty()) {
    if (std::filesystem::exists(path))
      std::printf("resumes from step %lld of %s\n", static_cast<long long>(Checkpoint(model).restore(path).step),
                  path.c_str());
    callbacks.emplace_back(callbacks::ModelCheckpoint(path));
  }
  const double shortShare = number(options, "--short", 0.0);
  model.fit(text.drawn(static_cast<uint64_t>(whole(options, "--seed", 0)), [=] { return clock->share() < shortShare; }),
            {.epochs = std::numeric_limits<int64_t>::max(),
             .verbose = 0,
             .callbacks = callbacks,
             .validation_data = held.inOrder(),
             .steps_per_epoch = whole(options, "--report"),
             .validation_steps = std::min<int64_t>(16, held.inOrder().cardinality().value())});
  const Logs logs = model.evaluate(held.inOrder(), {.verbose = 0});
  std::printf("%s: validation loss %.4f after %lld steps of %lld tokens, %.1f min\n", chart.title.c_str(), logs["loss"],
              static_cast<long long>(model.optimizer().iterations()), static_cast<long long>(all.batch * all.length),
              clock->end());
  std::fflush(stdout);
  return chart;
}

/// Generates `count` characters after the prompt and prints the text.
void write(const Model &model, const Text &text, const Tensor &prompt, int64_t count, int64_t seed) {
  const KeyValueCache cache(model);
  const auto sample = [&] {
    return generate(cache, prompt, {.max_new_tokens = count, .temperature = 0.8, .top_k = 40, .seed = seed});
  };
  const Tensor written = sample(); // the first call compiles
  const auto start = std::chrono::steady_clock::now();
  (void)sample();
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  std::printf("\n%s\n\n%lld characters, %.2f ms each\n", text.decode(written).c_str(), static_cast<long long>(count),
              time.count() / static_cast<double>(count));
}

void run(const Options &options) {
  const int64_t seed = whole(options, "--seed", 0);
  set_random_seed(seed);
  set_dtype_policy(options.at("--policy"));
  const Sizes sizes{whole(options, "--layers"), whole(options, "--width"), whole(options, "--heads"),
                    whole(options, "--length"), number(options, "--dropout", 0.0)};
  if (sizes.width % sizes.heads != 0)
    throw std::invalid_argument("--width must be a multiple of --heads");
  const Text text(options.at("--data"));
  const Tensor prompt = text.encode(options.at("--prompt"));
  if (prompt.size() < 1 || prompt.size() > sizes.length)
    throw std::invalid_argument("--prompt must have from 1 to --length characters");
  const int64_t count = std::min(whole(options, "--sample", 0), sizes.length + 1 - prompt.size());
  const std::string &mode = options.at("--rematerialize");
  const RematScope scope(mode == "none" ? std::nullopt : std::optional(mode));
  const Model model = gpt(static_cast<int64_t>(text.characters.size()), sizes);
  std::printf("%lld parameters\n", static_cast<long long>(model.count_params()));
  const LineChart chart = train(model, options, {text.tokens, sizes.length, whole(options, "--batch")});
  plot_charts({chart}, options.at("--svg"));
  if (count > 0)
    write(model, text, prompt, count, seed);
}

int usage(const std::string &complaint) {
  std::fprintf(
      stderr,
      "03-gpt: %s\nusage: 03-gpt [--policy NAME] [--minutes N] [--layers N] [--width N] [--heads N] "
      "[--length N] [--batch N] [--short N]\n              [--dropout N] [--rate N] [--report N] [--seed N] "
      "[--prompt TEXT] [--sample N] [--data FILE] [--svg FILE]\n              [--rematerialize none|full|activations] "
      "[--checkpoint FILE]\n",
      complaint.c_str());
  return 2;
}

} // namespace

int main(int argc, char **argv) {
  Options options{{"--policy", "float32"},
                  {"--minutes", "30"},
                  {"--layers", "6"},
                  {"--width", "384"},
                  {"--heads", "6"},
                  {"--length", "256"},
                  {"--batch", "4"},
                  {"--short", "0.3"}, // fraction of the time with windows of a quarter of --length
                  {"--dropout", "0"},
                  {"--rate", "0.001"},
                  {"--report", "100"}, // steps between validations
                  {"--seed", "1"},
                  {"--prompt", "ROMEO:"},
                  {"--sample", "200"}, // characters to generate at the end
                  {"--data", "examples/data/tinyshakespeare/input.txt"},
                  {"--svg", "gpt.svg"},
                  {"--rematerialize", "none"}, // RematScope mode: trades time for memory
                  {"--checkpoint", ""}};       // written at each validation; if it exists, training resumes from it
  for (int i = 1; i < argc; i += 2) {
    const auto option = options.find(argv[i]);
    if (option == options.end() || i + 1 == argc)
      return usage(std::string("expected an option and its value, got '") + argv[i] + "'");
    option->second = argv[i + 1];
  }
  try {
    run(options);
  } catch (const std::invalid_argument &error) {
    return usage(error.what());
  } catch (const Error &error) {
    std::fprintf(stderr, "03-gpt: %s\n", error.what());
    return 1;
  }
}
