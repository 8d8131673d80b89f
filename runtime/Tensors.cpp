// One tensor, several in order, or several by name.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Tensor.h"
#include "runtime/TensorAccess.h"
#include "runtime/base/Status.h"
#include <algorithm>
#include <fmt/format.h>

using namespace halftone;

Tensors::Tensors() noexcept = default;
Tensors::Tensors(const Tensors &) = default;
Tensors::Tensors(Tensors &&) noexcept = default;
Tensors &Tensors::operator=(const Tensors &) & = default;
Tensors &Tensors::operator=(Tensors &&) & noexcept = default;
Tensors::~Tensors() = default;

Tensors::Tensors(Tensor one) {
  if (one.defined())
    list_.push_back(std::move(one));
}
Tensors::Tensors(std::initializer_list<Tensor> list) : list_(list) {}
Tensors::Tensors(std::vector<Tensor> list) : list_(std::move(list)) {}
Tensors::Tensors(std::initializer_list<std::pair<std::string, Tensor>> named) {
  for (const auto &[name, tensor] : named) {
    if (std::find(names_.begin(), names_.end(), name) != names_.end())
      throw Error(ErrorKind::value_error, fmt::format("Two tensors have the name '{}'", name));
    names_.push_back(name);
    list_.push_back(tensor);
  }
}

Tensor Tensors::operator[](size_t i) const {
  if (i >= list_.size())
    throw Error(ErrorKind::value_error, fmt::format("There is no tensor {}: the list has {}", i, list_.size()));
  return list_[i];
}

Tensor Tensors::operator[](std::string_view name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end())
    throw Error(ErrorKind::key_error,
                fmt::format("There is no tensor '{}'; the names are [{}]", name, fmt::join(names_, ", ")));
  return list_[static_cast<size_t>(found - names_.begin())];
}

Tensors TensorAccess::named(std::vector<Tensor> list, std::vector<std::string> names) {
  Tensors tensors(std::move(list));
  tensors.names_ = std::move(names);
  return tensors;
}
