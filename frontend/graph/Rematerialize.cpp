// The scope in which the backward pass recomputes the values of layers.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Rematerialize.h"
#include "frontend/graph/Trace.h"
#include "halftone/Error.h"
#include "runtime/base/PerThread.h"
#include <algorithm>
#include <atomic>
#include <fmt/format.h>

namespace halftone {

namespace detail {

static thread_local PerThread<std::optional<RematMode>> openMode;

bool RematMode::isFor(const std::string &name, const std::string &path) const {
  return !names || std::ranges::any_of(*names, [&](const std::string &each) { return each == name || each == path; });
}

const std::optional<RematMode> &openRematMode() { return *openMode; }
uint64_t openRematId() { return *openMode ? (*openMode)->id : 0; }

static std::optional<RematMode> modeNamed(const std::optional<std::string> &mode, const RematArgs &args) {
  if (!mode)
    return std::nullopt;
  if (*mode == "full")
    return RematMode{};
  if (*mode == "activations")
    return RematMode{.isOfActivations = true};
  if (*mode == "larger_than")
    return RematMode{.aboveElements = args.output_size_threshold};
  if (*mode == "list_of_layers")
    return RematMode{.names = args.layer_names};
  throw Error(ErrorKind::value_error,
              fmt::format("Invalid mode '{}'. Supported modes are: 'full', 'activations', 'larger_than', "
                          "'list_of_layers', or  None.",
                          *mode));
}

} // namespace detail

RematScope::RematScope(const std::optional<std::string> &mode, const RematArgs &args)
    : saved_(std::make_unique<std::optional<detail::RematMode>>(*detail::openMode)) {
  static std::atomic<uint64_t> scopes{0};
  *detail::openMode = detail::modeNamed(mode, args);
  if (*detail::openMode)
    (*detail::openMode)->id = ++scopes << 1; // even, while policy ids are odd: their combination is not 0
}
RematScope::~RematScope() { *detail::openMode = *saved_; }

std::function<Value(const Values &)> remat(std::function<Value(const Values &)> f) {
  if (!f)
    throw Error(ErrorKind::value_error, "remat() needs a function. Received: an empty one");
  return [f = std::move(f)](const Values &x) {
    detail::Trace *trace = detail::Trace::current();
    return trace ? trace->rematerialized([&] { return std::vector<Value>{f(x)}; }).front() : f(x);
  };
}

} // namespace halftone
