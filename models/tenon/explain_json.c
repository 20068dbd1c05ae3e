/* The explanation as one JSON object on one line. */
#include <inttypes.h>
#include <string.h>

#include "explain.h"
#include "report.h"

static void write_numbers(FILE *stream, const char *name, const int64_t *numbers, int n)
{
    fprintf(stream, ",\"%s\":[", name);
    for (int i = 0; i < n; i++)
        fprintf(stream, "%s%" PRId64, i ? "," : "", numbers[i]);
    fputc(']', stream);
}

static void write_record(FILE *stream, tn_tensor *x)
{
    write_numbers(stream, "shape", tn_sizes(x), tn_ndim(x));
    write_numbers(stream, "stride", tn_strides(x), tn_ndim(x));
    fprintf(stream, ",\"offset\":%" PRId64 ",\"contiguous\":%s", tn_storage_offset(x),
            tn_is_contiguous(x) ? "true" : "false");
}

void explain_write_json(FILE *stream, const explain_expression *it, const explain_facts *facts)
{
    static const char *const made[] = {"new", "view", "copy", "same"};
    fputs("{\"expression\":", stream);
    write_json_string(stream, it->text, (int)strlen(it->text));
    fputs(",\"steps\":[", stream);
    for (int i = 0; i < it->n_steps; i++) {
        const explain_step *step = &it->step[i];
        fprintf(stream, "%s{\"text\":", i ? "," : "");
        write_json_string(stream, it->text + step->begin, step->length);
        fprintf(stream, ",\"self\":%d,\"made\":\"%s\"", step->self, made[step->made]);
        write_record(stream, step->result);
        fputc('}', stream);
    }
    fprintf(stream, "],\"explained\":%d,\"dtype\":\"%s\"", it->last, tn_dtype_name(tn_tensor_dtype(facts->x)));
    write_record(stream, facts->x);
    fprintf(stream,
            ",\"numel\":%" PRId64 ",\"storage_bytes\":%zu,\"storage_cells\":%" PRId64 ",\"cells_read\":", facts->numel,
            tn_storage_nbytes(facts->x), facts->cells);
    if (facts->walked)
        fprintf(stream, "%" PRId64, facts->distinct);
    else
        fputs("null", stream);
    write_numbers(stream, "order", facts->order, facts->n_order);
    fprintf(stream, ",\"order_complete\":%s,\"view_flat\":{\"works\":%s",
            facts->n_order == facts->numel ? "true" : "false", facts->flat ? "true" : "false");
    if (facts->flat)
        fprintf(stream, ",\"stride\":%" PRId64, facts->flat_stride);
    else
        fprintf(stream, ",\"outer\":%d,\"inner\":%d,\"found\":%" PRId64 ",\"needed\":%" PRId64, facts->flat_no.outer,
                facts->flat_no.inner, facts->flat_no.found, facts->flat_no.needed);
    fputs("}}\n", stream);
}
