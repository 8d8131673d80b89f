// Host tensors: construction, storage, views, conversion.
// SPDX-License-Identifier: Apache-2.0
#include "halftone/Tensor.h"
#include "halftone/Error.h"
#include "runtime/TensorAccess.h"
#include "runtime/base/Floatx.h"
#include "runtime/devices/Registry.h"
#include "tests/runtime/devices/FarDevice.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>

using namespace halftone;

template <class Function> static std::string errorOf(Function function) {
  try {
    function();
  } catch (const Error &error) {
    return error.what();
  }
  return "no error";
}
using Catch::Contains;
using Catch::StartsWith;

static const DType storable[] = {DType::bool_,   DType::uint8,         DType::uint16,     DType::uint32,
                                 DType::uint64,  DType::int8,          DType::int16,      DType::int32,
                                 DType::int64,   DType::float16,       DType::bfloat16,   DType::float32,
                                 DType::float64, DType::float8_e4m3fn, DType::float8_e5m2};

TEST_CASE("Each constructor of Tensor copies, takes or borrows as it says") {
  const Tensor list({1, 2, 3, 4}, {2, 2});
  CHECK(list.dtype() == float32);
  CHECK(list.shape() == Shape{2, 2});
  CHECK(list.size() == 4);
  CHECK(list.device() == Device::cpu());

  std::vector<int32_t> values{1, 2, 3};
  const int32_t *address = values.data();
  const Tensor taken(std::move(values), {3});
  CHECK(taken.span<int32_t>().data() == address);

  double numbers[] = {1, 2};
  const Tensor copied(std::span<const double>(numbers), {2});
  Tensor borrowed = Tensor::borrow(std::span<double>(numbers), {2});
  numbers[0] = 7;
  CHECK(copied.span<double>()[0] == 1);
  CHECK(borrowed.span<double>()[0] == 7);
  borrowed.mutable_span<double>()[1] = 9;
  CHECK(numbers[1] == 9);

  const auto owner = std::make_shared<std::vector<float>>(4, 2.0f);
  Tensor kept = Tensor::borrow(std::span<float>(*owner), {4}, owner);
  CHECK(owner.use_count() == 2);
  kept = Tensor();
  CHECK(owner.use_count() == 1);

  CHECK(Tensor::of<uint8_t>({1, 2}, {2}).dtype() == uint8);
  CHECK(Tensor::scalar(int64_t(5)).item<int64_t>() == 5);
  CHECK(Tensor::scalar(5.0f).shape() == Shape{});
}

TEST_CASE("Allocated tensor storage is aligned, filled and of every dtype") {
  for (DType dtype : storable) {
    INFO(name(dtype));
    const Tensor zeros = Tensor::zeros({3, 5}, dtype), ones = Tensor::ones({3, 5}, dtype);
    CHECK(reinterpret_cast<uintptr_t>(TensorAccess::data(zeros)) % 64 == 0);
    CHECK(TensorAccess::bytes(zeros) == 15 * itemsize(dtype));
    CHECK(zeros.astype(float64).to_vector<double>() == std::vector<double>(15, 0));
    CHECK(ones.astype(float64).to_vector<double>() == std::vector<double>(15, 1));
  }
  CHECK(Tensor::full({2}, 300, uint8).to_vector<uint8_t>() == std::vector<uint8_t>{255, 255});
  CHECK(Tensor::full({1}, 1.0 / 3, float16).astype(float32).item<float>() == 0x1.554p-2f);
  CHECK(Tensor::zeros({0, 4}).size() == 0);
  CHECK(Tensor::zeros({0, 4}).to_vector<float>().empty());
}

TEST_CASE("Copies of a tensor share storage, and assignment copies no data") {
  Tensor a = Tensor::zeros({4});
  Tensor b = a;
  b.mutable_span<float>()[2] = 5;
  CHECK(a.span<float>()[2] == 5);
  const Tensor c = std::move(b);
  CHECK(c.span<float>().data() == a.span<float>().data());
  CHECK_FALSE(b.defined());
}

TEST_CASE("A tensor whose data, shape or dtype do not fit is refused") {
  CHECK_THAT(errorOf([] { Tensor({1, 2, 3}, {2, 2}); }),
             StartsWith("ValueError: The shape (2, 2) has 4 elements, but 3 values were given"));
  CHECK_THAT(errorOf([] { Tensor(std::vector<int32_t>(3), {2}); }), StartsWith("ValueError: The shape (2,)"));
  CHECK_THAT(errorOf([] { (void)Tensor::zeros({none, 2}); }), StartsWith("ValueError: The shape (None, 2)"));
  for (DType bad : {DType::complex64, DType::complex128})
    CHECK_THAT(errorOf([&] { (void)Tensor::zeros({2}, bad); }),
               StartsWith("TypeError: A tensor holds numbers, bools or strings"));
  CHECK_THAT(errorOf([] { (void)Tensor::zeros({2}, DType::string); }),
             StartsWith("TypeError: A tensor of strings is created from a std::vector<std::string>"));
  CHECK_THAT(errorOf([] { (void)Tensor::zeros({int64_t(1) << 62}, float64); }),
             StartsWith("ValueError") && Contains("too large"));
  CHECK_THAT(errorOf([] { (void)Tensor::zeros({int64_t(1) << 50}); }), StartsWith("RuntimeError: Not enough memory"));
}

TEST_CASE("Access by another dtype is a TypeError that names both") {
  Tensor t = Tensor::ones({2});
  CHECK_THAT(errorOf([&] { (void)t.span<double>(); }),
             StartsWith("TypeError") && Contains("float32") && Contains("float64"));
  CHECK_THAT(errorOf([&] { (void)t.mutable_span<int32_t>(); }), StartsWith("TypeError"));
  CHECK_THAT(errorOf([&] { (void)t.to_vector<float16_t>(); }), StartsWith("TypeError"));
  CHECK_THAT(errorOf([&] { (void)t.item<uint8_t>(); }), StartsWith("TypeError"));
  CHECK(t.item<float>() == t.to_vector<float>()[0]);
  CHECK_THAT(errorOf([&] { (void)t.astype(DType::string); }), StartsWith("TypeError"));
}

TEST_CASE("An undefined tensor says so") {
  const Tensor undefined;
  CHECK_FALSE(undefined.defined());
  CHECK(undefined.str() == "Tensor(undefined)");
  const std::string text = "ValueError: The tensor is undefined";
  CHECK_THAT(errorOf([&] { (void)undefined.shape(); }), StartsWith(text));
  CHECK_THAT(errorOf([&] { (void)undefined.size(); }), StartsWith(text));
  CHECK_THAT(errorOf([&] { (void)undefined.dtype(); }), StartsWith(text));
  CHECK_THAT(errorOf([&] { (void)undefined.device(); }), StartsWith(text));
  CHECK_THAT(errorOf([&] { (void)undefined.span<float>(); }), StartsWith(text));
  CHECK_THAT(errorOf([&] { (void)undefined.astype(float16); }), StartsWith(text));
  CHECK_THAT(errorOf([&] { (void)undefined.slice(0, 0); }), StartsWith(text));
  CHECK_THAT(errorOf([&] { (void)undefined.reshape({0}); }), StartsWith(text));
  CHECK_THAT(errorOf([&] { (void)undefined.argmax(); }), StartsWith(text));
  CHECK_THAT(errorOf([&] { (void)(undefined + 1); }), StartsWith(text));
  CHECK_THAT(errorOf([&] { undefined.save_npy("/nowhere/x.npy"); }), StartsWith(text));
}

TEST_CASE("Slices of a tensor are views along the first axis") {
  Tensor t({0, 1, 2, 3, 4, 5}, {3, 2});
  Tensor middle = t.slice(1, 3);
  CHECK(middle.shape() == Shape{2, 2});
  CHECK(middle.to_vector<float>() == std::vector<float>{2, 3, 4, 5});
  middle.mutable_span<float>()[0] = 20;
  CHECK(t.span<float>()[2] == 20);
  CHECK(middle.slice(1, 2).to_vector<float>() == std::vector<float>{4, 5});
  t = Tensor();
  CHECK(middle.span<float>()[3] == 5);
  CHECK(middle.slice(2, 2).shape() == Shape{0, 2});
  for (auto [begin, end] : {std::pair{-1, 1}, {0, 3}, {2, 1}, {3, 3}})
    CHECK_THAT(errorOf([&, b = begin, e = end] { (void)middle.slice(b, e); }),
               StartsWith("ValueError") && Contains("out of range for the shape (2, 2)"));
  CHECK_THAT(errorOf([] { (void)Tensor::scalar(1.0f).slice(0, 1); }), StartsWith("ValueError: A scalar"));
  CHECK(Tensor::zeros({0, 3}).slice(0, 0).size() == 0);
}

TEST_CASE("item() is the first element of a tensor") {
  CHECK(Tensor({1, 2}, {1, 2}).item<float>() == 1.0f);
  CHECK_THAT(errorOf([] { (void)Tensor::zeros({0, 2}).item<float>(); }), Contains("(0, 2)"));
  CHECK(Tensor({3}, {1, 1}).item<float>() == 3);
}

TEST_CASE("A reshaped tensor is a view") {
  Tensor t({0, 1, 2, 3, 4, 5}, {3, 2});
  Tensor flat = t.reshape({6});
  flat.mutable_span<float>()[5] = 50;
  CHECK(t.span<float>()[5] == 50);
  CHECK(t.reshape({none, 3}).shape() == Shape{2, 3});
  CHECK(t.reshape({2, none, 1}).shape() == Shape{2, 3, 1});
  CHECK(Tensor::zeros({0, 4}).reshape({none, 2}).shape() == Shape{0, 2});
  for (const Shape &bad : {Shape{5}, Shape{none, none}, Shape{none, 4}, Shape{none, 0}, Shape{}})
    CHECK_THAT(errorOf([&] { (void)t.reshape(bad); }),
               StartsWith("ValueError: A tensor of shape (3, 2) with 6 elements cannot be reshaped to " + bad.str()));
}

TEST_CASE("astype converts, and shares storage if nothing changes") {
  const Tensor t({-1.5f, 0, 2.5f, 300}, {4});
  const Tensor same = t.astype(float32), brain = t.astype(bfloat16);
  CHECK(same.span<float>().data() == t.span<float>().data());
  CHECK(t.astype(int32).to_vector<int32_t>() == std::vector<int32_t>{-1, 0, 2, 300});
  CHECK(t.astype(uint8).to_vector<uint8_t>() == std::vector<uint8_t>{0, 0, 2, 255});
  CHECK(t.astype(DType::bool_).astype(int64).to_vector<int64_t>() == std::vector<int64_t>{1, 0, 1, 1});
  CHECK(brain.span<bfloat16_t>()[3].bits == bfloat16_t(300).bits);
}

TEST_CASE("argmax treats axes, ties and NaN as NumPy does") {
  const Tensor t({1, 5, 3, 9, 5, 9}, {2, 3});
  CHECK(t.argmax().to_vector<int64_t>() == std::vector<int64_t>{1, 0});
  CHECK(t.argmax(0).to_vector<int64_t>() == std::vector<int64_t>{1, 0, 1});
  CHECK(t.argmax(-2).shape() == Shape{3});
  CHECK(t.argmax().dtype() == int64);
  CHECK(Tensor({1, NAN, INFINITY, NAN}, {4}).argmax().item<int64_t>() == 1);
  const int64_t big = int64_t(1) << 60;
  CHECK(Tensor::of<int64_t>({big, big + 1, big}, {3}).argmax().item<int64_t>() == 1);
  CHECK(Tensor({1, 2, 4, 3}, {1, 2, 2}).argmax(1).to_vector<int64_t>() == std::vector<int64_t>{1, 1});
  CHECK(Tensor::zeros({0, 2}).argmax().shape() == Shape{0});
  CHECK_THAT(errorOf([&] { (void)t.argmax(2); }), StartsWith("ValueError: Axis 2 is out of range"));
  CHECK_THAT(errorOf([] { (void)Tensor::zeros({2, 0}).argmax(); }), StartsWith("ValueError"));
  CHECK_THAT(errorOf([] { (void)Tensor::scalar(1.0f).argmax(); }), StartsWith("ValueError"));
}

TEST_CASE("Arithmetic with a C++ number keeps float dtypes and gives floatx for others") {
  const Tensor bytes = Tensor::of<uint8_t>({0, 51, 255}, {3});
  CHECK((bytes / 255.0).to_vector<float>() == std::vector<float>{0, 51.0f / 255.0f, 1});
  CHECK((Tensor::ones({1}, float16) / 3).dtype() == float16);
  CHECK((Tensor::ones({1}, float16) / 3).astype(float32).item<float>() == 0x1.554p-2f);
  CHECK((Tensor({1, 2}, {2}) - 3).to_vector<float>() == std::vector<float>{-2, -1});
  CHECK((Tensor({1, 2}, {2}) + 3).to_vector<float>() == std::vector<float>{4, 5});
  CHECK((Tensor({1, 2}, {2}) * 0.1).to_vector<float>() == std::vector<float>{0.1f, 2 * 0.1f});
  setFloatx(DType::bfloat16);
  const DType result = (bytes + 1).dtype();
  setFloatx(DType::float32);
  CHECK(result == bfloat16);
}

TEST_CASE("A tensor that is moved to its own device shares storage") {
  const Tensor t = Tensor::ones({2});
  const Tensor moved = t.to(Device::cpu());
  CHECK(moved.span<float>().data() == t.span<float>().data());
}

TEST_CASE("TensorAccess wraps memory with its owner") {
  auto memory = std::make_shared<std::vector<std::byte>>(8);
  const Tensor t = TensorAccess::wrap(memory, memory->data(), float32, {2});
  CHECK(memory.use_count() == 2);
  TensorAccess::mutableData(t)[3] = std::byte{0x40};
  CHECK(t.span<float>()[0] == 2.0f);
}

TEST_CASE("A view of a device's tensor is ready when the tensor is") {
  const auto far = test::FarDevice::create("far");
  DeviceMemory memory = far->allocate(16).valueOrThrow();
  std::byte *const data = memory.get();
  const Tensor tensor = TensorAccess::wrap(std::move(memory), data, float32, Shape{4}, far);
  far->endSubmission();
  TensorAccess::setSubmission(tensor, far->submission());
  const Tensor views[] = {tensor.reshape({2, 2}), tensor.slice(1, 3), tensor.reshape({2, 2}).slice(0, 1)};
  CHECK_FALSE(TensorAccess::isReady(tensor));
  for (const Tensor &view : views)
    CHECK_FALSE(TensorAccess::isReady(view));
  far->wait();
  for (const Tensor &view : views)
    CHECK(TensorAccess::isReady(view));
  CHECK(TensorAccess::address(views[1]) == TensorAccess::address(tensor) + 4);
  CHECK(TensorAccess::bytes(views[1]) == 8);
}

TEST_CASE("a tensor off the host is read by downloads") {
  const auto far = test::FarDevice::create("cuda:90");
  REQUIRE(addDevice(far).isOk());
  const Device device = Device::cuda(90);
  const Tensor host({1, 5, 3, 4, 2, 6}, {2, 3}), t = host.to(device);
  CHECK(t.device() == device);
  CHECK(host.device() == Device::cpu());
  CHECK(far->counters().downloads == 0);
  CHECK(t.item<float>() == 1);
  CHECK(far->counters().downloadedBytes == 4);
  CHECK(t.to_vector<float>() == host.to_vector<float>());
  CHECK(t.str() == host.str());
  CHECK(t.to(device).device() == device);
  CHECK(t.to(Device::cpu()).to_vector<float>() == host.to_vector<float>());
  CHECK(t.slice(1, 2).to_vector<float>() == std::vector<float>{4, 2, 6});
  CHECK(t.reshape({3, 2}).device() == device);
  CHECK(t.argmax().to_vector<int64_t>() == std::vector<int64_t>{1, 2});
  CHECK(t.argmax().device() == device);
  CHECK(t.astype(float64).to_vector<double>() == host.astype(float64).to_vector<double>());
  CHECK(t.astype(float64).device() == device);
  auto refused = [](auto call) {
    try {
      (void)call();
      FAIL("was not refused");
    } catch (const Error &error) {
      CHECK(error.kind() == ErrorKind::device_error);
      CHECK_THAT(error.message(), Catch::Contains("is on cuda:90: the host cannot reach its memory"));
    }
  };
  refused([&] { return t.span<float>(); });
  refused([&] { return t * 2.0; });
  Tensor handle = t;
  refused([&] { return handle.mutable_span<float>(); });
  CHECK_THROWS_AS(t.item<int32_t>(), Error);
  CHECK_THROWS_AS(Tensor({}, {0}).to(device).item<float>(), Error);
  CHECK(Tensor({}, {0}).to(device).to_vector<float>().empty());
  removeDevice("cuda:90");
}

TEST_CASE("A tensor of strings is made of a vector, and has no numbers") {
  const Tensor words(std::vector<std::string>{"a", "b"}), none(std::vector<std::string>{}),
      one(std::vector<std::string>{"x"}, {});
  CHECK(words.shape() == Shape{2});
  CHECK(words.dtype() == DType::string);
  CHECK(words.device() == Device::cpu());
  CHECK(words.astype(DType::string).to(Device::cpu()).to_vector<std::string>() == std::vector<std::string>{"a", "b"});
  CHECK(none.size() == 0);
  CHECK(one.to_vector<std::string>() == std::vector<std::string>{"x"});
  CHECK_THAT(errorOf([] { (void)Tensor(std::vector<std::string>{"a"}, {2}); }), StartsWith("ValueError"));
  const std::vector<std::function<void()>> refused{[&] { (void)words.to_vector<float>(); },
                                                   [&] { (void)words.item(); },
                                                   [&] { (void)words.item<float>(); },
                                                   [&] { (void)words.argmax(); },
                                                   [&] { (void)(words + 1.0); },
                                                   [&] { (void)(words + words); },
                                                   [&] { (void)words.astype(float32); },
                                                   [&] { words.save_npy("w.npy"); },
                                                   [&] { (void)words.span<float>(); },
                                                   [&] { (void)Tensor({1}).to_vector<std::string>(); }};
  for (const auto &f : refused)
    CHECK_THAT(errorOf(f), StartsWith("TypeError"));
}
