// keras.ops on Values: attention.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/graph/Graph.h"
#include "frontend/graph/Promotion.h"
#include "frontend/ops/Operations.h"
#include "halftone/Ops.h"
#include "runtime/base/ConfigAccess.h"
#include <cmath>
#include <fmt/format.h>

namespace halftone::ops {
using namespace detail;
using List = std::vector<Value>;

namespace {

void requireShapes(const Value &query, const Value &key, const Value &value) {
  const Shape q = query.shape(), k = key.shape(), v = value.shape();
  if (q.rank() != 4 || k.rank() != 4 || v.rank() != 4)
    throw Error(ErrorKind::value_error,
                fmt::format("`dot_product_attention` only supports 4D inputs. Received: query.shape={}, key.shape={}, "
                            "value.shape={}.",
                            q.str(), k.str(), v.str()));
  const bool isWhole = k[2] > 0 && q[2] % k[2] == 0;
  if (q[0] != k[0] || q[0] != v[0] || q[3] != k[3] || k[1] != v[1] || k[2] != v[2] || !isWhole)
    throw Error(ErrorKind::value_error,
                fmt::format("`dot_product_attention` expected a query (b, t, n, h), a key (b, s, m, h) and a value "
                            "(b, s, m, e), n a multiple of m. Received: query.shape={}, key.shape={}, value.shape={}.",
                            q.str(), k.str(), v.str()));
}

/// Reshapes `operand`, which broadcasts to the shape of the scores, to rank 4.
Value withFourAxes(const char *name, const Value &operand, const Shape &scores) {
  std::vector<int64_t> dims = operand.shape().dims();
  bool fits = dims.size() <= 4;
  if (fits)
    dims.insert(dims.begin(), 4 - dims.size(), 1);
  for (size_t axis = 0; fits && axis < 4; ++axis)
    fits = dims[axis] == 1 || dims[axis] == scores[static_cast<int64_t>(axis)];
  if (!fits)
    throw Error(ErrorKind::value_error,
                fmt::format("`dot_product_attention` expected a {} that broadcasts to the shape of the scores, {}. "
                            "Received: {}.shape={}",
                            name, scores.str(), name, operand.shape().str()));
  return tracing().reshape(operand, Shape(dims));
}

/// The call in the form of files: bias, mask and scale are keyword arguments, null if absent.
Value recorded(const List &inputs, const DotProductAttentionArgs &args) {
  nlohmann::ordered_json arguments, keywords;
  size_t next = 3;
  for (const auto &[name, operand] : {std::pair("bias", &args.bias), std::pair("mask", &args.mask)})
    keywords[name] = operand->defined() ? nlohmann::ordered_json{{"input", next++}} : nlohmann::ordered_json();
  keywords["scale"] = args.scale ? nlohmann::ordered_json(*args.scale) : nlohmann::ordered_json();
  for (size_t i = 0; i < 3; ++i)
    arguments["args"].push_back({{"input", i}});
  arguments["kwargs"] = std::move(keywords);
  Config config = configOf("is_causal", args.is_causal);
  config.set_null("flash_attention");
  config.set_null("attn_logits_soft_cap");
  return callOperation("DotProductAttention", inputs, ConfigAccess::make(std::move(arguments)), config)[0];
}

} // namespace

Value dot_product_attention(const Value &query, const Value &key, const Value &value,
                            const DotProductAttentionArgs &args) {
  List inputs{query, key, value};
  for (const Value *operand : {&args.bias, &args.mask})
    if (operand->defined())
      inputs.push_back(*operand);
  if (isSymbolic(query))
    return recorded(inputs, args);
  const bool hasBias = args.bias.defined(), hasMask = args.mask.defined();
  return applyOne(
      "dot_product_attention", inputs, [hasBias, hasMask, scale = args.scale, causal = args.is_causal](const List &v) {
        requireShapes(v[0], v[1], v[2]);
        DType dtype = result_type(result_type(v[0].dtype(), v[1].dtype()), v[2].dtype());
        dtype = is_float(dtype) ? dtype : floatxDtype();
        const Shape q = v[0].shape(), scores{q[0], q[2], q[1], v[1].shape()[1]};
        Trace::Attention more{.causal = causal, .scale = scale.value_or(1.0 / std::sqrt(static_cast<double>(q[3])))};
        if (hasBias)
          more.bias = withFourAxes("bias", asFloat(v[3]), scores);
        if (hasMask)
          more.mask = withFourAxes("mask", asDtype(v.back(), DType::bool_, "mask"), scores);
        return tracing().attention(asDtype(v[0], dtype), asDtype(v[1], dtype), asDtype(v[2], dtype), more);
      });
}

} // namespace halftone::ops
