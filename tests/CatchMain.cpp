// The main function of every test executable.
// SPDX-License-Identifier: Apache-2.0
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

// An allocation larger than the available memory must be an error that the tests see, also under AddressSanitizer.
extern "C" __attribute__((visibility("default"))) const char *__asan_default_options();
const char *__asan_default_options() { return "allocator_may_return_null=1"; }
