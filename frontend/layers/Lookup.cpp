// StringLookup and IntegerLookup: table lookups of terms, and of indices, on the host.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/HostSteps.h"
#include "frontend/layers/FieldsPreprocessing.h"
#include "frontend/layers/HostBody.h"
#include "frontend/layers/LookupState.h"
#include "frontend/layers/VocabularyState.h"
#include "runtime/TensorAccess.h"
#include "runtime/base/FloatMode.h"
#include <fmt/format.h>

namespace halftone::layers {
using namespace detail;

namespace {

template <class Term> constexpr DType dtypeOfTerm = std::is_same_v<Term, std::string> ? DType::string : DType::int64;

/// type_error unless both dtypes are string, or neither is.
void requireKind(const std::string &caller, DType taken, DType received) {
  if ((received == DType::string) != (taken == DType::string))
    throw Error(ErrorKind::type_error, fmt::format("{} takes {}, but it received {}", caller,
                                                   taken == DType::string ? "strings" : "integers", name(received)));
}

/// The elements of a tensor as terms; `cast` owns converted integers.
template <class Term> std::span<const Term> termsOf(const std::string &caller, const Tensor &tensor, Tensor &cast) {
  requireKind(caller, dtypeOfTerm<Term>, tensor.dtype());
  if constexpr (std::is_same_v<Term, std::string>) {
    return TensorAccess::strings(tensor);
  } else {
    cast = TensorAccess::onHost(tensor).astype(DType::int64);
    return cast.span<int64_t>();
  }
}

template <class Term> Tensor tensorOfTerms(std::vector<Term> terms, const Shape &shape) {
  return Tensor(std::move(terms), shape);
}

template <class Options, class Term>
class LookupBody final : public BodyOf<Options>, public HostBody, public VocabularyState {
public:
  LookupBody(const Options &options, LookupRules<Term> rules)
      : BodyOf<Options>(options), rules_(std::move(rules)), state_(rules_) {}
  LookupState<Term> &state() { return state_; }
  void begin() { state_.begin(this->options_.vocabulary, this->options_.idf_weights); }
  const LookupRules<Term> &rules() const { return rules_; }

  Values call(const Values &inputs, const CallContext &) override {
    if (rules_.invert && std::is_same_v<Term, std::string>)
      throw Error(
          ErrorKind::not_implemented_error,
          "indices are converted to strings only for Tensors: call the layer with `invert` on the outputs of the "
          "model");
    requireKind(rules_.caller, takes(), inputs[0].dtype());
    return hostStep({.caller = rules_.caller,
                     .inputs = {inputs[0]},
                     .result = state_.encoding().specOf(rules_.caller, inputs[0].shape()),
                     .compute = computation(),
                     .owner = this});
  }
  std::optional<Tensor> onHost(const std::vector<Tensor> &inputs) const override { return computation()(inputs); }
  DType inputDType() const override { return takes(); }
  void get_config(Config &config) const override {
    Options options = this->options_;
    options.vocabularySize = state_.frozen();
    writeFields(config, options, layerFields<Options>);
  }

  std::vector<std::string> paths() const override { return {""}; }
  Tensor idfWeights() const override { return state_.idfWeights(); }
  std::optional<std::string> vocabularyText() const override { return state_.vocabularyText(); }
  bool readsVocabulary() const override { return state_.readsVocabulary(); }
  std::string summary() const override { return state_.summary(); }
  void restore(const Tensor &idfWeights, std::optional<std::string_view> vocabulary) override {
    state_.restore(idfWeights, vocabulary);
  }

  void count(const Tensor &data, bool isBatch, TermCounter<Term> &counter) const {
    Tensor cast;
    const std::span<const Term> terms = termsOf<Term>(rules_.caller, data, cast);
    const Shape shape = data.shape();
    // Keras treats a one-dimensional batch as one document, and other one-dimensional data as one document per term.
    const int64_t documents = shape.rank() == 0 || (isBatch && shape.rank() == 1) ? 1 : shape[0];
    const size_t length = documents ? terms.size() / static_cast<size_t>(documents) : 0;
    for (size_t i = 0; i < terms.size(); ++i) {
      counter.add(terms[i]);
      if ((i + 1) % length == 0)
        counter.endDocument();
    }
  }

private:
  DType takes() const { return rules_.invert ? DType::int64 : dtypeOfTerm<Term>; }
  HostFunction computation() const {
    if (rules_.invert)
      return [table = state_.table(), caller = rules_.caller](const std::vector<Tensor> &inputs) {
        Tensor cast;
        std::vector<Term> terms;
        for (const int64_t index : termsOf<int64_t>(caller, inputs[0], cast))
          terms.push_back(table->termAt(index));
        return tensorOfTerms(std::move(terms), inputs[0].shape());
      };
    return [table = state_.table(), encoding = state_.encoding(),
            caller = rules_.caller](const std::vector<Tensor> &inputs) {
      Tensor cast;
      std::vector<int64_t> indices;
      for (const Term &term : termsOf<Term>(caller, inputs[0], cast))
        indices.push_back(table->indexOf(term));
      return encoding.of(caller, indices, inputs[0].shape());
    };
  }

  LookupRules<Term> rules_;
  LookupState<Term> state_;
};
using StringBody = LookupBody<StringLookupOptions, std::string>;
using IntegerBody = LookupBody<IntegerLookupOptions, int64_t>;

template <class Body, class Term, class Options>
std::unique_ptr<LayerBody> lookupBody(const char *className, const Options &options) {
  LookupRules<Term> rules{.caller = className,
                          .maxTokens = options.max_tokens,
                          .unknowns = options.num_oov_indices,
                          .mask = options.mask_token,
                          .unknown = options.oov_token,
                          .invert = options.invert,
                          .mode = options.output_mode,
                          .pads = options.pad_to_max_tokens};
  return std::make_unique<Body>(options, std::move(rules));
}
template <class Args> LayerArgs lookupArgs(const Args &args) {
  return {.trainable = args.trainable, .dtype = args.dtype, .autocast = false, .name = args.name};
}

template <class Body> Body &lookupIn(LayerImpl &impl) { return static_cast<Body &>(*impl.body); }

/// Calls `f` with the body; errors name the layer.
template <class Body, class F> void inLookup(LayerImpl &impl, F f) {
  try {
    f(lookupIn<Body>(impl));
  } catch (const Error &error) {
    rethrowWithLayer(error, impl);
  }
}
/// Sets the vocabulary from the terms that `count` counts.
template <class Body, class Term, class F> void adaptLookup(LayerImpl &impl, F count) {
  const FloatMode mode;
  inLookup<Body>(impl, [&](Body &body) {
    body.state().requireAdaptable(impl.name);
    TermCounter<Term> counter;
    count(body, counter);
    body.state().finish(counter);
  });
}
template <class Body, class Term> void adaptTo(LayerImpl &impl, const Tensor &data) {
  adaptLookup<Body, Term>(impl, [&](const Body &body, auto &counter) { body.count(data, false, counter); });
}
template <class Body, class Term> void adaptTo(LayerImpl &impl, const Dataset &data, std::optional<int64_t> steps) {
  adaptLookup<Body, Term>(impl, [&](const Body &body, auto &counter) {
    forEachInput(data, steps, [&](const Tensor &batch) { body.count(batch, true, counter); });
  });
}
template <class Body, class Term>
void setVocabulary(LayerImpl &impl, const Vocabulary<Term> &vocabulary, const std::vector<double> &weights) {
  inLookup<Body>(impl, [&](Body &body) { body.state().set(vocabulary, weights); });
}

} // namespace

StringLookup::StringLookup(const StringLookupArgs &args, Where where)
    : Layer(lookupBody<StringBody, std::string>("StringLookup", StringLookupOptions{args, {}}), "StringLookup",
            lookupArgs(args), where) {
  inLookup<StringBody>(*impl_, [](auto &body) { body.begin(); });
}
void StringLookup::adapt(const Tensor &data) const { adaptTo<StringBody, std::string>(*impl_, data); }
void StringLookup::adapt(const Dataset &data, std::optional<int64_t> steps) const {
  adaptTo<StringBody, std::string>(*impl_, data, steps);
}
std::vector<std::string> StringLookup::get_vocabulary(bool include_special_tokens) const {
  return lookupIn<StringBody>(*impl_).state().table()->vocabulary(include_special_tokens);
}
int64_t StringLookup::vocabulary_size() const { return lookupIn<StringBody>(*impl_).state().table()->size(); }
void StringLookup::set_vocabulary(const Vocabulary<std::string> &vocabulary,
                                  const std::vector<double> &idf_weights) const {
  setVocabulary<StringBody>(*impl_, vocabulary, idf_weights);
}

IntegerLookup::IntegerLookup(const IntegerLookupArgs &args, Where where)
    : Layer(lookupBody<IntegerBody, int64_t>("IntegerLookup", IntegerLookupOptions{args, {}}), "IntegerLookup",
            lookupArgs(args), where) {
  inLookup<IntegerBody>(*impl_, [](auto &body) { body.begin(); });
}
void IntegerLookup::adapt(const Tensor &data) const { adaptTo<IntegerBody, int64_t>(*impl_, data); }
void IntegerLookup::adapt(const Dataset &data, std::optional<int64_t> steps) const {
  adaptTo<IntegerBody, int64_t>(*impl_, data, steps);
}
std::vector<int64_t> IntegerLookup::get_vocabulary(bool include_special_tokens) const {
  return lookupIn<IntegerBody>(*impl_).state().table()->vocabulary(include_special_tokens);
}
int64_t IntegerLookup::vocabulary_size() const { return lookupIn<IntegerBody>(*impl_).state().table()->size(); }
void IntegerLookup::set_vocabulary(const Vocabulary<int64_t> &vocabulary,
                                   const std::vector<double> &idf_weights) const {
  setVocabulary<IntegerBody>(*impl_, vocabulary, idf_weights);
}

} // namespace halftone::layers

namespace halftone::detail {

Layer StringLookupOptions::layer() const {
  layers::StringLookup layer(*this);
  layers::lookupIn<layers::StringBody>(*layer.impl()).state().freeze(vocabularySize);
  return layer;
}
Layer IntegerLookupOptions::layer() const {
  layers::IntegerLookup layer(*this);
  layers::lookupIn<layers::IntegerBody>(*layer.impl()).state().freeze(vocabularySize);
  return layer;
}

} // namespace halftone::detail
