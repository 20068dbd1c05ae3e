/* Two moons through a small net in float64 and in float32: how often is the untrained net right, and how far do the two
 * runs part? */
#include <inttypes.h>
#include <stdio.h>
#include <tenon/tenon.h>

int main(void)
{
    tn_scope scope = tn_scope_begin();
    tn_dataset *moons = tn_make_moons(200, 0.2, 0, TN_FLOAT64);        /* X [200, 2]  y [200] */
    tn_module *net = tn_mlp((int64_t[]){2, 16, 16, 1}, 4, TN_FLOAT64); /* ReLU inside, logits out */
    tn_default_rng rng;
    tn_default_rng_seed(&rng, 0);
    tn_init_normal(net, &rng);

    tn_tensor *x = tn_dataset_x(moons);
    tn_tensor *logits = tn_forward(net, x);
    tn_tensor *single = tn_forward(tn_module_to(net, TN_FLOAT32), tn_to(x, TN_FLOAT32));

    tn_gap gap = {0};
    tn_measure_gap(tn_sigmoid(single), tn_sigmoid(logits), &gap);
    double accuracy = tn_binary_accuracy(logits, tn_dataset_y(moons));

    /* One check for everything above: the first error stayed, and nothing happened after it. */
    int failed = tn_error_code() != TN_OK;
    if (failed)
        fprintf(stderr, "forward: %s\n", tn_error_message());
    else
        printf("accuracy %.3f before training, largest float32 gap %.1e at point %" PRId64 "\n", accuracy, gap.abs,
               gap.index);
    tn_scope_end(scope);
    return failed;
}
