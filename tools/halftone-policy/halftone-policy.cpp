// Shows, checks and rewrites dtype policies from the command line.
// SPDX-License-Identifier: Apache-2.0
#include "CLI/CLI.hpp"
#include "Commands.h"
#include "halftone/Version.h"
#include <algorithm>
#include <exception>
#include <fmt/format.h>
#include <string_view>

using namespace halftone;
using namespace halftone::tools;

static CLI::App *addCommand(CLI::App &app, const char *name, const char *help, Arguments &arguments) {
  CLI::App *command = app.add_subcommand(name, help);
  command->add_flag("--json", arguments.json, "The result as one JSON object");
  command->add_flag("-q,--quiet", arguments.quiet, "Print errors only");
  return command;
}

int main(int argc, char **argv) {
  Arguments arguments;
  const bool json =
      std::any_of(argv + 1, argv + argc, [](const char *text) { return std::string_view(text) == "--json"; });
  CLI::App app("Shows, checks and rewrites dtype policies.", "halftone-policy");
  app.footer("Exit codes: 0 yes, 1 no (a finding, no counterpart), 2 bad usage, 3 bad input, 5 bug in Halftone.");
  app.set_version_flag("--version", std::string("halftone-policy ") + version());
  app.require_subcommand(1);
  CLI::App *showCommand = addCommand(app, "show", "A policy's dtypes and its Keras JSON, or every name", arguments);
  showCommand->add_option("NAME", arguments.subject, "mixed_float16, int8_from_float32, ...");
  CLI::App *lintCommand = addCommand(app, "lint", "Check a file of policies by path", arguments);
  lintCommand->add_option("FILE", arguments.subject, "A DTypePolicyMap as Keras or Halftone writes it")->required();
  lintCommand->add_flag("--strict", arguments.strict, "Exit with 1 on a warning too");
  CLI::App *convertCommand = addCommand(
      app, "convert", "Spell a map's file out, or name the Keras 3 policy of a TensorFlow 2.0 name", arguments);
  convertCommand->add_option("FILE", arguments.subject, "FILE.json, or a name such as float16_with_float32_vars")
      ->required();
  convertCommand->add_option("-o", arguments.output, "The file to write, or - for stdout")->capture_default_str();
  for (CLI::App *command : {lintCommand, convertCommand})
    command->add_option("--global", arguments.global, "The global policy that stands for null")->capture_default_str();
  const std::string_view first = argc > 1 ? argv[1] : "-";
  if (first.substr(0, 1) != "-" && first != "show" && first != "lint" && first != "convert")
    return reportUsageError(fmt::format("'{}' is no command; expected show, lint or convert", first), "", json);
  try {
    app.parse(argc, argv);
    arguments.command = app.get_subcommands().front()->get_name();
    return arguments.command == "show"   ? show(arguments)
           : arguments.command == "lint" ? lint(arguments)
                                         : convert(arguments);
  } catch (const CLI::CallForHelp &) {
    const auto chosen = app.get_subcommands();
    fmt::print("{}", chosen.empty() ? app.help() : chosen.front()->help());
    return yes;
  } catch (const CLI::CallForVersion &call) {
    fmt::print("{}\n", call.what());
    return yes;
  } catch (const CLI::ParseError &error) {
    return reportUsageError(error.what(), arguments.command, json);
  } catch (const Error &error) {
    return reportError(error, arguments.command, json);
  } catch (const std::exception &error) {
    return reportError(Error(ErrorKind::internal_error, error.what()), arguments.command, json);
  }
}
