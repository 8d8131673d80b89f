// get_file: copies files into a cache.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/DataPreparation.h"
#include "halftone/Error.h"
#include "runtime/base/Environment.h"
#include "runtime/base/OpenFile.h"
#include "runtime/base/Sha256.h"
#include "runtime/base/WriteFile.h"
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace halftone {
namespace fs = std::filesystem;

namespace {

/// Decodes the percent-encoded bytes of a URL, such as %20.
std::string decoded(std::string_view text) {
  const auto digit = [](char c) {
    static constexpr std::string_view digits = "0123456789abcdef";
    return digits.find(static_cast<char>(c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c));
  };
  std::string result;
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) < 16 && digit(text[i + 2]) < 16) {
      result += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
      i += 2;
    } else {
      result += text[i];
    }
  return result;
}

/// The local path of an origin; nullopt for a network URL.
std::optional<std::string> localPath(const std::string &origin) {
  if (origin.starts_with("file:")) {
    std::string_view rest = std::string_view(origin).substr(5);
    if (rest.starts_with("//localhost/"))
      rest.remove_prefix(11);
    else if (rest.starts_with("///"))
      rest.remove_prefix(2);
    return decoded(rest);
  }
  if (origin.find("://") != origin.npos)
    return std::nullopt;
  return origin;
}

/// The last component of an origin's path.
std::string nameOf(const std::string &origin) {
  std::string path = origin;
  if (const size_t scheme = path.find("://"); scheme != path.npos) {
    path = path.substr(0, path.find_first_of("?#"));
    const size_t host = path.find('/', scheme + 3);
    path = host == path.npos ? "" : path.substr(host);
  }
  return path.substr(path.rfind('/') + 1);
}

fs::path cacheFolder(const utils::GetFileArgs &args) {
  std::string folder = args.cache_dir.empty() ? environmentValue("KERAS_HOME") : args.cache_dir;
  if (folder.empty())
    folder = "~/.keras";
  if (folder == "~" || folder.starts_with("~/"))
    folder = environmentValue("HOME") + folder.substr(1);
  return fs::path(folder) / args.cache_subdir;
}

/// Returns true if the contents have the hash. An empty hash matches any contents.
bool hasHash(std::string hash, std::string_view contents) {
  std::ranges::transform(hash, hash.begin(), [](char c) { return c >= 'A' && c <= 'F' ? char(c - 'A' + 'a') : c; });
  return hash.empty() || sha256(contents) == hash;
}
void requireHash(const std::string &hash, const std::string &path, std::string_view contents) {
  if (!hasHash(hash, contents))
    throw Error(ErrorKind::value_error,
                fmt::format("Incomplete or corrupted file detected: '{}' has the SHA-256 {}, expected {}", path,
                            sha256(contents), hash));
}

/// value_error for an argument that is not a file name, and for an unsupported hash.
void checkFileArguments(const std::string &fname, const std::string &origin, const utils::GetFileArgs &args) {
  for (const std::string &text : {fname, origin, args.cache_dir, args.cache_subdir})
    checkPath(text).orThrow();
  if (origin.empty())
    throw Error(ErrorKind::value_error, "Please specify the \"origin\" argument (the file to copy into the cache).");
  if (fname.find('/') != fname.npos)
    throw Error(ErrorKind::value_error,
                fmt::format("Paths are not accepted as the `fname` argument. To specify the file's parent directory, "
                            "use the `cache_dir` argument. Received: fname={}",
                            fname));
  if (!args.file_hash.empty() &&
      (args.file_hash.size() != 64 || args.file_hash.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos))
    throw Error(ErrorKind::value_error,
                fmt::format("file_hash must be a SHA-256 of 64 hexadecimal digits, got '{}'", args.file_hash));
}

} // namespace

std::string utils::get_file(const std::string &fname, const std::string &origin, const GetFileArgs &args) {
  checkFileArguments(fname, origin, args);
  const std::string name = fname.empty() ? nameOf(origin) : fname;
  if (name.empty() || name == "." || name == "..")
    throw Error(ErrorKind::value_error,
                fmt::format("Can't parse the file name from the origin provided: '{}'. Please specify the `fname` "
                            "argument.",
                            origin));
  const fs::path folder = cacheFolder(args);
  const std::string target = (folder / name).string();
  std::error_code error;
  const std::optional<std::string> source = localPath(origin);
  if (!args.force_download && fs::exists(target, error)) {
    if (args.file_hash.empty())
      return target;
    const std::string contents = readFile(target).valueOrThrow();
    if (hasHash(args.file_hash, contents))
      return target;
    if (!source)
      requireHash(args.file_hash, target, contents);
  }
  if (!source)
    throw Error(ErrorKind::io_error,
                fmt::format("Cannot fetch {}: network access is not supported. Put the file at '{}'", origin, target));
  const std::string contents = readFile(*source).valueOrThrow();
  requireHash(args.file_hash, *source, contents);
  makeFolder(folder.string()).orThrow();
  writeFile(target, {contents}).orThrow();
  return target;
}

} // namespace halftone
