/* Regression from a table: `regression FILE.csv COLUMN` learns to give the column from all the others, and says how
 * well it does on rows that it has not seen. Columns are numbers; features and target are standardised by the rows that
 * it learns from. */
#include <math.h>
#include <stdio.h>
#include <tenon/tenon.h>

/* A part of the table with both its tensors standardised; y becomes [n, 1], as the net's output is. */
static tn_dataset *standardised(tn_dataset *part, tn_tensor *mean[2], tn_tensor *scale[2])
{
    tn_tensor *x = tn_standardise(tn_dataset_x(part), mean[0], scale[0]);
    tn_tensor *y = tn_standardise(tn_dataset_y(part), mean[1], scale[1]);
    return tn_tensor_dataset(x, tn_unsqueeze(y, 1));
}

/* One epoch; the mean loss over its samples. */
static double train(tn_module *net, tn_optimizer *adam, tn_loader *batches)
{
    double sum = 0, n = 0;
    for (tn_batch b; tn_loader_next(batches, &b);) {
        tn_scope step = tn_scope_begin();
        tn_tensor *loss = tn_mse_loss(tn_forward(net, b.x), b.y, TN_MEAN);
        tn_zero_grad(adam);
        tn_backward(loss);
        tn_step(adam);
        sum += tn_item(loss) * (double)tn_size(b.x, 0);
        n += (double)tn_size(b.x, 0);
        tn_scope_end(step);
    }
    return sum / n;
}

static double squared_error(tn_module *net, tn_dataset *part)
{
    tn_grad_mode mode = tn_no_grad();
    double error = tn_item(tn_mse_loss(tn_forward(net, tn_dataset_x(part)), tn_dataset_y(part), TN_MEAN));
    tn_grad_mode_restore(mode);
    return error;
}

static void run(const char *path, const char *column)
{
    tn_dataset *learn, *test;
    tn_tensor *mean[2], *scale[2];
    tn_dataset *table = tn_load_csv(path, &(tn_csv_options){.label = column, .target = TN_CSV_NUMBERS, .finite = true});
    if (tn_train_test_split(table, 0.25, 0, &learn, &test))
        return;
    tn_standardise_fit(tn_dataset_x(learn), &mean[0], &scale[0]);
    if (tn_standardise_fit(tn_dataset_y(learn), &mean[1], &scale[1]))
        return;
    double unit = tn_item(scale[1]);
    learn = standardised(learn, mean, scale);
    test = standardised(test, mean, scale);

    tn_module *net = tn_mlp((int64_t[]){tn_size(tn_dataset_x(learn), 1), 32, 32, 1}, 4, TN_FLOAT32);
    tn_torch_generator generator;
    tn_torch_manual_seed(&generator, 0);
    tn_init_torch(net, &generator, true);
    tn_optimizer *adam = tn_adam(tn_parameters(net), &(tn_adam_options){.lr = 3e-3});
    tn_loader *batches = tn_loader_new(learn, &(tn_loader_options){.batch_size = 32, .shuffle = true, .seed = 0});
    for (int epoch = 1; epoch <= 200; epoch++) {
        double loss = train(net, adam, batches);
        if (epoch % 50 == 0 && !tn_error_code())
            printf("epoch %3d  error %.4f\n", epoch, unit * sqrt(loss));
    }
    double error = squared_error(net, test), variance = tn_item(tn_var(tn_dataset_y(test), NULL, 0, false, false));
    if (!tn_error_code())
        printf("on %ld rows unseen: error %.4f, R^2 %.3f\n", (long)tn_dataset_size(test), unit * sqrt(error),
               1 - error / variance);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fputs("usage: regression FILE.csv COLUMN\n", stderr);
        return 2;
    }
    tn_scope scope = tn_scope_begin();
    run(argv[1], argv[2]);
    int failed = tn_error_code() != TN_OK;
    if (failed)
        fprintf(stderr, "regression: %s\n", tn_error_message());
    tn_scope_end(scope);
    return failed;
}
