// Records every stage, plan and machine code of programs of nets, for comparing two builds.
// SPDX-License-Identifier: Apache-2.0
//
//   recorded-code FOLDER [--nets NAME,NAME...] [--quick]
//
// writes FOLDER/<net>/<program>/0-graph.mlir ... 6-target.s for the target given by HALFTONE_TARGET. With --quick it
// writes only 3-kernel.mlir and generates no code. A build always writes the same files; the files of another build
// have other kernel keys, which scripts/compare-code ignores.
#include "RecordedNets.h"
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <ranges>

using namespace halftone;
using namespace halftone::benchmarks;

namespace {

struct Options {
  std::string folder;
  std::vector<RecordedNet> nets = recordedNets();
  bool quick = false;
};

/// The nets in that comma-separated list, in the order of `all`.
std::vector<RecordedNet> chosen(const std::vector<RecordedNet> &all, const std::string &list) {
  std::vector<std::string> names;
  for (const auto &part : std::views::split(list, ','))
    names.emplace_back(part.begin(), part.end());
  for (const std::string &name : names)
    if (std::ranges::find(all, name, &RecordedNet::name) == all.end())
      throw std::invalid_argument(fmt::format("--nets: no net '{}'; expected some of {}", name,
                                              fmt::join(std::views::transform(all, &RecordedNet::name), ", ")));
  std::vector<RecordedNet> nets;
  for (const RecordedNet &net : all)
    if (std::ranges::find(names, net.name) != names.end())
      nets.push_back(net);
  return nets;
}

/// invalid_argument unless the arguments match the usage above.
Options optionsOf(const std::vector<std::string> &arguments) {
  Options options;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string &argument = arguments[i];
    if (argument == "--quick")
      options.quick = true;
    else if (argument == "--nets" && i + 1 < arguments.size())
      options.nets = chosen(recordedNets(), arguments[++i]);
    else if (!argument.starts_with("-") && options.folder.empty())
      options.folder = argument;
    else
      throw std::invalid_argument(fmt::format("expected FOLDER [--nets NAME,NAME...] [--quick], got '{}'", argument));
  }
  if (options.folder.empty())
    throw std::invalid_argument("expected one folder to write to");
  return options;
}

void record(const Model &model, const RecordedProgram &program, const std::string &folder, bool quick) {
  const IrArgs args{.program = program.program, .batch_size = program.batch};
  if (!quick)
    return model.dump_ir(folder, args);
  const std::string text = model.ir(Stage::kernel, args);
  std::filesystem::create_directories(folder);
  std::ofstream file(folder + "/3-kernel.mlir");
  file << text;
  file.close();
  if (!file)
    throw std::runtime_error(folder + "/3-kernel.mlir: cannot be written");
}

} // namespace

int main(int argc, char **argv) {
  try {
    const Options options = optionsOf({argv + 1, argv + argc});
    for (const RecordedNet &net : options.nets) {
      utils::clear_session(); // makes layer names independent of previous nets
      const Model model = net.make();
      for (const RecordedProgram &program : net.programs)
        record(model, program, fmt::format("{}/{}/{}", options.folder, net.name, program.folder), options.quick);
      fmt::print("{}\n", net.name);
    }
  } catch (const std::invalid_argument &error) {
    std::fprintf(stderr, "recorded-code: %s\n", error.what());
    return 2;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "recorded-code: %s\n", error.what());
    return 1;
  }
  return 0;
}
