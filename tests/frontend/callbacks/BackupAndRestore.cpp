// BackupAndRestore: a run that ends with an error resumes where it was; a complete run leaves no files.
// SPDX-License-Identifier: Apache-2.0
#include "tests/TemporaryFolder.h"
#include "tests/frontend/Recorded.h"
#include <catch2/catch.hpp>

using namespace halftone;
using namespace halftone::test;
using callbacks::BackupAndRestore;
using callbacks::LambdaCallback;
using Catch::Matchers::Contains;

namespace {

Sequential net() {
  set_random_seed(5);
  Sequential model({layers::Input({1}), layers::Dense(4, {.name = "a"}), layers::Dropout(0.5, {.name = "d"}),
                    layers::Dense(1, {.name = "b"})},
                   {.name = "net"});
  model.compile({.optimizer = "adam", .loss = "mse"});
  return model;
}
History fit(const Model &model, std::vector<CallbackArg> callbacks) {
  return model.fit(counted({12, 1}), counted({12, 1}),
                   {.batch_size = 4, .epochs = 5, .verbose = 0, .callbacks = callbacks});
}

} // namespace

TEST_CASE("A run that was interrupted goes on after its last whole epoch and ends like a whole run", "[callbacks]") {
  TemporaryFolder folder;
  const std::string backup = folder / "sub/backup";
  const Sequential whole = net();
  const History all = fit(whole, {});

  const Sequential cut = net();
  const LambdaCallback stop({.on_train_batch_begin = [calls = 0](int64_t, const Logs &) mutable {
    if (++calls == 11) // in the fourth epoch
      throw Error(ErrorKind::runtime_error, "interrupted");
  }});
  CHECK_THAT(errorOf([&] { (void)fit(cut, {BackupAndRestore(backup), stop}); }), Contains("interrupted"));
  CHECK(std::filesystem::exists(backup + "/latest.ckpt"));

  std::ofstream(backup + "/.latest.ckpt.123.0") << "the beginning of a file";
  const Sequential resumed = net();
  set_random_seed(77);
  const History rest = fit(resumed, {BackupAndRestore(backup)});
  CHECK(rest.epoch() == std::vector<int64_t>{3, 4});
  CHECK(rest["loss"] == std::vector<double>{all["loss"][3], all["loss"][4]});
  for (size_t i = 0; i < whole.get_weights().size(); ++i)
    CHECK(resumed.get_weights()[i].to_vector<float>() == whole.get_weights()[i].to_vector<float>());
  CHECK_FALSE(std::filesystem::exists(backup));
  CHECK(fit(resumed, {BackupAndRestore(backup)}).epoch().size() == 5);
}

TEST_CASE("BackupAndRestore refuses an empty name and reports a folder that cannot be made", "[callbacks]") {
  TemporaryFolder folder;
  CHECK_THAT(errorOf([] { BackupAndRestore callback(""); }), Contains("ValueError: Empty `backup_dir`"));
  const std::string file = folder.write("file", "");
  CHECK_THAT(errorOf([&] { (void)fit(net(), {BackupAndRestore(file + "/sub")}); }),
             Contains("cannot create the folder " + file + "/sub: Not a directory"));
}

TEST_CASE("BackupAndRestore saves after batches, keeps two files and leaves them if it is told to", "[callbacks]") {
  TemporaryFolder folder;
  const std::string backup = folder / "backup", latest = backup + "/latest.ckpt", previous = backup + "/previous.ckpt";
  const callbacks::BackupAndRestoreArgs args{.save_freq = 2, .double_checkpoint = true, .delete_checkpoint = false};
  const Sequential model = net();
  std::vector<bool> saved;
  (void)fit(model, {BackupAndRestore(backup, args), LambdaCallback({.on_train_batch_end = [&](int64_t, const Logs &) {
                      saved.push_back(std::filesystem::exists(latest));
                    }})});
  CHECK(saved[0] == false); // after the first of fifteen batches
  CHECK(saved[1] == true);
  CHECK(std::filesystem::exists(previous));
  const Checkpoint::Restored last = Checkpoint(model).restore(latest), before = Checkpoint(model).restore(previous);
  CHECK(last.step == 14);
  CHECK(std::pair(last.epoch, last.batch) == std::pair<int64_t, int64_t>(4, 2));
  CHECK(before.step == 12);
  CHECK(std::pair(before.epoch, before.batch) == std::pair<int64_t, int64_t>(3, 3));

  std::ofstream(latest) << "damaged"; // the run resumes from the previous file
  CHECK(fit(model, {BackupAndRestore(backup, args)}).epoch() == std::vector<int64_t>{3, 4});
  std::filesystem::remove(latest);
  CHECK(fit(model, {BackupAndRestore(backup, args)}).epoch().size() == 2);
  std::ofstream(latest) << "damaged";
  CHECK_THAT(errorOf([&] { (void)fit(model, {BackupAndRestore(backup)}); }),
             Contains("IOError") && Contains("latest.ckpt"));
  CHECK_THAT(errorOf([] { BackupAndRestore callback("x", {.save_freq = 0}); }),
             Contains("ValueError: Invalid value for argument `save_freq`"));
}
