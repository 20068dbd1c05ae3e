/* Classification with more than two classes: five blobs, cross-entropy on logits, AdamW; then the confusion of fresh
 * points, rows what they are and columns what the net says. */
#include <stdio.h>
#include <tenon/tenon.h>

enum { CLASSES = 5, POINTS = 1000 };

/* Both halves of one draw, since another seed would put the centers elsewhere. */
static void draw(tn_dataset **learn, tn_dataset **fresh)
{
    const tn_blobs_options blobs = {.centers = CLASSES, .cluster_std = 1.2};
    tn_train_test_split(tn_make_blobs(2 * POINTS, &blobs, 1, TN_FLOAT32), 0.5, 0, learn, fresh);
}

static void train(tn_module *net, tn_dataset *points)
{
    tn_optimizer *adamw = tn_adamw(tn_parameters(net), &(tn_adam_options){.lr = 1e-2});
    tn_loader *batches = tn_loader_new(points, &(tn_loader_options){.batch_size = 50, .shuffle = true, .seed = 0});
    for (int epoch = 1; epoch <= 30; epoch++) {
        double sum = 0, n = 0;
        for (tn_batch b; tn_loader_next(batches, &b);) {
            tn_scope step = tn_scope_begin();
            tn_tensor *loss = tn_cross_entropy(tn_forward(net, b.x), b.y, TN_MEAN); /* b.y [n] int64 */
            tn_zero_grad(adamw);
            tn_backward(loss);
            tn_step(adamw);
            sum += tn_item(loss) * (double)tn_size(b.x, 0);
            n += (double)tn_size(b.x, 0);
            tn_scope_end(step);
        }
        if (epoch % 10 == 0 && !tn_error_code())
            printf("epoch %2d  loss %.4f\n", epoch, sum / n);
    }
}

static void write_confusion(tn_module *net, tn_dataset *fresh)
{
    int count[CLASSES][CLASSES] = {{0}}, right = 0;
    tn_grad_mode mode = tn_no_grad();
    const int64_t *said = tn_data_i64(tn_argmax(tn_forward(net, tn_dataset_x(fresh)), 1, false));
    const int64_t *is = tn_data_i64(tn_dataset_y(fresh));
    tn_grad_mode_restore(mode);
    for (int i = 0; said && is && i < POINTS; i++) {
        count[is[i]][said[i]]++;
        right += is[i] == said[i];
    }
    if (tn_error_code())
        return;
    printf("accuracy on fresh points %.3f\n", right / (double)POINTS);
    for (int i = 0; i < CLASSES; i++)
        for (int j = 0; j < CLASSES; j++)
            printf("%5d%s", count[i][j], j == CLASSES - 1 ? "\n" : "");
}

int main(void)
{
    tn_dataset *learn = NULL, *fresh = NULL;
    tn_scope scope = tn_scope_begin();
    draw(&learn, &fresh);
    tn_module *net = tn_mlp((int64_t[]){2, 32, CLASSES}, 3, TN_FLOAT32);
    tn_torch_generator generator;
    tn_torch_manual_seed(&generator, 0);
    tn_init_torch(net, &generator, true);
    train(net, learn);
    write_confusion(net, fresh);
    int failed = tn_error_code() != TN_OK;
    if (failed)
        fprintf(stderr, "classes: %s\n", tn_error_message());
    tn_scope_end(scope);
    return failed;
}
