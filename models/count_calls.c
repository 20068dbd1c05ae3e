/* Looking at every operator call without touching an operator: a layer that counts what a forward pass does. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <tenon/tenon.h>

enum { MAX_NAMES = 32 };

typedef struct counter {
    const char *name[MAX_NAMES]; /* the library's own constants */
    int64_t calls[MAX_NAMES], elements[MAX_NAMES];
    int names;
} counter;

/* The layer: goes on with the call, then notes what came of it. It allocates nothing and calls no operator. */
static tn_status count(void *context, tn_op_call *call)
{
    counter *all = context;
    tn_status status = tn_layer_next(call);
    if (status != TN_OK)
        return status;
    const char *name = tn_op_call_name(call);
    int i = 0;
    while (i < all->names && strcmp(all->name[i], name) != 0)
        i++;
    if (i == MAX_NAMES)
        return TN_OK;
    if (i == all->names)
        all->name[all->names++] = name;
    all->calls[i]++;
    all->elements[i] += tn_numel(tn_op_call_output(call, 0));
    return TN_OK;
}

int main(void)
{
    counter all = {.names = 0};
    tn_scope scope = tn_scope_begin();
    tn_module *net = tn_mlp((const int64_t[]){2, 16, 16, 1}, 4, TN_FLOAT32);
    tn_tensor *x = tn_dataset_x(tn_make_moons(200, 0.2, 0, TN_FLOAT32));

    int layer = tn_layer_register("count", count, &all);
    tn_layer_enable(layer, true);
    tn_forward(net, x);
    tn_layer_unregister(layer);

    printf("%-10s %5s %9s\n", "operator", "calls", "elements");
    for (int i = 0; i < all.names; i++)
        printf("%-10s %5" PRId64 " %9" PRId64 "\n", all.name[i], all.calls[i], all.elements[i]);
    if (tn_error_code() != TN_OK)
        fprintf(stderr, "%s\n", tn_error_message());
    int failed = tn_error_code() != TN_OK;
    tn_scope_end(scope);
    return failed;
}
