// NCCL: our declarations against nccl.h where that is installed, and clear errors for libraries that are of no use.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/devices/cuda/Nccl.h"
#include "tests/runtime/devices/cuda/EmulatedGpu.h"
#include "tests/runtime/devices/cuda/SameCall.h"
#include <catch2/catch.hpp>
#ifdef HALFTONE_HAS_NCCL_HEADER
#include <nccl.h>
#include <type_traits>
#endif

using namespace halftone;
using cuda::Nccl;

#ifdef HALFTONE_HAS_NCCL_HEADER
namespace halftone::cuda::nccl {
SAME_CALL(getVersion, ncclGetVersion);
SAME_CALL(getErrorString, ncclGetErrorString);
SAME_CALL(getLastError, ncclGetLastError);
SAME_CALL(getUniqueId, ncclGetUniqueId);
SAME_CALL(commInitRank, ncclCommInitRank);
SAME_CALL(commDestroy, ncclCommDestroy);
SAME_CALL(commGetAsyncError, ncclCommGetAsyncError);
SAME_CALL(groupStart, ncclGroupStart);
SAME_CALL(groupEnd, ncclGroupEnd);
SAME_CALL(allReduce, ncclAllReduce);
SAME_CALL(reduce, ncclReduce);
SAME_CALL(broadcast, ncclBroadcast);

#define SAME_VALUE(ours, theirs) static_assert(static_cast<int>(ours) == static_cast<int>(theirs))
SAME_VALUE(Result::success, ncclSuccess);
SAME_VALUE(DataType::int8, ncclInt8);
SAME_VALUE(DataType::uint8, ncclUint8);
SAME_VALUE(DataType::int32, ncclInt32);
SAME_VALUE(DataType::uint32, ncclUint32);
SAME_VALUE(DataType::int64, ncclInt64);
SAME_VALUE(DataType::uint64, ncclUint64);
SAME_VALUE(DataType::float16, ncclFloat16);
SAME_VALUE(DataType::float32, ncclFloat32);
SAME_VALUE(DataType::float64, ncclFloat64);
#ifdef __CUDA_BF16_TYPES_EXIST__
SAME_VALUE(DataType::bfloat16, ncclBfloat16);
#endif
SAME_VALUE(Reduction::sum, ncclSum);
SAME_VALUE(Reduction::max, ncclMax);
static_assert(sizeof(GroupId) == sizeof(ncclUniqueId) && alignof(GroupId) == alignof(ncclUniqueId));

} // namespace halftone::cuda::nccl
#endif

TEST_CASE("Our declarations of NCCL are those of nccl.h, where that is installed") {
#ifdef HALFTONE_HAS_NCCL_HEADER
  SUCCEED("the compiler has compared them");
#else
  WARN("skipped: nccl.h or cuda.h is not installed");
#endif
}

TEST_CASE("A library that is of no use is refused with the reason") {
  const auto refusal = [](const char *file) {
    const Status status = Nccl::open(file).status();
    REQUIRE(!status.isOk());
    CHECK(status.kind() == ErrorKind::runtime_error);
    return status.message();
  };
  CHECK_THAT(refusal("/no/such/libnccl.so.2"),
             Catch::StartsWith("cannot open NCCL, which runs collectives on GPUs: /no/such/libnccl.so.2: ") &&
                 Catch::EndsWith("; is it installed, or named in HALFTONE_NCCL?"));
  CHECK(refusal("libc.so.6") == "libc.so.6 is not NCCL: it has no function ncclGetVersion");
  for (const auto &[version, text] : {std::pair("2804", "2.8.4"), {"21212", "2.12.12"}}) {
    const test::SetEnvironment old({{"HALFTONE_EMULATOR_NCCL", version}});
    CHECK_THAT(refusal(HALFTONE_EMULATED_NCCL),
               Catch::EndsWith(std::string("is too old: ") + text + ", expected 2.13.0 or newer"));
  }
}

TEST_CASE("NCCL tells its version") {
  const auto nccl = Nccl::open(HALFTONE_EMULATED_NCCL);
  REQUIRE(nccl.isOk());
  CHECK((*nccl)->version() == "2.21.5");
}
