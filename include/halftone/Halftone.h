// All public headers but Legacy.h, in one include.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Differentiate.h"
#include "Distribution.h"
#include "Fourier.h"
#include "Generate.h"
#include "ImageFiles.h"
#include "ImageOps.h"
#include "Jit.h"
#include "Layers.h"
#include "Linalg.h"
#include "Loops.h"
#include "Model.h"
#include "Ops.h"
#include "Plot.h"
#include "Random.h"
#include "Saving.h"
#include "Timeline.h"
