// The interpreter's tensors, and ops that create or move elements without arithmetic.
// SPDX-License-Identifier: Apache-2.0
#include "dialect/InterpreterOps.h"
#include "dialect/Philox.h"
#include "runtime/base/Half.h"
#include <cstring>

using namespace mlir;

namespace halftone::dialect {

IntFormat::IntFormat(Type elementType) {
  width = elementType.getIntOrFloatBitWidth();
  isUnsigned = isUnsignedElement(elementType);
  high = (Int(1) << (isUnsigned ? width : width - 1)) - 1;
  low = isUnsigned ? Int(0) : -high - 1;
}

Int IntFormat::wrap(Int value) const {
  Int bits = value & ((Int(1) << width) - 1);
  return bits > high ? bits - (Int(1) << width) : bits;
}

TensorWriter::TensorWriter(Type type) {
  data.type = cast<RankedTensorType>(type);
  if (data.isFloat()) {
    data.low.resize(data.size());
    data.high.resize(data.size());
  } else {
    data.integers.resize(data.size());
  }
}

void TensorWriter::real(int64_t index, Interval value) {
  data.low[index] = value.low;
  data.high[index] = value.high;
}

void TensorWriter::whole(int64_t index, IntInterval value) {
  data.integers[index] = static_cast<int64_t>(value.low);
  if (data.upper.empty() && value.isPoint())
    return;
  if (data.upper.empty())
    data.upper = data.integers;
  data.upper[index] = static_cast<int64_t>(value.high);
}

void TensorWriter::copy(int64_t index, const TensorData &x, int64_t from) {
  if (x.isFloat())
    real(index, realAt(x, from));
  else
    whole(index, wholeAt(x, from, IntFormat(x.type.getElementType())));
}

void TensorWriter::widen(int64_t index, const TensorData &x, int64_t from) {
  if (x.isFloat()) {
    real(index, Interval::hull(realAt(data, index), realAt(x, from)));
    return;
  }
  IntFormat format(x.type.getElementType());
  IntInterval before = wholeAt(data, index, format), more = wholeAt(x, from, format);
  whole(index, IntInterval{std::min(before.low, more.low), std::max(before.high, more.high)});
}

Interval realAt(const TensorData &tensor, int64_t index) { return {tensor.low[index], tensor.high[index]}; }

IntInterval wholeAt(const TensorData &tensor, int64_t index, const IntFormat &format) {
  auto value = [&](int64_t bits) { return format.isUnsigned ? Int(static_cast<uint64_t>(bits)) : Int(bits); };
  return {value(tensor.integers[index]), value(tensor.upper.empty() ? tensor.integers[index] : tensor.upper[index])};
}

TensorData storeAs(RankedTensorType type, const TensorData &tensor) {
  TensorData stored = tensor;
  stored.type = type;
  if (!stored.isFloat())
    return stored;
  Rounding rounding(*dtypeOf(type.getElementType()));
  for (int64_t i = 0, e = stored.size(); i < e; ++i) {
    Interval value = rounding.store(realAt(tensor, i));
    stored.low[i] = value.low;
    stored.high[i] = value.high;
  }
  return stored;
}

TensorData hullOf(const TensorData &a, const TensorData &b) {
  TensorWriter writer(a.type);
  IntFormat format(a.type.getElementType());
  for (int64_t i = 0, e = a.size(); i < e; ++i) {
    if (a.isFloat()) {
      writer.real(i, Interval::hull(realAt(a, i), realAt(b, i)));
    } else {
      IntInterval x = wholeAt(a, i, format), y = wholeAt(b, i, format);
      writer.whole(i, IntInterval{std::min(x.low, y.low), std::max(x.high, y.high)});
    }
  }
  return writer.take();
}

bool TensorData::isFloat() const { return isa<FloatType>(type.getElementType()); }

bool TensorData::contains(const TensorData &actual, int64_t index) const {
  if (isFloat())
    return realAt(*this, index).contains(actual.low[index]);
  IntFormat format(type.getElementType());
  IntInterval bounds = wholeAt(*this, index, format);
  Int value = wholeAt(actual, index, format).low;
  return bounds.low <= value && value <= bounds.high;
}

template <class T> static T load(const void *bytes, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char *>(bytes) + index * sizeof(T), sizeof(T));
  return value;
}
template <class T> static void append(std::string &bytes, T value) {
  bytes.append(reinterpret_cast<const char *>(&value), sizeof(T));
}

/// Converts between packed and plain layouts. If `tensor` has the type `packed`, the result is a plain tensor with the
/// elements in memory order; otherwise `tensor` holds the elements in memory order, and the result has the type
/// `packed`.
static TensorData rearranged(const TensorData &tensor, RankedTensorType packed) {
  auto panels = PanelsAttr::of(packed);
  const bool unpacks = tensor.type != packed;
  TensorWriter writer(unpacks ? packed : RankedTensorType::get(packed.getShape(), packed.getElementType()));
  const int64_t columns = packed.getDimSize(1);
  for (int64_t i = 0, e = tensor.size(); i < e; ++i) {
    const int64_t offset = panels.offsetOf(packed.getShape(), i / columns, i % columns);
    writer.copy(unpacks ? i : offset, tensor, unpacks ? offset : i);
  }
  return writer.take();
}

/// Sign-extends `count` packed int4 elements, low half-byte first, to one byte each.
static std::string wholeBytes(const void *bytes, int64_t count) {
  std::string whole;
  for (int64_t i = 0; i < count; ++i) {
    const unsigned half = (load<uint8_t>(bytes, i / 2) >> (i % 2 * 4)) & 15U;
    whole.push_back(static_cast<char>(half < 8 ? half : half + 240));
  }
  return whole;
}

static std::string halfBytes(const std::string &whole) {
  std::string halves;
  for (size_t i = 0; i < whole.size(); i += 2)
    halves.push_back(static_cast<char>((whole[i] & 15) | (whole[i + 1] & 15) << 4));
  return halves;
}

TensorData TensorData::fromBytes(RankedTensorType type, const void *bytes) {
  if (auto panels = PanelsAttr::of(type)) {
    const auto plain = RankedTensorType::get(type.getShape(), type.getElementType());
    const std::string whole = panels.getBits() ? wholeBytes(bytes, type.getNumElements()) : "";
    return rearranged(fromBytes(plain, panels.getBits() ? whole.data() : bytes), type);
  }
  TensorWriter writer(type);
  Type element = type.getElementType();
  unsigned width = element.getIntOrFloatBitWidth();
  bool isUnsigned = isUnsignedElement(element);
  for (int64_t i = 0, e = type.getNumElements(); i < e; ++i) {
    if (isa<Float16Type>(element))
      writer.real(i, Float16::decode(load<uint16_t>(bytes, i)));
    else if (isa<BFloat16Type>(element))
      writer.real(i, Bfloat16::decode(load<uint16_t>(bytes, i)));
    else if (isa<Float8E4M3FNType>(element))
      writer.real(i, Float8E4m3fn::decode(load<uint8_t>(bytes, i)));
    else if (isa<Float8E5M2Type>(element))
      writer.real(i, Float8E5m2::decode(load<uint8_t>(bytes, i)));
    else if (isa<Float32Type>(element))
      writer.real(i, load<float>(bytes, i));
    else if (isa<Float64Type>(element))
      writer.real(i, load<double>(bytes, i));
    else if (width == 1)
      writer.whole(i, Int(load<uint8_t>(bytes, i) != 0));
    else if (width == 8)
      writer.whole(i, isUnsigned ? Int(load<uint8_t>(bytes, i)) : Int(load<int8_t>(bytes, i)));
    else if (width == 16)
      writer.whole(i, isUnsigned ? Int(load<uint16_t>(bytes, i)) : Int(load<int16_t>(bytes, i)));
    else if (width == 32)
      writer.whole(i, isUnsigned ? Int(load<uint32_t>(bytes, i)) : Int(load<int32_t>(bytes, i)));
    else
      writer.whole(i, Int(load<int64_t>(bytes, i)));
  }
  return writer.take();
}

std::string TensorData::toBytes() const {
  if (auto panels = PanelsAttr::of(type)) {
    const std::string whole = rearranged(*this, type).toBytes();
    return panels.getBits() ? halfBytes(whole) : whole;
  }
  std::string bytes;
  Type element = type.getElementType();
  unsigned width = element.getIntOrFloatBitWidth();
  for (int64_t i = 0, e = size(); i < e; ++i) {
    if (isa<Float16Type>(element))
      append(bytes, Float16::encode(low[i]));
    else if (isa<BFloat16Type>(element))
      append(bytes, Bfloat16::encode(low[i]));
    else if (isa<Float8E4M3FNType>(element))
      append(bytes, Float8E4m3fn::encode(low[i]));
    else if (isa<Float8E5M2Type>(element))
      append(bytes, Float8E5m2::encode(low[i]));
    else if (isa<Float32Type>(element))
      append(bytes, static_cast<float>(low[i]));
    else if (isa<Float64Type>(element))
      append(bytes, low[i]);
    else if (width <= 8)
      append(bytes, static_cast<uint8_t>(integers[i]));
    else if (width == 16)
      append(bytes, static_cast<uint16_t>(integers[i]));
    else if (width == 32)
      append(bytes, static_cast<uint32_t>(integers[i]));
    else
      append(bytes, integers[i]);
  }
  return bytes;
}

SmallVector<int64_t> stridesOf(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i > 1; --i)
    strides[i - 2] = strides[i - 1] * shape[i - 1];
  return strides;
}

void forEachPoint(ArrayRef<int64_t> shape, ArrayRef<SmallVector<int64_t>> strides,
                  llvm::function_ref<void(ArrayRef<int64_t>)> visit) {
  if (llvm::is_contained(shape, 0))
    return;
  SmallVector<int64_t> point(shape.size(), 0), linear(strides.size(), 0);
  while (true) {
    visit(linear);
    size_t axis = shape.size();
    for (; axis > 0; --axis) {
      size_t a = axis - 1;
      for (size_t s = 0; s < strides.size(); ++s)
        linear[s] += strides[s][a];
      if (++point[a] < shape[a])
        break;
      for (size_t s = 0; s < strides.size(); ++s)
        linear[s] -= strides[s][a] * shape[a];
      point[a] = 0;
    }
    if (axis == 0)
      return;
  }
}

/// Broadcasts and transposes.
static TensorData evaluateMove(Operation *op, const TensorData &x) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  // The stride in x along each axis of the result: 0 for a new axis.
  SmallVector<int64_t> from = stridesOf(x.type.getShape()), steps(type.getRank(), 0);
  if (auto broadcast = dyn_cast<BroadcastOp>(op))
    for (auto [index, axis] : llvm::enumerate(broadcast.getAxes()))
      steps[axis] = from[index];
  if (auto transpose = dyn_cast<TransposeOp>(op))
    for (auto [index, axis] : llvm::enumerate(transpose.getPermutation()))
      steps[index] = from[axis];
  TensorWriter writer(type);
  int64_t next = 0;
  forEachPoint(type.getShape(), steps, [&](ArrayRef<int64_t> at) { writer.copy(next++, x, at[0]); });
  return writer.take();
}

static TensorData evaluateConstant(ConstantOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  TensorWriter writer(type);
  auto elements = cast<DenseElementsAttr>(op.getValue());
  int64_t next = 0;
  if (isa<FloatType>(type.getElementType())) {
    for (APFloat value : elements.getValues<APFloat>()) {
      bool inexact = false;
      value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
      writer.real(next++, value.convertToDouble());
    }
    return writer.take();
  }
  bool isUnsigned = isUnsignedElement(type.getElementType());
  for (const APInt &value : elements.getValues<APInt>())
    writer.whole(next++, isUnsigned ? Int(value.getZExtValue()) : Int(value.getSExtValue()));
  return writer.take();
}

static TensorData evaluateIota(IotaOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  TensorWriter writer(type);
  SmallVector<int64_t> steps(type.getRank(), 0);
  steps[op.getAxis()] = 1;
  bool isFloat = isa<FloatType>(type.getElementType());
  Rounding rounding(isFloat ? *dtypeOf(type.getElementType()) : DType::float64);
  IntFormat format(type.getElementType());
  int64_t next = 0;
  forEachPoint(type.getShape(), steps, [&](ArrayRef<int64_t> at) {
    if (isFloat)
      writer.real(next++, roundTo(rounding.dtype, toDoubleForRounding(at[0])));
    else
      writer.whole(next++, format.wrap(at[0]));
  });
  return writer.take();
}

static TensorData evaluateRandomBits(RandomBitsOp op, const TensorData &key) {
  auto type = cast<RankedTensorType>(op.getType());
  TensorWriter writer(type);
  std::array<uint32_t, 2> words{static_cast<uint32_t>(key.integers[0]), static_cast<uint32_t>(key.integers[1])};
  std::array<uint32_t, 4> block{};
  for (int64_t i = 0, e = type.getNumElements(); i < e; ++i) {
    uint64_t counter = static_cast<uint64_t>(i) / 4;
    if (i % 4 == 0)
      block = philox4x32({static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32), 0, 0}, words);
    writer.whole(i, Int(block[i % 4]));
  }
  return writer.take();
}

std::optional<TensorData> evaluateShape(Operation *op, Operands operands, const InterpreterOptions &) {
  if (isa<ReshapeOp, StopGradientOp, HoldOp, PackOp>(op)) {
    TensorData same = *operands[0];
    same.type = cast<RankedTensorType>(op->getResult(0).getType());
    return same;
  }
  if (isa<BroadcastOp, TransposeOp>(op))
    return evaluateMove(op, *operands[0]);
  if (auto constant = dyn_cast<ConstantOp>(op))
    return evaluateConstant(constant);
  if (auto iota = dyn_cast<IotaOp>(op))
    return evaluateIota(iota);
  if (auto bits = dyn_cast<RandomBitsOp>(op))
    return evaluateRandomBits(bits, *operands[0]);
  return std::nullopt;
}

} // namespace halftone::dialect
