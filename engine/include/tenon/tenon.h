/* Tenon: PyTorch's tensor, autograd and training loop as a small C library. This header is all of it; each of the
 * others stands alone. */
#ifndef TENON_TENON_H
#define TENON_TENON_H

#include <tenon/activations.h>
#include <tenon/alloc.h>
#include <tenon/anomaly.h>
#include <tenon/autograd.h>
#include <tenon/call.h>
#include <tenon/checkpoint.h>
#include <tenon/cpu.h>
#include <tenon/create.h>
#include <tenon/data.h>
#include <tenon/dlpack.h>
#include <tenon/dtype.h>
#include <tenon/error.h>
#include <tenon/extend.h>
#include <tenon/file.h>
#include <tenon/fit.h>
#include <tenon/graph.h>
#include <tenon/formats.h>
#include <tenon/forward.h>
#include <tenon/function.h>
#include <tenon/gradcheck.h>
#include <tenon/layer.h>
#include <tenon/lazy.h>
#include <tenon/linalg.h>
#include <tenon/list.h>
#include <tenon/losses.h>
#include <tenon/nn.h>
#include <tenon/ops.h>
#include <tenon/optim.h>
#include <tenon/print.h>
#include <tenon/random.h>
#include <tenon/reductions.h>
#include <tenon/schedule.h>
#include <tenon/scope.h>
#include <tenon/step.h>
#include <tenon/storage.h>
#include <tenon/tensor.h>
#include <tenon/threads.h>
#include <tenon/train.h>
#include <tenon/views.h>

#endif
