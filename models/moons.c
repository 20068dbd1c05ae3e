/* Trains 2-16-16-1 on the two moons: a loader's batches, binary cross-entropy on logits, Adam; then asks fresh moons
 * how often it is right. No call is checked on the way: the first error stays, and nothing moves after it. */
#include <stdio.h>
#include <tenon/tenon.h>

static double accuracy_on(tn_module *net, uint64_t seed)
{
    tn_dataset *moons = tn_make_moons(1000, 0.2, seed, TN_FLOAT32);
    tn_grad_mode mode = tn_no_grad();
    double accuracy = tn_binary_accuracy(tn_forward(net, tn_dataset_x(moons)), tn_dataset_y(moons));
    tn_grad_mode_restore(mode);
    return accuracy;
}

int main(void)
{
    tn_scope scope = tn_scope_begin();
    tn_dataset *moons = tn_make_moons(1000, 0.2, 0, TN_FLOAT32);       /* X [1000, 2]  y [1000] */
    tn_module *net = tn_mlp((int64_t[]){2, 16, 16, 1}, 4, TN_FLOAT32); /* ReLU inside, logits out */
    tn_torch_generator generator;
    tn_torch_manual_seed(&generator, 0);
    tn_init_torch(net, &generator, true);
    tn_optimizer *adam = tn_adam(tn_parameters(net), &(tn_adam_options){.lr = 1e-2});
    tn_loader *batches = tn_loader_new(moons, &(tn_loader_options){.batch_size = 32, .shuffle = true, .seed = 0});

    for (int epoch = 1; epoch <= 100; epoch++) {
        double sum = 0, n = 0;
        for (tn_batch b; tn_loader_next(batches, &b);) { /* b lives until the next call */
            tn_scope step = tn_scope_begin();
            tn_tensor *logits = tn_forward(net, b.x);
            tn_tensor *loss = tn_bce_with_logits(logits, tn_unsqueeze(tn_to(b.y, TN_FLOAT32), 1), TN_MEAN);
            tn_zero_grad(adam);
            tn_backward(loss);
            tn_step(adam);
            sum += tn_item(loss) * (double)tn_size(b.x, 0);
            n += (double)tn_size(b.x, 0);
            tn_scope_end(step);
        }
        if (epoch % 20 == 0 && !tn_error_code())
            printf("epoch %3d  loss %.4f\n", epoch, sum / n);
    }
    double accuracy = accuracy_on(net, 1);
    int failed = tn_error_code() != TN_OK;
    if (failed)
        fprintf(stderr, "moons: %s\n", tn_error_message());
    else
        printf("accuracy on fresh moons %.3f\n", accuracy);
    tn_scope_end(scope);
    return failed;
}
