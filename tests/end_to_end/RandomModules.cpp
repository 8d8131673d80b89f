// Random modules with extents of 0 and 1, or with variables that are assigned and reread: each matches the interpreter.
// SPDX-License-Identifier: Apache-2.0
#include "ForcedTargets.h"
#include "RandomOps.h"
#include "RandomState.h"
#include "compiler/Compiler.h"
#include "runtime/base/WriteFile.h"
#include "tools/shell/ShellWord.h"
#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>

using namespace halftone;
using namespace halftone::test;
using namespace halftone::tools;

namespace {

struct Arguments {
  uint32_t seed = 1, count = 20;
  int ops = 12;
  std::vector<std::string> targets{"host"};
  bool plain = false, state = false, loops = false, print = false;
  Tolerance tolerance;
};

bool runsHere(const std::string &target) {
  if (target == V3::target)
    return V3::runs();
  if (target == V4::target)
    return V4::runs();
  if (target == Zen4::target)
    return Zen4::runs();
  if (target == SapphireRapids::target)
    return SapphireRapids::runs();
  if (target == Sm80::target)
    return Sm80::runs();
  if (target.starts_with("emulated:"))
    return V3::runs();
  return target == Host::target || target == V2::target;
}

struct Findings {
  std::vector<std::string> lines;
  std::string sign; // printed by halftone-run
};

Findings failure(const Status &status) {
  const std::string &message = status.message();
  return {{status.str() + "\n" + status.diagnostics()},
          message.substr(0, message.find_first_of("0123456789%@'\"\n"))}; // names change with the module
}

/// The findings for the module of `seed`. A module for a target that cannot run here is only compiled.
Findings findings(const std::string &text, const std::string &target, bool strict, uint32_t seed,
                  const Tolerance &tolerance) {
  CompareOptions options = optionsFor(target, strict);
  options.tolerance = tolerance;
  if (runsHere(target)) {
    StatusOr<Comparison> comparison = compareProgram(text, options, seed);
    return comparison.isOk() ? Findings{differencesOf(*comparison), "differs beyond"} : failure(comparison.status());
  }
  StatusOr<ModuleFile> file = parseModule(text, "program");
  if (!file.isOk())
    return failure(file.status());
  compiler::CompileOptions compile = options.compile;
  compile.from = file->stage;
  StatusOr<Executable> executable = compiler::compile(*file->module, compile);
  return executable.isOk() ? Findings{} : failure(executable.status());
}

/// Writes the module to a file, and prints the command that reduces it while halftone-run prints `sign`.
void printReduction(const std::string &text, const std::string &target, bool strict, uint32_t seed,
                    const Arguments &arguments, const std::string &sign) {
  const std::string file =
      std::filesystem::absolute(fmt::format("random-{}-{}.mlir", arguments.state ? "state" : "ops", seed)).string();
  writeFile(file, {text}).orThrow();
  const std::string tools = HALFTONE_BINARY_DIR "/tools/";
  std::string command = shellWord(tools + "halftone-run/halftone-run");
  command += runsHere(target) ? fmt::format(" compare %s --no-cache --by-layer --steps 2 --seed {}", seed)
                              : " emit %s --no-cache --stage target -o /dev/null";
  if (arguments.tolerance.given() && runsHere(target))
    command += " " + arguments.tolerance.str();
  if (target == Sm80::target && runsHere(target))
    command += " --device cuda";
  command += fmt::format(" --numerics {} --target {}", strict ? "strict" : "fast", target);
  std::cout << fmt::format("reduce with: {} {} --command {} --says {}",
                           shellWord(tools + "halftone-reduce/halftone-reduce"), shellWord(file), shellWord(command),
                           shellWord(sign))
            << std::endl;
}

int run(const Arguments &arguments) {
  uint32_t bad = 0;
  for (uint32_t seed = arguments.seed; seed < arguments.seed + arguments.count; ++seed) {
    const std::string text =
        arguments.state ? randomState(seed)
                        : randomOps(seed, 4 + int(seed % uint32_t(arguments.ops)), !arguments.plain, arguments.loops);
    if (arguments.print)
      std::cout << text;
    bool isBad = false;
    for (const std::string &target : arguments.targets)
      for (const bool strict : {false, true}) {
        const auto [lines, sign] = findings(text, target, strict, seed, arguments.tolerance);
        for (const std::string &finding : lines)
          std::cout << "seed " << seed << ", " << target << (strict ? ", strict: " : ": ") << finding << std::endl;
        if (!lines.empty())
          printReduction(text, target, strict, seed, arguments, sign);
        isBad |= !lines.empty();
      }
    if (isBad)
      std::cout << text << std::endl;
    bad += isBad;
  }
  std::cout << arguments.count << " modules, " << bad << " with findings" << std::endl;
  return bad ? 1 : 0;
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("Random modules, compiled in default and in strict numerics, against the interpreter");
  Arguments arguments;
  app.add_option("--seed", arguments.seed, "the first seed; each module has the next");
  app.add_option("--count", arguments.count, "how many modules");
  app.add_option("--ops", arguments.ops, "modules have 4 ops and up to so many more")->check(CLI::Range(1, 1000));
  app.add_option("--target", arguments.targets, "what to compile for; what does not run here is compiled only");
  app.add_flag("--plain", arguments.plain, "of the other kind: float programs, few extents of 1, none of 0");
  app.add_flag("--state", arguments.state, "of another kind: variables that are assigned and read again");
  app.add_flag("--loops", arguments.loops, "with scans, whose bodies are random too");
  app.add_flag("--print", arguments.print, "print each module");
  app.add_option("--ulp", arguments.tolerance.ulp,
                 "the allowed error of results, in place of the interpreter's intervals");
  CLI11_PARSE(app, argc, argv);
  return run(arguments);
}
