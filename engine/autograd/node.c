/* Making and ending nodes. See Note [Tape].
 *
 * Note [Ending a graph]
 * A node that ends gives up the next ones, and tensors that hold others: a chain of a million. So a thread ends nodes
 * one after the other: a node whose last reference goes while another is being freed waits in a list.
 *
 * Note [Listed tensors]
 * Tensors in a list among the attributes (positions of an index) are saved as others are: held until the walk, with
 * their versions, which stand behind the list's copy. */
#include "autograd/node.h"

#include <ctype.h>
#include <string.h>

#include "autograd/hooks.h"
#include "autograd/tape.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include "core/tensor_make.h"

static void node_destroy(void *object);
static void meta_destroy(tni_autograd_meta *meta);

const tn_object_class tni_node_class = {.name = "node", .bytes = 0, .destroy = node_destroy};
const tni_autograd_class tni_node_meta = {.destroy = meta_destroy, .facts = tni_tape_facts};

static inline tni_node *of_meta(tni_autograd_meta *meta)
{
    return (tni_node *)(void *)((char *)meta - offsetof(tni_node, as_meta));
}

static void meta_destroy(tni_autograd_meta *meta)
{
    tni_node *node = of_meta(meta);
    if (tni_unref(&node->object.references))
        node_destroy(node);
}

static inline size_t slices_bytes(const tni_slices *slices)
{
    return sizeof *slices + (size_t)(2 * slices->base_ndim + 2 * slices->view_ndim + 2) * sizeof *slices->geometry;
}

static void free_node(tni_node *node)
{
    for (uint32_t i = 0; i < node->n_edges; i++)
        if (node->edges[i])
            tni_edge_release(node->edges[i]);
    if (node->n_saved || TNI_UNLIKELY(node->flags & TNI_NODE_LISTS))
        tni_node_release_saved(node);
    if (TNI_UNLIKELY(node->hooks != NULL))
        tni_hooks_free(&node->hooks);
    if (TNI_UNLIKELY(node->slices != NULL))
        tni_free(node->slices, slices_bytes(node->slices));
    if (TNI_UNLIKELY(node->flags & TNI_NODE_ENDS))
        node->op->derivative->end(node->attr);
    tni_free(node, node->bytes);
}

/* Note [Ending a graph]; waiting nodes are linked through their operator's field. */
static void node_destroy(void *object)
{
    tni_thread *thread = &tni_this_thread;
    tni_node *node = object;
    if (thread->being_freed) {
        memcpy(&node->object.owner, &thread->dying, sizeof thread->dying);
        thread->dying = node;
        return;
    }
    thread->being_freed = node;
    free_node(node);
    while (TNI_UNLIKELY(thread->dying != NULL)) {
        node = thread->dying;
        memcpy(&thread->dying, &node->object.owner, sizeof thread->dying);
        free_node(node);
    }
    thread->being_freed = NULL;
}

/* Of a list that was not given n is negative. */
static int count_of(const tni_ints *ints)
{
    return ints->n > 0 ? ints->n : 0;
}

/* Lists inside an attribute struct are copied behind it: 8 bytes an entry, an index entry, or a tensor and its
 * version. */
static size_t list_bytes(const tni_op *op, const void *attr)
{
    size_t bytes = 0;
    for (int p = 0; p < op->n_params; p++) {
        const char *field = (const char *)attr + op->params[p].offset;
        if (op->params[p].input >= 0 || op->takes_list)
            continue;
        if (op->params[p].code == 'L' || op->params[p].code == 'J')
            bytes += (size_t)count_of((const tni_ints *)(const void *)field) * sizeof(int64_t);
        else if (op->params[p].code == 'G')
            bytes += (size_t)((const tni_tensors *)(const void *)field)->n * (sizeof(tn_tensor *) + sizeof(int64_t));
        else if (op->params[p].code == 'R')
            bytes += (size_t)((const tni_index_list *)(const void *)field)->n * sizeof(tn_index);
    }
    return bytes;
}

/* Note [Listed tensors]. Whether there are any. */
static bool hold_listed(tni_tensors *listed, char *to)
{
    tn_tensor **copy = (tn_tensor **)(void *)to;
    int64_t *versions = (int64_t *)(void *)(copy + listed->n);
    bool any = false;
    for (int i = 0; i < listed->n; i++) {
        tn_tensor *x = copy[i] = listed->data[i];
        if (!x)
            continue;
        any = true;
        tni_ref(&x->object.references);
        versions[i] = x->counter->version;
        tni_storage_watch(x->counter);
    }
    listed->data = copy;
    return any;
}

static void release_listed(tni_node *node)
{
    for (int p = 0; p < node->op->n_params; p++) {
        if (node->op->params[p].code != 'G')
            continue;
        const char *field = (const char *)node->attr + node->op->params[p].offset;
        const tni_tensors *listed = (const tni_tensors *)(const void *)field;
        tn_tensor **tensors = (tn_tensor **)(uintptr_t)listed->data; /* the node's own */
        for (int i = 0; i < listed->n; i++) {
            tn_tensor *x = tensors[i];
            tensors[i] = NULL;
            if (x)
                tni_object_release(&x->object);
        }
    }
    node->flags &= (uint8_t)~TNI_NODE_LISTS;
}

/* Returns flags of the node. */
static uint8_t copy_attr(const tni_op *op, char *to, const void *attr)
{
    char *list = to + (op->attr_bytes + 7u) / 8u * 8u;
    uint8_t flags = 0;
    memcpy(to, attr, op->attr_bytes);
    for (int p = 0; p < op->n_params; p++) {
        char *field = to + op->params[p].offset;
        size_t bytes = 0;
        if (op->params[p].input >= 0)
            continue;
        if (op->params[p].code == 'L' || op->params[p].code == 'J') {
            tni_ints *ints = (tni_ints *)(void *)field;
            bytes = (size_t)count_of(ints) * sizeof *ints->data;
            if (bytes)
                memcpy(list, ints->data, bytes);
            if (ints->data) /* no list and an empty one may mean different things */
                ints->data = (int64_t *)(void *)list;
        } else if (op->params[p].code == 'G' && !op->takes_list) {
            tni_tensors *listed = (tni_tensors *)(void *)field;
            bytes = (size_t)listed->n * (sizeof(tn_tensor *) + sizeof(int64_t));
            if (hold_listed(listed, list))
                flags = TNI_NODE_HOLDS | TNI_NODE_LISTS;
        } else if (op->params[p].code == 'R') {
            tni_index_list *index = (tni_index_list *)(void *)field;
            bytes = (size_t)index->n * sizeof *index->data;
            if (bytes)
                memcpy(list, index->data, bytes);
            index->data = (tn_index *)(void *)list;
        }
        list += bytes;
    }
    return flags;
}

/* Note [Listed tensors]: dispatch has not looked at them. */
static tn_status check_listed(const char *function, const tni_op *op, const void *attr)
{
    for (int p = 0; p < op->n_params && !op->takes_list; p++) {
        if (op->params[p].code != 'G')
            continue;
        const tni_tensors *listed = (const tni_tensors *)(const void *)((const char *)attr + op->params[p].offset);
        for (int i = 0; i < listed->n; i++)
            if (listed->data[i] && listed->data[i]->keys & TNI_KEY_INFERENCE)
                return TNI_FAIL(TN_ERROR_INFERENCE, function,
                                "a tensor of the index was made in inference mode and would be saved for the "
                                "gradient: needed one that was not, such as a clone made outside");
    }
    return TN_OK;
}

tni_node *tni_node_new(const char *function, const tni_op *op, const void *attr, uint32_t n_edges, int n_saved,
                       int ndim, size_t geometry)
{
    const bool owned = TNI_UNLIKELY(attr && attr != op->attr_default);
    size_t bytes = sizeof(tni_node) + n_edges * sizeof(tni_edge) + (size_t)n_saved * sizeof(tni_saved) +
                   (size_t)ndim * sizeof(int64_t);
    const size_t geometry_at = bytes, attr_at = bytes + geometry * sizeof(int64_t);
    bytes = attr_at;
    if (owned && check_listed(function, op, attr))
        return NULL;
    if (owned)
        bytes += (op->attr_bytes + 7u) / 8u * 8u + list_bytes(op, attr);
    tni_node *node = tni_alloc(bytes);
    if (TNI_UNLIKELY(!node)) {
        TNI_FAIL_MEMORY(function, bytes);
        return NULL;
    }
    tni_node_begin(node, op, attr, n_edges, n_saved, bytes);
    node->ndim = (int8_t)ndim;
    if (geometry > 0)
        node->geometry = (int64_t *)(void *)((char *)node + geometry_at);
    for (uint32_t i = 0; i < n_edges; i++)
        node->edges[i] = 0;
    for (int i = 0; i < n_saved; i++)
        tni_node_saved(node)[i].tensor = NULL;
    if (owned) {
        node->flags = copy_attr(op, (char *)node + attr_at, attr);
        node->attr = (char *)node + attr_at;
    }
    return node;
}

void tni_node_set_geometry(tni_node *node, const tn_tensor *input)
{
    int64_t *to = node->geometry;
    to[0] = input->ndim;
    for (int d = 0; d < input->ndim; d++) {
        to[1 + d] = input->sizes[d];
        to[1 + input->ndim + d] = input->strides[d];
    }
    to[1 + 2 * input->ndim] = input->offset;
}

tn_status tni_node_save_result(tni_node *node, int place, tn_tensor *result)
{
    const tni_record record = {.dtype = result->dtype, .device = result->device, .ndim = result->ndim,
                               .sizes = result->sizes, .strides = result->strides, .numel = result->numel,
                               .offset = result->offset};
    tn_tensor *alone = tni_tensor_sharing(node->op->name[node->form], result, &record, false);
    if (!alone)
        return tni_pending();
    alone->contiguity = result->contiguity;
    tni_saved *saved = &tni_node_saved(node)[place];
    tni_scope_unhold(&alone->object);
    saved->what = TNI_SAVED_RESULT;
    saved->tensor = alone;
    saved->version = result->counter->version;
    tni_storage_watch(result->counter);
    return TN_OK;
}

void tni_node_release_saved(tni_node *node)
{
    tni_saved *saved = tni_node_saved(node);
    for (int i = 0; i < node->n_saved; i++) {
        tn_tensor *x = saved[i].tensor;
        saved[i].tensor = NULL;
        if (x)
            tni_object_release(&x->object);
    }
    if (TNI_UNLIKELY(node->flags & TNI_NODE_LISTS))
        release_listed(node);
}

tni_shape tni_edge_shape(tni_edge edge)
{
    const tni_node *node = tni_edge_node(edge);
    if (node)
        return (tni_shape){tni_node_sizes(node), node->ndim, (tn_dtype)node->dtype, (tn_device_type)node->device};
    const tn_tensor *leaf = tni_edge_leaf(edge);
    return (tni_shape){leaf->sizes, leaf->ndim, (tn_dtype)leaf->dtype, (tn_device_type)leaf->device};
}

const char *tni_node_name(const tni_node *node, char *buf, size_t size)
{
    const tni_derivative *derivative = node->op->derivative;
    static const char *const pieces[] = {[TNI_OF_SPLIT] = "SplitBackward0",
                                         [TNI_OF_SPLIT_SIZES] = "SplitWithSizesBackward0",
                                         [TNI_OF_UNBIND] = "UnbindBackward0"};
    if (node->slices)
        return "CopySlices";
    if (node->flags & TNI_NODE_PIECE)
        return pieces[(node->flags & TNI_NODE_PIECE) / 32];
    const char *name = derivative->named ? derivative->named(node) : derivative->name;
    if (name)
        return name;
    const char *op = node->op->name[TNI_NEW] ? node->op->name[TNI_NEW] : node->op->name[TNI_IN_PLACE];
    size_t n = 0;
    bool upper = true;
    for (; *op && n + sizeof "Backward0" < size; op++) {
        if (*op == '_') {
            upper = true;
            continue;
        }
        buf[n++] = (char)(upper ? toupper((unsigned char)*op) : *op);
        upper = false;
    }
    memcpy(buf + n, "Backward0", sizeof "Backward0");
    return buf;
}
