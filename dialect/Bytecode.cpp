// Reads and writes the dialect version in bytecode, and upgrades modules of earlier versions.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/Bytecode.h"
#include "dialect/Dialect.h"

using namespace mlir;

namespace halftone::dialect {

namespace {

template <class Stream> uint64_t versionOf(const Stream &stream, uint64_t fallback) {
  FailureOr<const DialectVersion *> version = stream.template getDialectVersion<HalftoneDialect>();
  return succeeded(version) ? static_cast<const BytecodeVersion *>(*version)->number : fallback;
}

/// Upgrades from version 1: the tile of a contraction becomes a property.
void makeTilesProperties(Operation *module) {
  constexpr StringLiteral before = "halftone.tile";
  module->walk([&](ContractOp contract) {
    if (auto tile = contract->getAttrOfType<DenseI64ArrayAttr>(before)) {
      contract.setTileAttr(tile);
      contract->removeAttr(before);
    }
  });
}

class Bytecode : public BytecodeDialectInterface {
public:
  explicit Bytecode(Dialect *dialect) : BytecodeDialectInterface(dialect) {}

private:
  void writeVersion(DialectBytecodeWriter &writer) const override { writer.writeVarInt(BytecodeVersion::of(writer)); }

  std::unique_ptr<DialectVersion> readVersion(DialectBytecodeReader &reader) const override {
    uint64_t number;
    if (failed(reader.readVarInt(number)))
      return nullptr;
    if (number >= 1 && number <= BytecodeVersion::current)
      return std::make_unique<BytecodeVersion>(number);
    reader.emitError() << "the file uses version " << number << " of the halftone dialect; expected 1 to "
                       << BytecodeVersion::current << ", the version of this build";
    return nullptr;
  }

  LogicalResult upgradeFromVersion(Operation *module, const DialectVersion &version) const override {
    if (static_cast<const BytecodeVersion &>(version).number < BytecodeVersion::tileIsProperty)
      makeTilesProperties(module);
    return success();
  }
};

} // namespace

uint64_t BytecodeVersion::of(const DialectBytecodeReader &reader) { return versionOf(reader, 1); }
uint64_t BytecodeVersion::of(const DialectBytecodeWriter &writer) { return versionOf(writer, current); }

std::unique_ptr<DialectInterface> bytecodeInterface(Dialect *dialect) { return std::make_unique<Bytecode>(dialect); }

} // namespace halftone::dialect
