// The networks whose training steps are timed beside peers.
// SPDX-License-Identifier: Apache-2.0
#include "Networks.h"
#include <fmt/format.h>

namespace halftone::benchmarks {

Network perceptron(const MlpArgs &sizes, double checkedRate) {
  return {.title = fmt::format("MLP, {} layers of {},", sizes.hidden, sizes.units),
          .name = "mlp",
          .data = [=](int64_t count) { return images(count, {sizes.inputs}); },
          .make =
              [=](const std::string &policy, bool checked) {
                MlpArgs args = sizes;
                args.learning_rate = checked ? checkedRate : 0;
                return mlp(policy, args);
              },
          .checkedRate = checkedRate};
}

Network transformer(const GptArgs &sizes) {
  return {.title = fmt::format("GPT, {} layers of {}, {} heads, {} long,", sizes.layers, sizes.width, sizes.heads,
                               sizes.length),
          .name = fmt::format("gpt{}", sizes.heads),
          .data = [=](int64_t count) { return texts(count, sizes.length); },
          .make =
              [=](const std::string &policy, bool checked) {
                GptArgs args = sizes;
                args.learning_rate = checked ? Network().checkedRate : 0;
                return gpt(policy, args);
              }};
}

Network convolutional(const std::string &title, const std::string &name, const Shape &image,
                      Model (*make)(const std::string &, const ConvnetArgs &)) {
  return {.title = title,
          .name = name,
          .data = [image](int64_t count) { return images(count, image); },
          .make =
              [make](const std::string &policy, bool checked) {
                return make(policy, checked ? ConvnetArgs{0, Network().checkedRate} : ConvnetArgs{});
              }};
}

} // namespace halftone::benchmarks
