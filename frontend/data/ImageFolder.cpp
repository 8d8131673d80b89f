// Lists folders as os.walk and sorted() do, and draws random numbers as NumPy's RandomState does.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/data/ImageFolder.h"
#include "halftone/Error.h"
#include <algorithm>
#include <bit>
#include <cctype>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <random>
#include <set>

namespace halftone::detail {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void refuseFolder(const std::string &folder, const std::error_code &error) {
  throw Error(ErrorKind::io_error, fmt::format("Cannot read the folder '{}': {}", folder, error.message()));
}

struct Entry {
  std::string name;
  bool isFolder, isLink;
};
std::vector<Entry> entriesOf(const std::string &folder) {
  std::error_code error;
  std::vector<Entry> entries;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored; // a dangling link is a file, as in Python
    entries.push_back({at->path().filename().string(), at->is_directory(ignored), at->is_symlink(ignored)});
  }
  if (error)
    refuseFolder(folder, error);
  std::ranges::sort(entries, {}, &Entry::name);
  return entries;
}

bool isImage(const std::string &path) {
  std::string lower = path;
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  if (lower.ends_with(".bmp") || lower.ends_with(".gif"))
    throw Error(ErrorKind::not_implemented_error,
                fmt::format("'{}' is neither a PNG nor a JPEG file, and other formats are not supported", path));
  return lower.ends_with(".png") || lower.ends_with(".jpg") || lower.ends_with(".jpeg");
}

/// The entries of `root` and of all folders below it, keyed by folder path.
std::map<std::string, std::vector<Entry>> foldersBelow(const std::string &root, bool followLinks) {
  std::map<std::string, std::vector<Entry>> found;
  std::set<fs::path> entered; // links may form cycles
  std::vector<std::string> open{root};
  while (!open.empty()) {
    const std::string folder = std::move(open.back());
    open.pop_back();
    std::error_code error;
    if (followLinks && !entered.insert(fs::canonical(folder, error)).second)
      continue;
    if (error)
      refuseFolder(folder, error);
    for (const Entry &entry : found[folder] = entriesOf(folder))
      if (entry.isFolder && (followLinks || !entry.isLink))
        open.push_back(fmt::format("{}/{}", folder, entry.name));
  }
  return found;
}

void addFiles(ImageFolder &all, const std::string &root, bool followLinks) {
  for (const auto &[folder, entries] : foldersBelow(root, followLinks))
    for (const Entry &entry : entries)
      if (std::string path = fmt::format("{}/{}", folder, entry.name); !entry.isFolder && isImage(path))
        all.files.push_back(std::move(path));
}

std::string withoutSlash(std::string directory) {
  while (directory.size() > 1 && directory.ends_with('/'))
    directory.pop_back();
  return directory;
}

} // namespace

ImageFolder filesByClass(const std::string &directory, const std::vector<std::string> &classes, bool followLinks) {
  const std::string root = withoutSlash(directory);
  ImageFolder all;
  for (const Entry &entry : entriesOf(root))
    if (entry.isFolder && !entry.name.starts_with('.'))
      all.classNames.push_back(entry.name);
  std::set<std::string_view> taken;
  for (const std::string &name : classes) {
    if (!taken.insert(name).second)
      throw Error(ErrorKind::value_error,
                  fmt::format("`class_names` must not contain duplicates. Received: class_names=[{}]",
                              fmt::join(classes, ", ")));
    if (!std::ranges::binary_search(all.classNames, name))
      throw Error(ErrorKind::value_error,
                  fmt::format("The `class_names` passed did not match the names of the subdirectories of the target "
                              "directory. Expected: [{}] (or a subset of it), but received: class_names=[{}]",
                              fmt::join(all.classNames, ", "), fmt::join(classes, ", ")));
  }
  if (!classes.empty())
    all.classNames = classes;
  for (size_t i = 0; i < all.classNames.size(); ++i) {
    addFiles(all, fmt::format("{}/{}", root, all.classNames[i]), followLinks);
    all.labels.resize(all.files.size(), static_cast<int64_t>(i));
  }
  return all;
}

ImageFolder filesOf(const std::string &directory, bool followLinks) {
  ImageFolder all;
  addFiles(all, withoutSlash(directory), followLinks);
  return all;
}

std::vector<int64_t> shuffledAsInNumPy(int64_t count, uint32_t seed) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 words(seed);
  for (uint32_t last = static_cast<uint32_t>(count); last-- > 1;) {
    const uint32_t mask = std::bit_ceil(last + 1) - 1;
    uint32_t other = words() & mask;
    while (other > last)
      other = words() & mask;
    std::swap(order[last], order[other]);
  }
  return order;
}

} // namespace halftone::detail
