// cu* functions of modules, which the emulated driver loads only from PTX.
// SPDX-License-Identifier: Apache-2.0
#include "tests/emulator/Requirements.h"
#include "tests/emulator/driver/Driver.h"
#include <algorithm>
#include <fmt/format.h>

using namespace halftone::emulator;

namespace {

/// The log buffers given by options, with their sizes. The driver writes the used sizes back.
struct JitLogs {
  char *info = nullptr, *error = nullptr;
  size_t infoBytes = 0, errorBytes = 0;
  void **infoSize = nullptr, **errorSize = nullptr;
  bool verbose = false;

  JitLogs() = default;
  JitLogs(unsigned count, const int *options, void **values) {
    for (unsigned i = 0; i < count; ++i)
      readOption(static_cast<JitOption>(options[i]), values + i);
  }

  void writeError(const std::string &text) const { write(error, errorBytes, errorSize, text); }
  void writeInfo(const std::string &text) const { write(info, infoBytes, infoSize, verbose ? text : ""); }

private:
  void readOption(JitOption option, void **value) {
    auto number = reinterpret_cast<uintptr_t>(*value);
    switch (option) {
    case JitOption::InfoLogBuffer:
      info = static_cast<char *>(*value);
      break;
    case JitOption::InfoLogBufferSizeBytes:
      infoBytes = static_cast<unsigned>(number);
      infoSize = value;
      break;
    case JitOption::ErrorLogBuffer:
      error = static_cast<char *>(*value);
      break;
    case JitOption::ErrorLogBufferSizeBytes:
      errorBytes = static_cast<unsigned>(number);
      errorSize = value;
      break;
    case JitOption::LogVerbose:
      verbose = number != 0;
      break;
    case JitOption::MaxRegisters:
    case JitOption::OptimizationLevel:
    case JitOption::Target:
    case JitOption::CacheMode:
      break;
    default:
      throw DriverError{Result::InvalidValue};
    }
  }

  static void write(char *buffer, size_t bytes, void **size, const std::string &text) {
    size_t used = 0;
    if (buffer && bytes) {
      used = std::min(text.size(), bytes - 1);
      std::copy_n(text.data(), used, buffer);
      buffer[used] = '\0';
    }
    if (size)
      *size = reinterpret_cast<void *>(used);
  }
};

std::shared_ptr<LoadedModule> load(Context &context, std::string_view image, const JitLogs &logs) {
  try {
    auto module = std::make_shared<LoadedModule>(image, context.memory, context.settings.capability,
                                                 newestVersionOf(context.settings.driverVersion));
    logs.writeInfo(fmt::format("{} bytes of PTX\n", image.size()));
    logs.writeError("");
    return module;
  } catch (const PtxError &error) {
    logs.writeError(fmt::format("ptx, {}\n", error.what()));
    logs.writeInfo("");
    throw DriverError{dynamic_cast<const PtxVersionError *>(&error) ? Result::UnsupportedPtxVersion
                                                                    : Result::InvalidPtx};
  }
}

void loadImage(Context &context, void **module, const void *image, const JitLogs &logs) {
  expect(module && image);
  auto made = std::make_unique<LoadedImage>();
  made->module = load(context, static_cast<const char *>(image), logs);
  *module = made.get();
  context.images[made.get()] = std::move(made);
}

LoadedImage &imageOf(Context &context, const void *handle) {
  auto found = context.images.find(handle);
  expect(found != context.images.end(), Result::InvalidHandle);
  return *found->second;
}

} // namespace

HALFTONE_EMULATED int cuModuleLoadData(void **module, const void *image) {
  return withContext([&](Context &context) { loadImage(context, module, image, JitLogs()); });
}

HALFTONE_EMULATED int cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options,
                                         void **values) {
  return withContext([&](Context &context) { loadImage(context, module, image, JitLogs(count, options, values)); });
}

HALFTONE_EMULATED int cuModuleUnload(void *module) {
  return withContext([&](Context &context) {
    LoadedImage &image = imageOf(context, module);
    context.streams.finishAll();
    for (const auto &[name, function] : image.functions)
      context.functions.erase(function.get());
    context.images.erase(module);
  });
}

HALFTONE_EMULATED int cuModuleGetFunction(void **function, void *module, const char *name) {
  return withContext([&](Context &context) {
    LoadedImage &image = imageOf(context, module);
    const Kernel *kernel = image.module->find(name);
    expect(kernel != nullptr, Result::NotFound);
    std::unique_ptr<Function> &made = image.functions[name];
    if (!made)
      made = std::make_unique<Function>(image.module, kernel);
    context.functions.insert(made.get());
    *function = made.get();
  });
}
