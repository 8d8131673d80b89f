// Runs the script or command through a shell that caches the answers in a folder.
// SPDX-License-Identifier: Apache-2.0
#include "Probe.h"
#include "runtime/base/OpenFile.h"
#include "tools/shell/ShellWord.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Signals.h"
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace halftone::tools {
namespace {

// $0 is the folder; the last argument is a module file. The file $answer caches the answer for this module. `code` has
// the exit code of the last program, `output` its output, `tries` a line per program; `fault` exists if a script gave
// no answer.
constexpr const char *begin = R"sh(
exec 2> /dev/null
trap 'exit 0' HUP INT TERM
for file; do :; done
answer="$0/$(sha256sum < "$file" | cut -c 1-64)"
[ -e "$answer" ] && read -r known < "$answer" && exit "$known"
[ -e "$0/fault" ] && exit 0
echo >> "$0/tries"
)sh";

constexpr const char *askScript = R"sh(
"$@" > "$0/output" 2>&1 < /dev/null
code=$?
echo $code > "$0/code"
[ $code -gt 1 ] && touch "$0/fault" && exit 0
echo $code > "$answer"
exit $code
)sh";

// $1 is the command, $2 the exit code or "any", $3 the text that the output must contain, or "".
constexpr const char *askCommand = R"sh(
cp "$file" "$0/module.mlir"
sh -c "$1" > "$0/output" 2>&1 < /dev/null
code=$?
echo $code > "$0/code"
fails=1
[ "$2" = any ] || [ "$2" = $code ] || fails=0
[ -z "$3" ] || LC_ALL=C grep -aqF -e "$3" "$0/output" || fails=0
echo $fails > "$answer"
exit $fails
)sh";

volatile std::sig_atomic_t interrupted = 0; // the signal number

/// Makes setting Probe::interruption() the only effect of termination signals.
void holdInterruptions() {
  constexpr std::array signals{SIGHUP, SIGINT, SIGTERM};
  std::array<void (*)(int), signals.size()> before;
  for (size_t i = 0; i < signals.size(); ++i)
    before[i] = std::signal(signals[i], SIG_IGN);
  llvm::sys::SetInterruptFunction(nullptr); // installs LLVM's handlers now; otherwise mlir::Tester would override these
  for (size_t i = 0; i < signals.size(); ++i)
    (void)std::signal(signals[i], before[i] == SIG_IGN ? SIG_IGN : [](int signal) { interrupted = signal; });
}

constexpr size_t shownBytes = 2000; // of a program's output

/// Replaces each %s in the command by a file.
std::string withFile(std::string command, const std::string &file) {
  for (size_t at = 0; (at = command.find("%s", at)) != command.npos; at += file.size())
    command.replace(at, 2, file);
  return command;
}

std::string contentsOf(const std::string &path) {
  StatusOr<std::string> contents = readFile(path);
  return contents ? *std::move(contents) : "";
}

Status checkScript(const std::string &script) {
  std::error_code failure;
  const fs::file_status file = fs::status(script, failure);
  if (fs::exists(file) && !fs::is_regular_file(file))
    return {ErrorKind::value_error, fmt::format("--test: cannot run {}: it is not a regular file", script)};
  if (::access(script.c_str(), X_OK) != 0)
    return {ErrorKind::value_error, fmt::format("--test: cannot run {}: {}", script, std::strerror(errno))};
  return {};
}

} // namespace

StatusOr<std::unique_ptr<Probe>> Probe::create(const Question &question) {
  if (!question.script.empty())
    HALFTONE_RETURN_IF_ERROR(checkScript(question.script));
  holdInterruptions();
  llvm::SmallString<128> folder;
  if (const std::error_code failure = llvm::sys::fs::createUniqueDirectory("halftone-reduce", folder))
    return Status(ErrorKind::io_error, fmt::format("cannot create a temporary folder: {}", failure.message()));
  std::unique_ptr<Probe> probe(new Probe);
  probe->folder_ = folder.str().str();
  probe->script_ = question.script;
  probe->arguments_ = {"-c", std::string(begin) + (question.script.empty() ? askCommand : askScript), probe->folder_};
  std::vector<std::string> &arguments = probe->arguments_;
  if (question.script.empty()) {
    arguments.push_back(withFile(question.command, shellWord(probe->folder_ + "/module.mlir")));
    arguments.push_back(question.code ? std::to_string(*question.code) : "any");
    arguments.push_back(question.says);
  } else {
    arguments.push_back(fs::absolute(question.script).string()); // else the shell may look it up in PATH
    arguments.insert(arguments.end(), question.arguments.begin(), question.arguments.end());
  }
  return probe;
}

Probe::~Probe() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

bool Probe::fails(mlir::ModuleOp module) const {
  return interrupted == 0 &&
         mlir::Tester(program_, arguments_).isInteresting(module).first == mlir::Tester::Interestingness::True;
}

bool Probe::failsAgain(mlir::ModuleOp module) const {
  constexpr size_t digits = 64; // in a module's name
  for (const fs::directory_entry &file : fs::directory_iterator(folder_))
    if (file.path().filename().string().size() == digits)
      fs::remove(file.path());
  return fails(module);
}

int Probe::interruption() { return interrupted; }

Status Probe::fault() const {
  if (interrupted != 0)
    return {ErrorKind::runtime_error, fmt::format("ended by a signal: {}", ::strsignal(interrupted))};
  if (!fs::exists(folder_ + "/fault"))
    return {};
  return {ErrorKind::value_error,
          fmt::format("{} {}; expected 1 for a module that still fails, or 0", script_, lastAnswer())};
}

std::string Probe::lastAnswer() const {
  std::string code = contentsOf(folder_ + "/code"), output = contentsOf(folder_ + "/output");
  while (!code.empty() && code.back() == '\n')
    code.pop_back();
  while (!output.empty() && output.back() == '\n')
    output.pop_back();
  if (output.empty())
    return fmt::format("exited with {} and printed nothing", code);
  const bool isLong = output.size() > shownBytes;
  return fmt::format("exited with {} and printed\n{}{}\n", code, isLong ? "...\n" : "",
                     isLong ? output.substr(output.size() - shownBytes) : output);
}

int64_t Probe::tries() const { return int64_t(contentsOf(folder_ + "/tries").size()); }

} // namespace halftone::tools
