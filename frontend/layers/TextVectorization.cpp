// TextVectorization: tokenization and lookup of texts on the host.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/HostSteps.h"
#include "frontend/layers/FieldsPreprocessing.h"
#include "frontend/layers/HostBody.h"
#include "frontend/layers/LookupState.h"
#include "frontend/layers/Tokens.h"
#include "frontend/layers/VocabularyState.h"
#include "runtime/TensorAccess.h"
#include "runtime/base/FloatMode.h"
#include <algorithm>
#include <fmt/format.h>

namespace halftone::layers {
using namespace detail;

namespace {

LookupRules<std::string> textRulesOf(const TextVectorizationArgs &args) {
  return {.caller = "TextVectorization",
          .maxTokens = args.max_tokens,
          .mask = "",
          .unknown = "[UNK]",
          .mode = args.output_mode,
          .pads = args.pad_to_max_tokens};
}

/// The immutable part of the layer that its host steps need, which programs and threads may share.
struct Vectorizer {
  std::shared_ptr<const LookupTable<std::string>> table;
  TokenRules tokens;
  HostEncoding encoding;
  std::optional<int64_t> length;

  Tensor operator()(const std::vector<Tensor> &inputs) const;

private:
  Tensor padded(const std::vector<int64_t> &indices, const std::vector<size_t> &rows) const;
};

bool splits(const TokenRules &rules) { return rules.split.function() || !rules.split.word().empty(); }

/// value_error unless the shape is valid for texts: (batch,) or (batch, 1) if they are split, otherwise (batch,) or
/// (batch, tokens).
void requireTexts(const Shape &shape, bool isSplit) {
  const bool fits =
      isSplit ? shape.rank() == 1 || (shape.rank() == 2 && shape[1] == 1) : shape.rank() == 1 || shape.rank() == 2;
  if (fits)
    return;
  const std::string received = fmt::format("Received: inputs.shape={} with rank={}", shape.str(), shape.rank());
  if (isSplit)
    throw Error(ErrorKind::value_error,
                "When using `TextVectorization` to tokenize strings, the input rank must be 1 or "
                "the last shape dimension must be 1. " +
                    received);
  throw Error(ErrorKind::value_error,
              "A TextVectorization that does not split takes inputs of 1 or 2 axes. " + received);
}

/// Calls `take` with the tokens of each text.
template <class F> void forEachText(const TokenRules &rules, const Tensor &texts, F take) {
  requireTexts(texts.shape(), splits(rules));
  Tokenizer tokenizer(rules);
  const std::span<const std::string> strings = TensorAccess::strings(texts);
  if (splits(rules)) {
    for (const std::string &text : strings)
      take(tokenizer.tokens(text));
    return;
  }
  const auto rows = static_cast<size_t>(texts.shape()[0]);
  const size_t width = rows ? strings.size() / rows : 0;
  for (size_t row = 0; row < rows; ++row) {
    std::vector<std::string> tokens;
    for (const std::string &text : strings.subspan(row * width, width))
      tokens.push_back(tokenizer.standardized(text));
    take(tokenizer.joined({tokens.begin(), tokens.end()}));
  }
}

Tensor Vectorizer::operator()(const std::vector<Tensor> &inputs) const {
  std::vector<int64_t> indices;
  std::vector<size_t> rows{0};
  forEachText(tokens, inputs[0], [&](const std::vector<std::string_view> &row) {
    for (const std::string_view token : row)
      indices.push_back(table->indexOf(token));
    rows.push_back(indices.size());
  });
  return encoding.mode == OutputMode::int_ ? padded(indices, rows) : encoding.ofRows(indices, rows);
}

/// One row of indices per text, padded with 0 at the end.
Tensor Vectorizer::padded(const std::vector<int64_t> &indices, const std::vector<size_t> &rows) const {
  size_t width = 0;
  for (size_t row = 1; row < rows.size(); ++row)
    width = std::max(width, rows[row] - rows[row - 1]);
  if (length)
    width = static_cast<size_t>(*length);
  Tensor matrix = Tensor::zeros({rows.size() - 1, width}, DType::int64);
  const std::span<int64_t> to = matrix.mutable_span<int64_t>();
  for (size_t row = 1; row < rows.size(); ++row)
    std::copy_n(indices.begin() + static_cast<int64_t>(rows[row - 1]), std::min(width, rows[row] - rows[row - 1]),
                to.begin() + static_cast<int64_t>((row - 1) * width));
  return matrix;
}

class TextBody final : public BodyOf<TextVectorizationOptions>, public HostBody, public VocabularyState {
public:
  explicit TextBody(const TextVectorizationOptions &options)
      : BodyOf(options), tokens_{options.standardize, options.split, options.ngrams}, state_(textRulesOf(options)) {}
  LookupState<std::string> &state() { return state_; }
  void begin();

  Values call(const Values &inputs, const CallContext &) override {
    if (inputs[0].dtype() != DType::string)
      throw Error(ErrorKind::type_error,
                  fmt::format("TextVectorization takes strings, but it received {}", name(inputs[0].dtype())));
    requireTexts(inputs[0].shape(), splits(tokens_));
    const HostEncoding encoding = state_.encoding();
    const bool isInt = encoding.mode == OutputMode::int_;
    const ValueSpec result{
        {inputs[0].shape()[0], isInt ? options_.output_sequence_length.value_or(-1) : encoding.depth}, encoding.dtype};
    return hostStep({.caller = "TextVectorization",
                     .inputs = {inputs[0]},
                     .result = result,
                     .compute = vectorizer(),
                     .owner = this});
  }
  std::optional<Tensor> onHost(const std::vector<Tensor> &inputs) const override { return vectorizer()(inputs); }
  DType inputDType() const override { return DType::string; }
  void get_config(Config &config) const override {
    TextVectorizationOptions options = options_;
    options.vocabularySize = state_.table()->size();
    writeFields(config, options, layerFields<TextVectorizationOptions>);
  }

  std::vector<std::string> paths() const override { return {"", "_lookup_layer"}; }
  Tensor idfWeights() const override { return state_.idfWeights(); }
  std::optional<std::string> vocabularyText() const override { return state_.vocabularyText(); }
  bool readsVocabulary() const override { return state_.readsVocabulary(); }
  std::string summary() const override { return state_.summary(); }
  void restore(const Tensor &idfWeights, std::optional<std::string_view> vocabulary) override {
    state_.restore(idfWeights, vocabulary);
  }
  void count(const Tensor &texts, TermCounter<std::string> &counter) const {
    forEachText(tokens_, texts, [&](const std::vector<std::string_view> &row) {
      for (const std::string_view token : row)
        counter.add(token);
      counter.endDocument();
    });
  }

private:
  Vectorizer vectorizer() const {
    return {state_.table(), tokens_, state_.encoding(), options_.output_sequence_length};
  }
  TokenRules tokens_;
  LookupState<std::string> state_;
};

/// value_error unless `word` is "" or one of `words`.
void requireTextWord(const char *argument, const std::string &word, std::initializer_list<const char *> words) {
  if (!word.empty() && std::ranges::find(words, word) == words.end())
    throw Error(
        ErrorKind::value_error,
        fmt::format("Unknown value for `{}` argument of layer TextVectorization. If restoring a serialized layer, "
                    "allowed are: ('{}'). Received: {}='{}'",
                    argument, fmt::join(words, "', '"), argument, word));
}

void TextBody::begin() {
  requireTextWord("standardize", options_.standardize.word(),
                  {"lower_and_strip_punctuation", "lower", "strip_punctuation"});
  requireTextWord("split", options_.split.word(), {"whitespace", "character"});
  const bool isInt = options_.output_mode == OutputMode::int_;
  if (!isInt && options_.output_sequence_length)
    throw Error(ErrorKind::value_error,
                fmt::format("`output_sequence_length` must not be set if `output_mode` is not 'int'. Received "
                            "output_sequence_length={}.",
                            *options_.output_sequence_length));
  if (options_.output_sequence_length.value_or(0) < 0)
    throw Error(ErrorKind::value_error, fmt::format("`output_sequence_length` must not be negative. Received: "
                                                    "output_sequence_length={}",
                                                    *options_.output_sequence_length));
  const auto requireCount = [](int64_t count) {
    if (count < 1)
      throw Error(ErrorKind::value_error, fmt::format("`ngrams` must be positive. Received: ngrams={}", count));
  };
  requireCount(options_.ngrams.most().value_or(1));
  std::ranges::for_each(options_.ngrams.counts(), requireCount);
  if (options_.output_mode == OutputMode::one_hot && splits(tokens_))
    throw Error(ErrorKind::value_error, "`output_mode` 'one_hot' encodes each token of a text, and texts have "
                                        "different numbers of tokens: use 'multi_hot' or 'count'");
  state_.begin(options_.vocabulary, options_.idf_weights);
}

TextBody &textBodyOf(LayerImpl &impl) { return static_cast<TextBody &>(*impl.body); }
/// Calls `f` with the body; errors name the layer.
template <class F> void onTexts(LayerImpl &impl, F f) {
  const FloatMode mode;
  try {
    f(textBodyOf(impl));
  } catch (const Error &error) {
    rethrowWithLayer(error, impl);
  }
}

} // namespace

TextVectorization::TextVectorization(const TextVectorizationArgs &args, Where where)
    : Layer(std::make_unique<TextBody>(TextVectorizationOptions{args, {}}), "TextVectorization",
            {.trainable = args.trainable, .dtype = args.dtype, .autocast = false, .name = args.name}, where) {
  onTexts(*impl_, [](TextBody &body) { body.begin(); });
}

void TextVectorization::adapt(const Tensor &data) const {
  onTexts(*impl_, [&](TextBody &body) {
    body.state().requireAdaptable(name());
    TermCounter<std::string> counter;
    body.count(data, counter);
    body.state().finish(counter);
  });
}
void TextVectorization::adapt(const Dataset &data, std::optional<int64_t> steps) const {
  onTexts(*impl_, [&](TextBody &body) {
    body.state().requireAdaptable(name());
    TermCounter<std::string> counter;
    forEachInput(data, steps, [&](const Tensor &batch) { body.count(batch, counter); });
    body.state().finish(counter);
  });
}
std::vector<std::string> TextVectorization::get_vocabulary(bool include_special_tokens) const {
  return textBodyOf(*impl_).state().table()->vocabulary(include_special_tokens);
}
int64_t TextVectorization::vocabulary_size() const { return textBodyOf(*impl_).state().table()->size(); }
void TextVectorization::set_vocabulary(const Vocabulary<std::string> &vocabulary,
                                       const std::vector<double> &idf_weights) const {
  onTexts(*impl_, [&](TextBody &body) { body.state().set(vocabulary, idf_weights); });
}

} // namespace halftone::layers

halftone::Layer halftone::detail::TextVectorizationOptions::layer() const {
  layers::TextVectorization layer(*this);
  layers::textBodyOf(*layer.impl()).state().freeze(vocabularySize);
  return layer;
}
