// Declares all options.
// SPDX-License-Identifier: Apache-2.0
#include "Arguments.h"
#include "CLI/CLI.hpp"
#include "UsageError.h"
#include "compiler/targets/Target.h"
#include "halftone/Version.h"
#include "tools/shell/OptionRules.h"
#include "tools/shell/TargetNames.h"
#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <limits>
#include <string_view>

namespace halftone::tools {
namespace {

const std::string &inputHelp =
    *new std::string("[NAME=]SPEC, once for each feed (in order, or by name) and for each variable to set (by "
                     "name): 2x3xf32=1 2 3 4 5 6, "
                     "2x3xf32=@raw.bin, @x.npy, 2x3xf32=random");

const std::string &specForm = *new std::string(": @x.npy, 2x3xf32=1 2 3 4 5 6, 2x3xf32=@raw.bin, 2x3xf32=random");

CLI::Option *addList(CLI::App *app, const std::string &name, std::vector<std::string> &values,
                     const std::string &help) {
  return app->add_option(name, values, help)->expected(1)->take_all()->allow_extra_args(false);
}

/// Accepts values of this type from `least` to `most`. (CLI11's own checks accept -1 for unsigned types, and nan where
/// negative values are rejected.)
template <class T> CLI::Validator numberIn(T least, T most) {
  const std::string what = std::is_integral_v<T> ? fmt::format("an integer from {} to {}", least, most)
                                                 : std::string("a finite number that is not negative");
  return {[=](const std::string &text) {
            const char *begin = text.c_str() + (text.size() > 1 && text[0] == '+'), *end = text.c_str() + text.size();
            T value{};
            const auto [stop, error] = std::from_chars(begin, end, value);
            const bool good = error == std::errc() && stop == end && value >= least && value <= most;
            return good ? std::string() : fmt::format("expected {}, got '{}'", what, text);
          },
          ""};
}
const auto tolerance = [] { return numberIn(0.0, std::numeric_limits<double>::max()); };
template <class T> CLI::Validator atLeast(T least) { return numberIn(least, std::numeric_limits<T>::max()); }

struct Flags {
  bool noCache = false;
  std::string numerics;
  std::string cacheDirectory;
  std::string program;
  std::vector<std::string> programs; // warm
};

Program programNamed(const std::string &name) {
  return name == "test" ? Program::test : name == "train" ? Program::train : Program::predict;
}

/// Resolves the options that select programs of models. UsageError if no file is a model.
void resolvePrograms(Arguments &arguments, const Flags &flags) {
  arguments.program = programNamed(flags.program);
  for (const std::string &name : flags.programs)
    arguments.programs.push_back(programNamed(name));
  const bool isOfModel = !flags.program.empty() || !flags.programs.empty() || arguments.batchSize ||
                         !arguments.batchSizes.empty() || !arguments.policy.empty() || !arguments.policyMap.empty() ||
                         arguments.global != "float32";
  const auto isModel = [](const std::string &path) { return path.ends_with(".keras"); };
  if (isOfModel && !isModel(arguments.model) && std::ranges::none_of(arguments.models, isModel))
    throw UsageError("--program, --batch-size, --policy, --policy-map and --global are for .keras models; '" +
                     (arguments.models.empty() ? arguments.model : arguments.models.front()) + "' is not one");
}

/// The options of all commands. `numerics` is the default of --numerics.
CLI::App *addCommand(CLI::App &app, const std::string &name, const std::string &help, const std::string &kinds,
                     Arguments &arguments, Flags &flags, const std::string &numerics = "fast") {
  CLI::App *command = app.add_subcommand(name, help);
  if (name == "warm")
    command->add_option("MODEL", arguments.models, kinds)->required();
  else
    command->add_option("MODEL", arguments.model, kinds)->required();
  auto *map = command->add_option("--policy-map", arguments.policyMap,
                                  "For a .keras model: a DTypePolicyMap's JSON file, in place of the file's policies");
  command
      ->add_option(
          "--policy", arguments.policy,
          "For a .keras model: one policy for all layers and for the model itself, by which compile() scales the loss")
      ->excludes(map);
  command
      ->add_option("--global", arguments.global,
                   "For a .keras model: the global policy while the file is read. It is used for policies that the "
                   "file does not record, such as a Sequential's or functional model's own")
      ->capture_default_str();
  command
      ->add_option("--device", arguments.device,
                   name == "predict" ? "cpu, cuda or cuda:<index>; or interpreter for slow, exact results"
                                     : "cpu, cuda or cuda:<index>")
      ->capture_default_str();
  command->add_option("--threads", arguments.threads, "Threads that share a launch (default: all cores)")
      ->check(numberIn(1, 1024));
  command->add_option("--numerics", flags.numerics, "fast or strict (default: the module's, or " + numerics + ")")
      ->check(CLI::IsMember({"fast", "strict"}));
  auto *quiet = command->add_flag("-q,--quiet", arguments.quiet, "Print errors only");
  if (name != "evaluate")
    command->add_flag("-v,--verbose", arguments.verbose, "Print to stderr what was done")->excludes(quiet);
  if (name == "emit")
    return command;
  if (name != "warm")
    command->add_option("--seed", arguments.seed, "For random inputs, initial variables, shuffling and dropout")
        ->check(atLeast(uint64_t(0)))
        ->capture_default_str();
  command->add_flag("--json", arguments.json, "Results as one JSON object");
  return command;
}

/// The options of commands that generate code for a target.
void addCodeOptions(CLI::App *command, Arguments &arguments, Flags &flags) {
  auto *cache = command->add_option("--cache-dir", flags.cacheDirectory, "The folder of the cache of compiled kernels");
  command->add_flag("--no-cache", flags.noCache, "Do not cache compiled kernels on disk")->excludes(cache);
  command->add_option("--target", arguments.target,
                      "The target of the code: " HALFTONE_TARGET_NAMES
                      " (default: the module's, or the device's). emulated:x86-64-v4: code for that CPU, emulated by "
                      "this CPU's instructions");
  command->add_flag("--timing", arguments.timing,
                    "Print to stderr how long each pass, each kernel and each phase of kernels took to compile");
  command->add_flag("--timing-passes", arguments.timingPasses, "As --timing, with a row for each LLVM pass");
}

/// A command that compiles one program, which may be that of a module or a plan.
CLI::App *addProgramCommand(CLI::App &app, const std::string &name, const std::string &help, Arguments &arguments,
                            Flags &flags, const std::string &numerics) {
  CLI::App *command =
      addCommand(app, name, help, "A .keras file, a .mlir module in a stage from graph to kernel, or a saved plan",
                 arguments, flags, numerics);
  command->add_option("--program", flags.program, "For a .keras model: predict, test or train (default: predict)")
      ->check(CLI::IsMember({"predict", "test", "train"}));
  command
      ->add_option("--batch-size", arguments.batchSize,
                   "For a .keras model (default: the first axis of the first --input whose shape is given, else 32)")
      ->check(atLeast(int64_t(1)));
  addCodeOptions(command, arguments, flags);
  command->add_option("--dump-ir", arguments.dumpDirectory, "Write every stage into this directory");
  command->add_flag("--locations", arguments.locations,
                    "Include locations in the modules that --dump-ir and emit write");
  command
      ->add_option("--max-standalone-casts", arguments.maxStandaloneCasts,
                   "Exit with 1 if the plan has more standalone casts")
      ->check(atLeast(int64_t(0)));
  return command;
}

/// A command that trains or evaluates a model.
CLI::App *addTrainingCommand(CLI::App &app, const std::string &name, const std::string &help, Arguments &arguments,
                             Flags &flags) {
  CLI::App *command = addCommand(app, name, help, "A .keras file", arguments, flags);
  addList(command, "--x", arguments.x, "SPEC, once for each input in order" + specForm)->required();
  addList(command, "--y", arguments.y, "SPEC, once for each output in order" + specForm)->required();
  command->add_option("--batch-size", arguments.batchSize, "Rows per step (default: 32)")->check(atLeast(int64_t(1)));
  command->add_option("--loss", arguments.loss, "Compile the model with this loss (default: as in the file)");
  command->add_option("--optimizer", arguments.optimizer, "With --loss (default: rmsprop)");
  addList(command, "--metric", arguments.metrics, "With --loss, once for each metric");
  return command;
}

void addFit(CLI::App &app, Arguments &arguments, Flags &flags) {
  CLI::App *command = addTrainingCommand(app, "fit", "Train a model; a line for each epoch", arguments, flags);
  command->add_option("--epochs", arguments.epochs, "Passes over the data, including those before --resume")
      ->check(atLeast(int64_t(1)))
      ->capture_default_str();
  auto *split = command
                    ->add_option("--validation-split", arguments.validationSplit,
                                 "The share of the rows, taken from the end, for validation after each epoch")
                    ->check(tolerance())
                    ->capture_default_str();
  auto *x = addList(command, "--val-x", arguments.validationX, "SPEC of data for validation after each epoch, as --x");
  auto *y = addList(command, "--val-y", arguments.validationY, "SPEC of data for validation after each epoch, as --y");
  x->needs(y)->excludes(split);
  y->needs(x);
  command->add_option("--resume", arguments.resume,
                      "A checkpoint: training resumes after its last epoch, with its optimizer's state");
  command->add_option("--checkpoint", arguments.checkpoint, "Write a checkpoint, FILE.ckpt, after each epoch");
  command->add_option("--csv", arguments.csv,
                      "Write a line of comma-separated values after each epoch; with --resume append to the file");
  command
      ->add_option("--distribute", arguments.distribute,
                   "mpi: the processes that mpirun or Slurm started share each batch, and rank 0 prints and saves")
      ->check(CLI::IsMember({"mpi"}));
  command->add_option("--save", arguments.save, "The .keras file for the trained model, with the optimizer's state");
}

void addPredict(CLI::App &app, Arguments &arguments, Flags &flags) {
  CLI::App *command =
      addProgramCommand(app, "predict", "Run a program once and print what it fetches", arguments, flags, "fast");
  addList(command, "--input", arguments.inputs, inputHelp);
  addList(
      command, "--output", arguments.outputs,
      "[NAME=]FILE.npy, once for each fetch or variable to write (default: print shapes, first values, finite counts)");
}

void addCompare(CLI::App &app, Arguments &arguments, Flags &flags) {
  CLI::App *command =
      addProgramCommand(app, "compare", "Check compiled code against the interpreter", arguments, flags, "strict");
  addList(command, "--input", arguments.inputs, inputHelp + "; feeds without one are random");
  command->add_option("--against", arguments.against, "interpreter, or [NAME=]FILE.npy: the expected value of a fetch")
      ->capture_default_str();
  command->add_option("--steps", arguments.steps, "Consecutive runs; variables carry over")
      ->check(atLeast(int64_t(1)))
      ->capture_default_str();
  command->add_option("--rtol", arguments.tolerance.rtol, "Allowed error relative to the expected value")
      ->check(tolerance());
  command->add_option("--atol", arguments.tolerance.atol, "Allowed error")->check(tolerance());
  command
      ->add_option("--ulp", arguments.tolerance.ulp,
                   "Allowed error in steps of the dtype; without any of the three: the guarantee of the numerics")
      ->check(atLeast(int64_t(0)));
  command->add_flag("--by-layer", arguments.byLayer, "Also check each launch, on the operands that it had");
}

void addEmit(CLI::App &app, Arguments &arguments, Flags &flags) {
  CLI::App *command = addProgramCommand(app, "emit", "Print a stage of the compiler", arguments, flags, "fast");
  command->add_option("--stage", arguments.stage, "graph, cast, pure, kernel, linalg, plan or target")
      ->capture_default_str();
  command->add_option("--format", arguments.format, "mlir, plan, llvm, asm, ptx (kernels of GPUs) or object (of CPUs)");
  command->add_option("-o", arguments.output, "The file, or - for stdout")->capture_default_str();
}

void addWarm(CLI::App &app, Arguments &arguments, Flags &flags) {
  CLI::App *command = addCommand(app, "warm", "Compile programs and write their kernels into one file, a kernel pack",
                                 ".keras files, and .mlir modules in a stage from graph to kernel", arguments, flags);
  addCodeOptions(command, arguments, flags);
  addList(command, "--program", flags.programs,
          "For a .keras model, once for each program: predict, test or train (default: predict, and if the file is of "
          "a compiled model, all three)")
      ->check(CLI::IsMember({"predict", "test", "train"}));
  command
      ->add_option("--batch-size", arguments.batchSizes, "For a .keras model, once for each batch size (default: 32)")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->check(atLeast(int64_t(1)));
  command->add_option("-o", arguments.output, "The file to write")->required();
}

} // namespace

bool asksForJson(int argc, char **argv) {
  return std::any_of(argv + 1, argv + argc,
                     [](const char *argument) { return std::string_view(argument) == "--json"; });
}

Arguments parseArguments(int argc, char **argv) {
  Arguments arguments;
  Flags flags;
  CLI::App app("Runs, trains, compares and prints models, modules and saved plans.", "halftone-run");
  app.footer("Exit codes: 0 yes, 1 no (a difference, too many casts, a loss that is not finite), 2 bad usage, 3 bad "
             "input, 4 device missing, 5 "
             "bug in Halftone.");
  app.set_version_flag("--version", std::string("halftone-run ") + version());
  app.require_subcommand(1);

  addPredict(app, arguments, flags);
  addTrainingCommand(app, "evaluate", "Print the loss and the metrics of a model on data", arguments, flags);
  addFit(app, arguments, flags);
  addCompare(app, arguments, flags);
  addEmit(app, arguments, flags);
  addWarm(app, arguments, flags);

  auto isNamed = [&](const CLI::App *command) { return command->get_name() == argv[1]; };
  if (argc > 1 && argv[1][0] != '-' && !std::ranges::any_of(app.get_subcommands({}), isNamed))
    throw UsageError(std::string("'") + argv[1] +
                     "' is not a command; expected predict, evaluate, fit, compare, emit or warm");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp &) {
    for (CLI::App *command : app.get_subcommands())
      arguments.notice = command->help();
    if (arguments.notice.empty())
      arguments.notice = app.help();
    return arguments;
  } catch (const CLI::CallForVersion &call) {
    arguments.notice = std::string(call.what()) + "\n";
    return arguments;
  } catch (const CLI::ParseError &error) {
    throw UsageError(error.what());
  }
  CLI::App *chosen = app.get_subcommands().front();
  arguments.command = chosen->get_name();
  arguments.given = givenOptions(*chosen);
  arguments.strict = flags.numerics.empty() ? arguments.command == "compare" : flags.numerics == "strict";
  arguments.cacheDirectory = flags.noCache ? "none" : flags.cacheDirectory;
  if (const std::string fault = emptyValue(*chosen); !fault.empty())
    throw UsageError(fault);
  if (!arguments.target.empty())
    if (auto target = compiler::Target::find(arguments.target); !target.isOk())
      throw UsageError("--target: " + target.status().message());
  resolvePrograms(arguments, flags);
  return arguments;
}

} // namespace halftone::tools
