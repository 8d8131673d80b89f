// CSVLogger with existing files, and with paths that are not files.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Halftone.h"
#include "tests/TemporaryFolder.h"
#include <catch2/catch.hpp>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace halftone;
namespace fs = std::filesystem;

namespace {

using Folder = TemporaryFolder;

void logOneEpoch(const std::string &path, bool append) {
  callbacks::CSVLogger logger(path, {.append = append});
  Logs logs;
  logs.set("loss", 0.5);
  logs.set("val_loss", 0.25);
  logger.on_train_begin({});
  logger.on_epoch_end(0, logs);
  logger.on_train_end({});
}

std::string contents(const fs::path &path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

} // namespace

TEST_CASE("CSVLogger writes the header of a file once when it appends; a symlink and the mode stay") {
  const Folder folder;
  const fs::path file = folder.path / "log.csv", link = folder.path / "link";
  logOneEpoch(file, false);
  REQUIRE(::chmod(file.c_str(), 0640) == 0);
  fs::create_symlink("log.csv", link);
  logOneEpoch(link, true);
  CHECK(contents(file) == "epoch,loss,val_loss\n0,0.5,0.25\n0,0.5,0.25\n");
  logOneEpoch(link, false);
  CHECK(contents(file) == "epoch,loss,val_loss\n0,0.5,0.25\n");
  CHECK(fs::is_symlink(link));
  CHECK((fs::status(file).permissions() & fs::perms::all) == fs::perms(0640));
}

TEST_CASE("a pipe has a header, appended to or not") {
  const Folder folder;
  const std::string pipe = folder.path / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(reader >= 0);
  for (bool append : {true, false}) {
    logOneEpoch(pipe, append);
    char text[100] = {};
    REQUIRE(::read(reader, text, sizeof text - 1) > 0);
    CHECK(std::string(text) == "epoch,loss,val_loss\n0,0.5,0.25\n");
  }
  ::close(reader);
  CHECK(fs::is_fifo(pipe));
}
