// Status and the public exception that shows it.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/Status.h"
