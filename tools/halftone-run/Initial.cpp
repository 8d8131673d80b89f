// Draws initial values by role.
// SPDX-License-Identifier: Apache-2.0
#include "Initial.h"
#include "runtime/TensorAccess.h"
#include "runtime/TensorTypes.h"
#include "runtime/base/Convert.h"
#include <algorithm>
#include <cmath>
#include <vector>

namespace halftone::tools {
namespace {

using dialect::VariableRole;

bool names(std::string_view path, std::initializer_list<std::string_view> words) {
  std::string_view last = path.substr(path.rfind('/') + 1);
  return std::ranges::any_of(words, [&](std::string_view word) { return last.find(word) != last.npos; });
}

} // namespace

Random::Random(uint64_t seed, std::string_view name) : state_(seed * 0x9e3779b97f4a7c15u + 0xcbf29ce484222325u) {
  for (char c : name) // FNV-1a hash
    state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
}

uint64_t Random::next() {
  uint64_t z = state_ += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

double Random::uniform(double low, double high) {
  return low + (high - low) * static_cast<double>(next() >> 11) * 0x1p-53;
}

Tensor tensorOf(const TensorType &type, std::span<const double> values) {
  Tensor tensor = makeTensor(type).valueOrThrow();
  convert(DType::float64, values.data(), type.dtype, TensorAccess::mutableData(tensor), type.elements()).orThrow();
  return tensor;
}

VariableRole guessRole(const VariableSlot &slot) {
  const bool isWhole = !is_float(slot.type.dtype);
  if (slot.type == TensorType{DType::uint32, {2}})
    return VariableRole::seed;
  if (names(slot.path, {"learning_rate"}))
    return VariableRole::learning_rate;
  if (names(slot.path, {"dynamic_scale", "loss_scale"}))
    return VariableRole::loss_scale;
  if (names(slot.path, {"moving_"}))
    return VariableRole::state;
  if (isWhole || names(slot.path, {"momentum", "velocity", "accumulat", "iteration", "total", "count", "step"}))
    return VariableRole::slot;
  return VariableRole::weight;
}

Tensor initialValue(const DeclaredVariable &variable, uint64_t seed) {
  const TensorType &type = variable.type;
  const bool isFloat = is_float(type.dtype);
  Random random(seed, variable.symbol);
  std::vector<double> values(static_cast<size_t>(type.elements()), 0.0);
  switch (variable.role) {
  case VariableRole::weight:
  case VariableRole::constant:
    if (!isFloat)
      break;
    if (type.shape.size() < 2 && names(variable.path, {"gamma", "scale", "variance"})) {
      std::ranges::fill(values, 1.0);
      break;
    }
    {
      int64_t fan = 0;
      for (size_t i = type.shape.size() < 2 ? 0 : type.shape.size() - 2; i < type.shape.size(); ++i)
        fan += type.shape[i];
      const double limit = std::sqrt(6.0 / static_cast<double>(std::max<int64_t>(fan, 1)));
      for (double &value : values)
        value = random.uniform(-limit, limit);
    }
    break;
  case VariableRole::state:
    if (names(variable.path, {"variance"}))
      std::ranges::fill(values, 1.0);
    break;
  case VariableRole::seed:
    for (double &value : values)
      value = static_cast<double>(random.next() >> 32);
    break;
  case VariableRole::learning_rate:
    std::ranges::fill(values, isFloat ? 1e-3 : 0.0);
    break;
  case VariableRole::loss_scale:
    std::ranges::fill(values, isFloat ? 32768.0 : 0.0);
    break;
  case VariableRole::slot:
  case VariableRole::iteration:
  case VariableRole::metric:
    break;
  }
  return tensorOf(type, values);
}

} // namespace halftone::tools
