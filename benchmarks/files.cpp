// Time to load and save a large .keras file, beside reading and writing a file of its bytes.
// SPDX-License-Identifier: Apache-2.0
#include "Race.h"
#include "Table.h"
#include "halftone/Halftone.h"
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <unistd.h>

using namespace halftone;
using namespace halftone::benchmarks;
namespace fs = std::filesystem;

namespace {

struct File {
  int descriptor;
  File(const fs::path &path, int flags) : descriptor(::open(path.c_str(), flags | O_CLOEXEC, 0644)) {
    if (descriptor < 0)
      throw std::runtime_error(fmt::format("cannot open {}", path.string()));
  }
  File(const File &) = delete;
  ~File() { (void)::close(descriptor); }
};

/// A new folder, removed by the destructor.
struct Folder {
  fs::path path = fs::temp_directory_path() / fmt::format("halftone-files-{}", ::getpid());
  Folder() { fs::create_directories(path); }
  Folder(const Folder &) = delete;
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

struct Bytes {
  size_t size;
  std::unique_ptr<char[]> data = std::make_unique_for_overwrite<char[]>(size);
};

/// Reads into memory of the file's size, like a program that needs the contents.
Bytes bytesOf(const fs::path &path) {
  Bytes bytes{fs::file_size(path)};
  const File file(path, O_RDONLY);
  for (size_t done = 0; done < bytes.size;) {
    const ssize_t count = ::read(file.descriptor, bytes.data.get() + done, bytes.size - done);
    if (count <= 0)
      throw std::runtime_error(fmt::format("cannot read {}", path.string()));
    done += static_cast<size_t>(count);
  }
  return bytes;
}

/// Writes a file next to `path`, syncs it to disk and renames it, as save() does.
void writeBytes(const fs::path &path, std::string_view bytes) {
  const fs::path beside = path.string() + ".part";
  {
    const File file(beside, O_WRONLY | O_CREAT | O_TRUNC);
    while (!bytes.empty()) {
      const ssize_t count = ::write(file.descriptor, bytes.data(), bytes.size());
      if (count <= 0)
        throw std::runtime_error(fmt::format("cannot write {}", beside.string()));
      bytes.remove_prefix(static_cast<size_t>(count));
    }
    if (::fsync(file.descriptor) != 0)
      throw std::runtime_error(fmt::format("cannot write {}", beside.string()));
  }
  fs::rename(beside, path);
}

/// 400 MB of weights in eight layers.
Model large() {
  constexpr int64_t width = 3535;
  Sequential model({layers::Input({width})});
  for (int i = 0; i < 8; ++i)
    model.add(layers::Dense(width));
  return model;
}

std::string speed(double seconds, double bytes) { return fmt::format("{:.2f} GB/s", bytes / seconds / 1e9); }

void run(Table &table) {
  const Folder folder;
  const fs::path model = folder.path / "model.keras", copy = folder.path / "copy", saved = folder.path / "saved.keras";
  const Model net = large();
  net.save(model.string());
  const Bytes bytes = bytesOf(model);
  const auto size = static_cast<double>(bytes.size);
  const auto add = [&](const char *what, const std::vector<double> &seconds) {
    table.add({fmt::format("{} a .keras file of {:.0f} MB", what, size / 1e6), speed(seconds[0], size),
               "the bytes " + speed(seconds[1], size), seconds[1] / seconds[0], 0.5, 0.8});
  };
  constexpr int rounds = 7;
  add("load", race({contestant("load_model", [&] { (void)load_model(model.string()); }),
                    contestant("read", [&] { (void)bytesOf(model); })},
                   rounds, 0.0));
  add("save", race({contestant("save", [&] { net.save(saved.string()); }),
                    contestant("write", [&] { writeBytes(copy, {bytes.data.get(), bytes.size}); })},
                   rounds, 0.0));
}

} // namespace

int main() { return runProgram("files", "files of models, beside reading and writing their bytes", run); }
