// Matches weights with tensors by a name map and transposes the tensors.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/io/NamedWeights.h"
#include "runtime/TensorAccess.h"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <numeric>

namespace halftone::detail {

namespace {

bool isPermutation(const std::vector<int64_t> &axes, int64_t rank) {
  std::vector<int64_t> sorted = axes, all(static_cast<size_t>(rank));
  std::ranges::sort(sorted);
  std::iota(all.begin(), all.end(), int64_t{0});
  return sorted == all;
}

/// Transposes a host tensor bit by bit, with axis `axes[i]` as axis i.
Tensor transposed(const Tensor &tensor, const std::vector<int64_t> &axes) {
  const size_t rank = axes.size();
  std::vector<int64_t> given(rank, 1), dims(rank), steps(rank); // steps: strides in elements of `tensor`
  for (size_t i = rank; i-- > 1;)
    given[i - 1] = given[i] * tensor.shape()[static_cast<int64_t>(i)];
  for (size_t i = 0; i < rank; ++i) {
    dims[i] = tensor.shape()[axes[i]];
    steps[i] = given[static_cast<size_t>(axes[i])];
  }
  const Tensor result = TensorAccess::allocate(tensor.dtype(), Shape(dims));
  const auto size = static_cast<size_t>(itemsize(tensor.dtype()));
  const std::byte *from = TensorAccess::data(tensor);
  std::byte *to = TensorAccess::mutableData(result);
  std::vector<int64_t> index(rank);
  int64_t at = 0;
  for (int64_t i = 0; i < result.size(); ++i) {
    std::memcpy(to + static_cast<size_t>(i) * size, from + static_cast<size_t>(at) * size, size);
    for (size_t axis = rank; axis-- > 0;) {
      at += steps[axis];
      if (++index[axis] < dims[axis])
        break;
      at -= steps[axis] * dims[axis];
      index[axis] = 0;
    }
  }
  return result;
}

/// A tensor transposed as an entry asks, or the problem with the entry.
struct Arranged {
  NamedTensor tensor{};
  std::string problem{};
};
Arranged arranged(const SavedTensor &entry, const NamedTensor &found) {
  const auto &[name, tensor] = found;
  if (entry.transpose.empty())
    return {found};
  if (!isPermutation(entry.transpose, tensor.shape().rank()))
    return {.problem = fmt::format("the transpose {{{}}} is not a permutation of the {} axes of {}, whose shape is {}",
                                   fmt::join(entry.transpose, ", "), tensor.shape().rank(), quotedName(name),
                                   tensor.shape().str())};
  return {{name, transposed(TensorAccess::onHost(tensor), entry.transpose)}};
}

} // namespace

FileValues valuesByNames(const Safetensors &contents, const std::vector<SavedVariable> &variables,
                         const std::vector<std::pair<std::string, SavedTensor>> &names) {
  std::map<std::string_view, const NamedTensor *> tensors;
  for (const NamedTensor &tensor : contents.tensors)
    tensors.emplace(tensor.first, &tensor);
  std::map<std::string_view, size_t> positions;
  for (size_t i = 0; i < variables.size(); ++i)
    positions.emplace(variables[i].name, i);
  std::vector<Tensor> values(variables.size());
  std::vector<bool> isNamed(variables.size());
  std::vector<std::string> problems, converted;
  for (const auto &[weight, entry] : names) {
    const auto position = positions.find(weight);
    const auto tensor = tensors.find(entry.name);
    if (position == positions.end()) {
      problems.push_back(
          fmt::format("`names` has an entry for {}, which is not a weight of the model", quotedName(weight)));
      continue;
    }
    const SavedVariable &variable = variables[position->second];
    if (isNamed[position->second]) {
      problems.push_back(fmt::format("`names` has two entries for {}", quotedName(weight)));
      values[position->second] = Tensor();
      continue;
    }
    isNamed[position->second] = true;
    if (tensor == tensors.end()) {
      problems.push_back(
          fmt::format("the file has no tensor {}, which is named for {}", quotedName(entry.name), quotedName(weight)));
      continue;
    }
    const Arranged found = arranged(entry, *tensor->second);
    const std::string problem = found.problem.empty() ? mismatch(variable, found.tensor) : found.problem;
    if (problem.empty())
      values[position->second] = fitted(variable, found.tensor, converted);
    else
      problems.push_back(fmt::format("{}: {}{}", quotedName(weight), problem,
                                     found.problem.empty() && !entry.transpose.empty()
                                         ? fmt::format(", after the transpose {{{}}}", fmt::join(entry.transpose, ", "))
                                         : ""));
  }
  for (size_t i = 0; i < variables.size(); ++i)
    if (!isNamed[i])
      problems.push_back(fmt::format("`names` has no entry for {}", quotedName(variables[i].name)));
  return {std::move(values), std::move(problems)};
}

} // namespace halftone::detail
