// The registry of user losses that files may name.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/base/ClassRegistry.h"
#include "frontend/losses/LossImpl.h"
#include "halftone/Error.h"
#include <fmt/format.h>

namespace halftone {
using namespace detail;

template <> ClassRegistry<Loss> &detail::functionsOf<Loss>() {
  static auto &losses = *new ClassRegistry<Loss>({.kind = "loss", .method = "", .call = "", .isFunction = true});
  return losses;
}

std::optional<std::string> detail::registeredNameOf(const Loss &loss) {
  const LossImpl &own = *loss.impl();
  std::optional<std::string> same = functionsOf<Loss>().nameIf(
      [&own](const std::string &, const Loss &registered) { return registered.impl().get() == &own; });
  if (same || !own.pointer)
    return same;
  return functionsOf<Loss>().nameIf([&own](const std::string &, const Loss &registered) {
    const LossImpl &other = *registered.impl();
    return other.pointer == own.pointer && other.reduction == own.reduction && other.dtype == own.dtype;
  });
}

void register_loss(const std::string &registered_name, const Loss &loss) {
  if (!loss.defined())
    throw Error(ErrorKind::value_error, "register_loss() needs a loss; an undefined one was given");
  if (isNameOfLoss(registered_name))
    throw Error(
        ErrorKind::value_error,
        fmt::format("'{0}' is the name of a built-in loss: register yours as \"package>{0}\"", registered_name));
  functionsOf<Loss>().add(registered_name, loss);
}

} // namespace halftone
