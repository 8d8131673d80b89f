// The command line for showing, resolving, checking and rewriting dtype policies.
// SPDX-License-Identifier: Apache-2.0
#include "CLI/CLI.hpp"
#include "Commands.h"
#include "halftone/Version.h"
#include "runtime/policy/PathPattern.h"
#include "tools/shell/OptionRules.h"
#include "tools/shell/TargetNames.h"
#include <algorithm>
#include <exception>
#include <fmt/format.h>
#include <map>
#include <new>
#include <string_view>

using namespace halftone;
using namespace halftone::tools;

namespace {

CLI::App *addCommand(CLI::App &app, const char *name, const char *help, Arguments &arguments) {
  CLI::App *command = app.add_subcommand(name, help);
  command->add_flag("--json", arguments.json, "The result as one JSON object");
  auto *quiet = command->add_flag("-q,--quiet", arguments.quiet, "Print errors only");
  if (std::string_view(name) != "show")
    command->add_flag("-v,--verbose", arguments.verbose, "Print to stderr what was read")->excludes(quiet);
  return command;
}

/// A CLI11 check: "" if the text is a regular expression, otherwise the message.
std::string checkPattern(const std::string &text) {
  try {
    (void)PathPattern(text);
    return "";
  } catch (const Error &error) {
    return error.message();
  }
}

void declare(CLI::App &app, Arguments &arguments) {
  app.footer(
      "Exit codes: 0 yes, 1 no (a finding, no counterpart), 2 bad usage, 3 bad input, 4 device missing, 5 bug in "
      "Halftone.");
  app.set_version_flag("--version", std::string("halftone-policy ") + version());
  app.require_subcommand(1);
  app.fallthrough(); // allows --version after a command
  CLI::App *show = addCommand(app, "show", "A policy's dtypes and its Keras JSON, or every name", arguments);
  show->add_option("NAME", arguments.subject, "mixed_float16, int8_from_float32, ...");

  CLI::App *resolve = addCommand(
      app, "resolve", "The policy of each layer of a model, the key that decides it, and whether the loss is scaled",
      arguments);
  resolve->add_option("MODEL", arguments.subject, "A .keras archive, or a .mlir module in a stage from graph to kernel")
      ->required();
  auto *policy = resolve->add_option("--policy", arguments.policy, "Instead of every policy in the model");
  resolve->add_option("--policy-map", arguments.policyMap, "A map that decides by path, as Model::apply_policy does")
      ->excludes(policy);
  resolve->add_option("--path", arguments.path, "Only layers whose whole path this regular expression matches")
      ->check(checkPattern);

  CLI::App *lint = addCommand(app, "lint", "Check a file of policies by path, by itself or for a model", arguments);
  lint->add_option("FILE", arguments.subject, "A DTypePolicyMap as Keras or Halftone writes it")->required();
  auto *model = lint->add_option("--model", arguments.model, "A .keras archive or .mlir module that the map is for");
  lint->add_option("--device", arguments.device,
                   "What the model will run on: cpu (this machine's), " HALFTONE_CPU_TARGET_NAMES
                   ". P014 reports as slower than float32: float16 without F16C, int8 without VNNI, float8 and float64 "
                   "everywhere")
      ->needs(model)
      ->capture_default_str();
  lint->add_flag("--strict", arguments.strict, "Exit with 1 on a warning too");

  CLI::App *convert = addCommand(
      app, "convert", "Write a map's file in full, or print the Keras 3 policy of a TensorFlow 2.0 name", arguments);
  convert->add_option("FILE", arguments.subject, "FILE.json, or a name such as float16_with_float32_vars")->required();
  convert->add_option("-o", arguments.output, "The file to write, or - for stdout")->capture_default_str();
  for (CLI::App *command : {resolve, lint, convert})
    command->add_option("--global", arguments.global, "The global policy, which null stands for")
        ->capture_default_str();
}

} // namespace

static ExitCode run(int argc, char **argv) {
  static const auto &commands = *new std::map<std::string, ExitCode (*)(const Arguments &), std::less<>>{
      {"show", show}, {"resolve", resolve}, {"lint", lint}, {"convert", convert}};
  Arguments arguments;
  const bool json =
      std::any_of(argv + 1, argv + argc, [](const char *text) { return std::string_view(text) == "--json"; });
  CLI::App app("Shows, resolves, checks and rewrites dtype policies.", "halftone-policy");
  declare(app, arguments);
  const std::string_view first = argc > 1 ? argv[1] : "-";
  if (commands.contains(first))
    arguments.command = first;
  else if (!first.starts_with('-'))
    return reportUsageError(fmt::format("'{}' is not a command; expected show, resolve, lint or convert", first), "",
                            json);
  try {
    app.parse(argc, argv);
    const CLI::App *chosen = app.get_subcommands().front();
    arguments.command = chosen->get_name();
    arguments.given = givenOptions(*chosen);
    if (const std::string fault = emptyValue(*chosen); !fault.empty())
      throw UsageError(fault);
    return commands.at(arguments.command)(arguments);
  } catch (const CLI::CallForHelp &) {
    const auto chosen = app.get_subcommands();
    print("{}", chosen.empty() ? app.help() : chosen.front()->help(app.get_name()));
    return yes;
  } catch (const CLI::CallForVersion &call) {
    print("{}\n", call.what());
    return yes;
  } catch (const CLI::ParseError &error) {
    return reportUsageError(error.what(), arguments.command, json);
  } catch (const UsageError &error) {
    return reportUsageError(error.what(), arguments.command, json);
  } catch (const Error &error) {
    return reportError(error, arguments.command, json);
  } catch (const std::bad_alloc &) {
    return reportError(Error(ErrorKind::device_error, "out of memory"), arguments.command, json);
  } catch (const std::exception &error) {
    return reportError(Error(ErrorKind::internal_error, error.what()), arguments.command, json);
  }
}

int main(int argc, char **argv) {
  openStandardStreams();
  return finish("halftone-policy", run(argc, argv));
}
