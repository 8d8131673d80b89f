// Loads a message-passing library.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/communication/Communicator.h"
#include "runtime/base/Environment.h"
#include "runtime/base/OpenFile.h"
#include "runtime/communication/CommunicatorAbi.h"
#include <array>
#include <dlfcn.h>
#include <fmt/format.h>
#include <vector>

namespace halftone {

namespace {

using Text = std::array<char, 1024>;
using Label = std::array<char, labelBytes>;

class LibraryCommunicator final : public Communicator {
public:
  explicit LibraryCommunicator(const HalftoneCommunicator &functions) : functions_(functions) {}
  int rank() const override { return functions_.rank; }
  int size() const override { return functions_.size; }
  Status exchange(std::string_view words, std::span<const Outgoing> sends,
                  std::span<const Incoming> receives) override {
    Label label{};
    words.copy(label.data(), label.size() - 1);
    std::vector<HalftoneMessage> out, in;
    for (const Outgoing &send : sends)
      out.push_back({send.rank, const_cast<std::byte *>(send.bytes.data()), std::ssize(send.bytes)});
    for (const Incoming &receive : receives)
      in.push_back({receive.rank, receive.bytes.data(), std::ssize(receive.bytes)});
    Text error{};
    if (functions_.exchange(label.data(), out.data(), std::ssize(out), in.data(), std::ssize(in), error.data(),
                            std::ssize(error)))
      return {ErrorKind::runtime_error, error.data()};
    return {};
  }
  void setAwaited(bool isAwaited) override { functions_.setAwaited(isAwaited ? 1 : 0); }

private:
  const HalftoneCommunicator &functions_; // of the library, which stays open
};

} // namespace

StatusOr<std::unique_ptr<Communicator>> openCommunicator(const std::string &path) {
  const auto fail = [&](const std::string &reason) {
    if (isOfEnvironment(reason))
      return Status(ErrorKind::value_error, reason);
    return Status(ErrorKind::runtime_error, fmt::format("cannot use {}: {}", path, reason));
  };
  // Open MPI's components look for its symbols.
  const StatusOr<void *> library = openLibrary(path, RTLD_NOW | RTLD_GLOBAL);
  if (!library)
    return fail(library.status().message());
  const auto open = reinterpret_cast<HalftoneOpenCommunicator>(::dlsym(*library, openCommunicatorName));
  if (!open)
    return fail(::dlerror());
  Text error{};
  const HalftoneCommunicator *const functions = open(communicatorAbi, error.data(), std::ssize(error));
  if (!functions)
    return fail(error.data());
  return std::unique_ptr<Communicator>(std::make_unique<LibraryCommunicator>(*functions));
}

} // namespace halftone
