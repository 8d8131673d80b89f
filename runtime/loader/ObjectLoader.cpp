// Links kernel objects with JITLink, one by one.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/loader/ObjectLoader.h"
#include "runtime/base/CompilerGate.h"
#include "runtime/base/TilePermission.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringSet.h>
#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/TaskDispatch.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SHA256.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/X86TargetParser.h>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace halftone {
namespace {

namespace orc = llvm::orc;

Status bad(const std::string &kernel, const std::string &message) {
  return {ErrorKind::value_error, fmt::format("kernel {}: {}", kernel, message)};
}

/// The process-wide linker. Not thread-safe: the cache's lock guards it.
class Linker {
public:
  static llvm::Expected<std::shared_ptr<Linker>> create() {
    // The linker runs in the calling thread.
    auto control = orc::SelfExecutorProcessControl::Create(nullptr, std::make_unique<orc::InPlaceTaskDispatcher>());
    if (!control)
      return control.takeError();
    return std::shared_ptr<Linker>(new Linker(std::move(*control)));
  }
  ~Linker() { llvm::consumeError(session_.endSession()); }

  /// Links a kernel into a new `library`. Its code can refer only to the symbols of `cores`. `problems` receives the
  /// errors that LLVM's session reported in addition to the returned one.
  llvm::Expected<orc::ExecutorAddr> link(const KernelCode &kernel, llvm::ArrayRef<orc::JITDylib *> cores,
                                         orc::JITDylib *&library, std::string &problems) {
    session_.setErrorReporter(
        [&](llvm::Error error) { problems += (problems.empty() ? "" : "; ") + llvm::toString(std::move(error)); });
    // Bare: no symbol of the process or of another kernel is visible.
    library = &session_.createBareJITDylib(fmt::format("kernel{}", count_++));
    for (orc::JITDylib *core : cores)
      library->addToLinkOrder(*core);
    if (llvm::Error error = layer_.add(*library, llvm::MemoryBuffer::getMemBufferCopy(kernel.code, kernel.symbol)))
      return std::move(error);
    auto found = session_.lookup({library}, kernel.symbol);
    if (!found)
      return found.takeError();
    return found->getAddress();
  }
  void remove(orc::JITDylib &library) {
    session_.setErrorReporter([](llvm::Error error) { llvm::consumeError(std::move(error)); });
    llvm::consumeError(session_.removeJITDylib(library));
  }

private:
  explicit Linker(std::unique_ptr<orc::ExecutorProcessControl> control)
      : session_(std::move(control)), layer_(session_, session_.getExecutorProcessControl().getMemMgr()) {}
  orc::ExecutionSession session_;
  orc::ObjectLinkingLayer layer_;
  uint64_t count_ = 0;
};

/// The linked code of one object, which is removed with its last owner. A kernel owns its cores.
struct LoadedKernel {
  std::string name; // its key in the cache, once it is there
  std::shared_ptr<Linker> linker;
  std::vector<std::shared_ptr<LoadedKernel>> cores;
  orc::JITDylib *library = nullptr;
  CpuKernelFunction function = nullptr;
  ~LoadedKernel();
};

/// The kernels loaded in the process, by hash of symbol, code and cores. Its lock also guards the linker.
struct Cache {
  std::recursive_mutex mutex; // recursive, since loading one kernel may drop another
  std::weak_ptr<Linker> linker;
  std::unordered_map<std::string, std::weak_ptr<LoadedKernel>> kernels;
  std::vector<std::shared_ptr<Linker>> kept; // of kernels dropped while the process exits
};

Cache &cache() {
  static Cache &cache = *new Cache;
  return cache;
}

LoadedKernel::~LoadedKernel() {
  const CompilerGate gate;
  const ForkSafeLock lock(cache().mutex);
  if (auto entry = cache().kernels.find(name); entry != cache().kernels.end() && entry->second.expired())
    cache().kernels.erase(entry);
  if (!gate.status().isOk() && isProcessEnding()) {
    cache().kept.push_back(std::move(linker)); // LLVM's static objects may already be destroyed
    return;
  }
  if (library)
    linker->remove(*library);
  linker.reset();
}

class ObjectLibrary final : public KernelLibrary {
public:
  std::map<std::string, std::shared_ptr<LoadedKernel>> kernels;
  StatusOr<KernelHandle> find(const std::string &key) const override {
    auto found = kernels.find(key);
    if (found == kernels.end())
      return Status(ErrorKind::key_error, fmt::format("no code for kernel {}", key));
    return KernelHandle(found->second->function);
  }
};

/// Checks that the code is an object of this machine that defines `symbol` as a function, and whose only undefined
/// symbols are those of its cores among `kernels`.
Status checkObject(const std::string &key, const KernelCode &kernel, const std::map<std::string, KernelCode> &kernels) {
  auto object = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(kernel.code, key));
  if (!object)
    return bad(key, "not an object file: " + llvm::toString(object.takeError()));
  const llvm::Triple host(llvm::sys::getProcessTriple());
  if ((*object)->getArch() != host.getArch() || !(*object)->isRelocatableObject())
    return bad(key, fmt::format("expected a relocatable object for {}, got {}", host.getArchName().str(),
                                (*object)->getFileFormatName().str()));
  bool defined = false;
  std::vector<std::string> undefined;
  for (const llvm::object::SymbolRef &symbol : (*object)->symbols()) {
    auto name = symbol.getName();
    auto flags = symbol.getFlags();
    auto type = symbol.getType();
    if (llvm::Error error = llvm::joinErrors(name.takeError(), llvm::joinErrors(flags.takeError(), type.takeError())))
      return bad(key, "damaged symbol table: " + llvm::toString(std::move(error)));
    using llvm::object::SymbolRef;
    if (*flags & SymbolRef::SF_Undefined) {
      const auto isOf = [&](const std::string &core) { return kernels.at(core).symbol == *name; };
      if (!name->empty() && *name != "_GLOBAL_OFFSET_TABLE_" && // defined by the linker
          llvm::none_of(kernel.uses, isOf))
        undefined.push_back(name->str());
    } else if (*name == kernel.symbol && (*flags & SymbolRef::SF_Global) && *type == SymbolRef::ST_Function) {
      defined = true;
    }
  }
  if (!undefined.empty())
    return bad(key, fmt::format("undefined symbols: {}", fmt::join(undefined, ", ")));
  if (!defined)
    return bad(key, fmt::format("the object has no global function '{}'", kernel.symbol));
  return {};
}

/// Returns true if code may contain instructions of this x86 feature. Other features do not affect code, and virtual
/// machines hide some of them.
bool isOfCode(llvm::StringRef feature) {
  return llvm::any_of(
      llvm::ArrayRef<llvm::StringRef>({"sse", "ssse", "avx", "amx-", "bmi", "fma", "f16c", "lzcnt", "popcnt"}),
      [&](llvm::StringRef prefix) { return feature.starts_with(prefix); });
}

/// The features of an x86 CPU ("cpu", "+avx512f,-amx-tile,...") that its code may use and this machine lacks.
std::vector<std::string> missingFeatures(llvm::StringRef cpu, llvm::StringRef features) {
  if (!llvm::Triple(llvm::sys::getProcessTriple()).isX86() || llvm::X86::parseArchX86(cpu) == llvm::X86::CK_None)
    return {};
  llvm::SmallVector<llvm::StringRef> ofModel, changes;
  llvm::X86::getFeaturesForCPU(cpu, ofModel);
  llvm::StringSet<> needed;
  needed.insert(ofModel.begin(), ofModel.end());
  features.split(changes, ',', -1, false);
  for (llvm::StringRef change : changes)
    if (change.consume_front("+"))
      needed.insert(change);
    else if (change.consume_front("-"))
      needed.erase(change);
  static const auto &host = *new llvm::StringMap<bool>(llvm::sys::getHostCPUFeatures()); // slow on virtual machines
  std::vector<std::string> missing;
  for (const auto &feature : host)
    if (const llvm::StringRef name = feature.first(); needed.contains(name) && isOfCode(name))
      if (!feature.second || (name.starts_with("amx-") && !mayUseTiles()))
        missing.push_back(name.str());
  std::sort(missing.begin(), missing.end());
  return missing;
}

/// The key of a kernel in the cache. The hashed bytes are unambiguous: the cores' names have one length, and no symbol
/// contains a zero byte.
std::string nameOf(const KernelCode &kernel, llvm::ArrayRef<std::shared_ptr<LoadedKernel>> cores) {
  llvm::SHA256 hash;
  for (const auto &core : cores)
    hash.update(core->name);
  hash.update(llvm::StringRef("\0", 1));
  hash.update(kernel.symbol);
  hash.update(llvm::StringRef("\0", 1));
  hash.update(kernel.code);
  return llvm::toHex(hash.final());
}

/// Loads a kernel or a core, and first the cores that it uses. `kernels` have passed checkCores().
StatusOr<std::shared_ptr<LoadedKernel>> load(const std::string &key, const std::map<std::string, KernelCode> &kernels) {
  const KernelCode &kernel = kernels.at(key);
  std::vector<std::shared_ptr<LoadedKernel>> cores;
  for (const std::string &used : kernel.uses) {
    auto core = load(used, kernels);
    HALFTONE_RETURN_IF_ERROR(core.status());
    cores.push_back(std::move(*core));
  }
  std::string name = nameOf(kernel, cores);
  Cache &all = cache();
  const ForkSafeLock lock(all.mutex);
  if (auto entry = all.kernels.find(name); entry != all.kernels.end())
    if (auto loaded = entry->second.lock())
      return loaded;
  if (Status status = checkRunsHere(kernel.target); !status.isOk())
    return bad(key, status.message());
  HALFTONE_RETURN_IF_ERROR(checkObject(key, kernel, kernels));
  auto linker = all.linker.lock();
  if (!linker) {
    auto created = Linker::create();
    if (!created)
      return Status(ErrorKind::internal_error, "cannot start the linker: " + llvm::toString(created.takeError()));
    all.linker = linker = *created;
  }
  auto loaded = std::make_shared<LoadedKernel>();
  loaded->linker = linker;
  std::vector<orc::JITDylib *> libraries;
  for (const auto &core : cores)
    libraries.push_back(core->library);
  loaded->cores = std::move(cores);
  std::string problems;
  auto address = linker->link(kernel, libraries, loaded->library, problems);
  if (!address) {
    std::string text = llvm::toString(address.takeError());
    return bad(key, "cannot be linked: " + (problems.empty() ? text : problems + "; " + text));
  }
  loaded->function = address->toPtr<CpuKernelFunction>();
  all.kernels[name] = loaded;
  loaded->name = std::move(name);
  return loaded;
}

} // namespace

Status checkRunsHere(std::string_view target) {
  const auto [triple, rest] = llvm::StringRef(target).split('|');
  const auto [cpu, after] = rest.split('|');
  if (triple == "nvptx")
    return {ErrorKind::value_error, fmt::format("compiled for {}, a GPU; expected code for this CPU", cpu.str())};
  const llvm::Triple host(llvm::sys::getProcessTriple()), code(triple);
  if (code.getArch() != llvm::Triple::UnknownArch && code.getArch() != host.getArch())
    return {ErrorKind::value_error,
            fmt::format("compiled for {}; this machine is {}", code.getArchName().str(), host.getArchName().str())};
  const std::vector<std::string> missing = missingFeatures(cpu, after.split('|').first);
  if (!missing.empty())
    return {ErrorKind::value_error,
            fmt::format("compiled for {}; this machine lacks {}", cpu.str(), fmt::join(missing, ", "))};
  return {};
}

StatusOr<std::shared_ptr<const KernelLibrary>> loadObjects(const std::map<std::string, KernelCode> &kernels) {
  HALFTONE_RETURN_IF_ERROR(checkCores(kernels));
  auto library = std::make_shared<ObjectLibrary>();
  for (const auto &[key, kernel] : kernels) {
    if (kernel.isCore())
      continue; // loaded with the kernels that use it
    auto loaded = load(key, kernels);
    HALFTONE_RETURN_IF_ERROR(loaded.status());
    library->kernels.emplace(key, *loaded);
  }
  return std::shared_ptr<const KernelLibrary>(std::move(library));
}

} // namespace halftone
