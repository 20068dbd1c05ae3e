/* One memory in three hands: an array of C, a tensor around it, and a consumer that knows DLPack alone, as NumPy and
 * PyTorch do. Nobody copies; each sees what the others write; the array's owner hears when the last has let go. */
#include <inttypes.h>
#include <stdio.h>
#include <tenon/tenon.h>

enum { DAYS = 3, HOURS = 4 };

static void let_go(void *context, void *data)
{
    printf("let go of the array, as it was given: %s\n", data == context ? "yes" : "no");
}

/* The consumer: another library, which need not know Tenon. It adds to every number, and may keep the array as long as
 * it likes. */
static void add_to_all(const tn_dlpack *array, double number)
{
    const tn_dlpack_tensor *grid = &array->tensor;
    double *data = grid->data; /* byte_offset is 0 */
    for (int64_t i = 0; i < grid->shape[0]; i++)
        for (int64_t j = 0; j < grid->shape[1]; j++)
            data[i * grid->strides[0] + j * grid->strides[1]] += number;
}

static void print_array(const char *title, double array[DAYS][HOURS])
{
    printf("%s\n", title);
    for (int i = 0; i < DAYS; i++)
        printf("  %5.1f %5.1f %5.1f %5.1f\n", array[i][0], array[i][1], array[i][2], array[i][3]);
}

int main(void)
{
    double readings[DAYS][HOURS] = {{11, 12, 15, 13}, {10, 14, 18, 12}, {9, 13, 16, 11}};
    tn_scope scope = tn_scope_begin();
    tn_tensor *x = tn_from_blob(readings, (int64_t[]){DAYS, HOURS}, 2, TN_FLOAT64,
                                &(tn_blob_options){.deleter = let_go, .context = readings});

    /* the tensor writes, the array shows it: a view of two columns, one of them doubled */
    tn_tensor *late = tn_narrow(x, 1, 2, 2);
    tn_tensor *last = tn_select(late, 1, 1);
    tn_add_(last, last);
    print_array("the tensor doubled the last column:", readings);

    /* the consumer writes, array and tensor show it */
    tn_dlpack *shared = tn_to_dlpack(late);
    if (shared) {
        printf("shared %" PRId64 " x %" PRId64 ", strides %" PRId64 " and %" PRId64 ", at the tensor's address: %s\n",
               shared->tensor.shape[0], shared->tensor.shape[1], shared->tensor.strides[0], shared->tensor.strides[1],
               shared->tensor.data == tn_data(late) ? "yes" : "no");
        add_to_all(shared, 0.5);
        print_array("the consumer added 0.5 to two columns:", readings);
    }

    /* C writes, the tensor shows it */
    readings[0][0] = 100;
    printf("the tensor sees %.1f in the corner\n", tn_item(tn_select(tn_select(x, 0, 0), 0, 0)));

    int failed = tn_error_code() != TN_OK;
    if (failed)
        fprintf(stderr, "memory: %s\n", tn_error_message());
    tn_scope_end(scope);
    if (shared) {
        printf("the scope has ended, the consumer still reads %.1f\n", *(double *)shared->tensor.data);
        shared->deleter(shared);
    }
    return failed;
}
