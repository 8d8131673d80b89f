// Creates LLVM's static objects before the first kernel is compiled.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/StaticObjects.h"
#include "runtime/base/CompilerGate.h"
#include "llvm/CodeGen/SelectionDAG.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/IR/PrintPasses.h"
#include "llvm/Support/VirtualFileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"
#include <array>
#include <atomic>
#include <mutex>

using namespace halftone;
using namespace halftone::compiler;

namespace {

/// Adds a kernel with a loop that adds a constant to vectors. Its code generation needs the tables with which the x86
/// code generator folds memory operands and broadcasts.
void addKernel(llvm::Module &module, const llvm::Triple &triple) {
  llvm::IRBuilder<> builder(module.getContext());
  llvm::Type *const pointer = builder.getPtrTy(triple.isNVPTX() ? 1 : 0);
  auto *const type = llvm::FunctionType::get(builder.getVoidTy(), {pointer, builder.getInt64Ty()}, false);
  auto *const kernel = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, "first", module);
  if (triple.isNVPTX())
    kernel->setCallingConv(llvm::CallingConv::PTX_Kernel);
  auto *const entry = llvm::BasicBlock::Create(module.getContext(), "", kernel);
  auto *const body = llvm::BasicBlock::Create(module.getContext(), "", kernel);
  auto *const end = llvm::BasicBlock::Create(module.getContext(), "", kernel);
  builder.SetInsertPoint(entry);
  builder.CreateBr(body);
  builder.SetInsertPoint(body);
  llvm::PHINode *const i = builder.CreatePHI(builder.getInt64Ty(), 2);
  llvm::Constant *const addend =
      llvm::ConstantDataVector::getSplat(4, llvm::ConstantFP::get(builder.getFloatTy(), 1.5));
  llvm::Value *const address = builder.CreateGEP(addend->getType(), kernel->getArg(0), i);
  builder.CreateStore(builder.CreateFAdd(builder.CreateLoad(addend->getType(), address), addend), address);
  llvm::Value *const next = builder.CreateAdd(i, builder.getInt64(1));
  i->addIncoming(builder.getInt64(0), entry);
  i->addIncoming(next, body);
  builder.CreateCondBr(builder.CreateICmpULT(next, kernel->getArg(1)), body, end);
  builder.SetInsertPoint(end);
  builder.CreateRetVoid();
}

/// Calls `make`, which creates a static object, and then registers the wait of exit(), so exit() waits before it
/// destroys the object.
template <class Make> void makeOne(Make make) {
  make();
  std::atomic<uint64_t> calls{0};
  noticeStaticObjects(calls);
}

void makeObjectsOfAllMachines() {
  const llvm::TargetLibraryInfoImpl library{llvm::Triple()};
  makeOne([] { (void)llvm::vfs::getRealFileSystem(); });
  makeOne([] { (void)llvm::getGlobalPassGate(); });
  makeOne([] { (void)llvm::isPassInPrintList(""); });
  makeOne([] { (void)llvm::isFunctionInPrintList(""); });
  makeOne([] { (void)llvm::nulls(); });
  makeOne([&] {
    llvm::LibFunc function;
    (void)library.getLibFunc("sin", function);
  });
}

/// Creates the subtarget and the DAG, which takes long, before the objects: an exit() between the creation of an object
/// and the registration of the wait destroys the object too early.
void makeObjectsOfCodeGenerator(const llvm::TargetMachine &machine, const llvm::Function &kernel) {
  const llvm::TargetInstrInfo &instructions = *machine.getSubtargetImpl(kernel)->getInstrInfo();
  llvm::SelectionDAG graph(machine, llvm::CodeGenOptLevel::Default);
  makeOne([&] { (void)graph.getVTList(llvm::MVT::i32); });
  makeOne([&] { (void)instructions.getOpcodeAfterMemoryUnfold(0, false, false); });
}

} // namespace

void StaticObjects::makeOfArchitecture(MachineName name) {
  const llvm::Triple triple(name.triple);
  if (triple.isX86()) // the broadcast table is created only for AVX-512; the code is not run
    name.processor = "x86-64-v4", name.features.clear();
  const auto machine = MachineCode::make(std::move(name));
  if (!machine.isOk())
    return;
  llvm::LLVMContext context;
  llvm::Module module("first", context);
  addKernel(module, triple);
  makeObjectsOfCodeGenerator(*(*machine)->machine_, *module.begin());
  const auto type = triple.isNVPTX() ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile;
  makeOne([&] {
    if ((*machine)->optimize(module, nullptr).isOk())
      (void)(*machine)->write(module, type);
  });
}

Status StaticObjects::make(const MachineName &name) {
  using Flags = std::array<std::once_flag, llvm::Triple::LastArchType + 1>;
  static Flags &initialized = *new Flags;
  static std::once_flag &first = *new std::once_flag;
  std::call_once(first, makeObjectsOfAllMachines);
  std::call_once(initialized[llvm::Triple(name.triple).getArch()], makeOfArchitecture, name);
  return processStatus();
}
