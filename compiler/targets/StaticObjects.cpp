// Makes LLVM's static objects before the first kernel is compiled.
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

/// A loop that adds a constant to vectors, for which the code generator of x86 asks its tables of memory operands.
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
  llvm::Value *const place = builder.CreateGEP(addend->getType(), kernel->getArg(0), i);
  builder.CreateStore(builder.CreateFAdd(builder.CreateLoad(addend->getType(), place), addend), place);
  llvm::Value *const next = builder.CreateAdd(i, builder.getInt64(1));
  i->addIncoming(builder.getInt64(0), entry);
  i->addIncoming(next, body);
  builder.CreateCondBr(builder.CreateICmpULT(next, kernel->getArg(1)), body, end);
  builder.SetInsertPoint(end);
  builder.CreateRetVoid();
}

void makeObjectsOfAllMachines() {
  (void)llvm::vfs::getRealFileSystem();
  (void)llvm::getGlobalPassGate();
  (void)llvm::isPassInPrintList("");
  (void)llvm::isFunctionInPrintList("");
  (void)llvm::nulls();
  llvm::LibFunc function;
  (void)llvm::TargetLibraryInfoImpl(llvm::Triple()).getLibFunc("sin", function);
}

void makeObjectsOfCodeGenerator(const llvm::TargetMachine &machine, const llvm::Function &kernel) {
  llvm::SelectionDAG graph(machine, llvm::CodeGenOptLevel::Default);
  (void)graph.getVTList(llvm::MVT::i32);
  (void)machine.getSubtargetImpl(kernel)->getInstrInfo()->getOpcodeAfterMemoryUnfold(0, false, false);
}

/// exit() waits before it destroys what has been made so far.
void notice() {
  std::atomic<uint64_t> calls{0};
  noticeStaticObjects(calls);
}

} // namespace

void StaticObjects::makeOfArchitecture(MachineName name) {
  const llvm::Triple triple(name.triple);
  if (triple.isX86()) // the newest one's generator has objects that those of older ones do without
    name.processor = "x86-64-v4", name.features.clear();
  const auto machine = MachineCode::make(std::move(name));
  if (!machine.isOk())
    return;
  llvm::LLVMContext context;
  llvm::Module module("first", context);
  addKernel(module, triple);
  makeObjectsOfCodeGenerator(*(*machine)->machine_, *module.begin());
  notice();
  const auto type = triple.isNVPTX() ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile;
  if ((*machine)->optimize(module, nullptr).isOk())
    (void)(*machine)->write(module, type);
  notice();
}

void StaticObjects::make(const MachineName &name) {
  using Flags = std::array<std::once_flag, llvm::Triple::LastArchType + 1>;
  static Flags &made = *new Flags;
  static std::once_flag &first = *new std::once_flag;
  std::call_once(first, [] {
    makeObjectsOfAllMachines();
    notice();
  });
  std::call_once(made[llvm::Triple(name.triple).getArch()], makeOfArchitecture, name);
}
