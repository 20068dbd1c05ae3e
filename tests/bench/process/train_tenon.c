/* W8, Tenon: the whole process that makes 200 moons and trains 2-16-16-1 on them in N steps of Adam.
 *
 *     train_tenon N [peak]     prints the last loss, and with `peak` the most memory that it held */
#include <stdio.h>
#include <stdlib.h>
#include <tenon/tenon.h>

#include "peak.h"

int main(int argc, char **argv)
{
    const int steps = argc > 1 ? atoi(argv[1]) : 1;
    double last = 0;
    tn_scope scope = tn_scope_begin();
    tn_dataset *moons = tn_make_moons(200, 0.2, 0, TN_FLOAT32);
    tn_tensor *x = tn_dataset_x(moons), *y = tn_unsqueeze(tn_to(tn_dataset_y(moons), TN_FLOAT32), 1);
    tn_module *net = tn_mlp((int64_t[]){2, 16, 16, 1}, 4, TN_FLOAT32);
    tn_torch_generator generator;
    tn_torch_manual_seed(&generator, 0);
    tn_init_torch(net, &generator, true);
    tn_optimizer *adam = tn_adam(tn_parameters(net), &(tn_adam_options){.lr = 1e-2});
    for (int i = 0; i < steps; i++) {
        tn_scope step = tn_scope_begin();
        tn_tensor *loss = tn_bce_with_logits(tn_forward(net, x), y, TN_MEAN);
        tn_zero_grad(adam);
        tn_backward(loss);
        tn_step(adam);
        last = tn_item(loss);
        tn_scope_end(step);
    }
    if (tn_error_code())
        return fprintf(stderr, "train_tenon: %s\n", tn_error_message()), EXIT_FAILURE;
    printf("%.6f %lld\n", last, argc > 2 ? peak_bytes() : 0);
    tn_scope_end(scope);
    return EXIT_SUCCESS;
}
