/* Looking through a graph without recursion: ends are appended once, in the order they are met, and sorted by sequence
 * number, so that whatever an end leads to stands before it. */
#include "autograd/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

enum { FIRST = 64 };

static inline uint32_t slot_of(const tni_plan *plan, tni_edge end)
{
    return (uint32_t)(((uint64_t)end >> 6) * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (2 * plan->capacity - 1);
}

tni_planned *tni_plan_find(const tni_plan *plan, tni_edge end)
{
    for (uint32_t slot = slot_of(plan, end);; slot = (slot + 1) & (2 * plan->capacity - 1)) {
        if (plan->table[slot] == 0)
            return NULL;
        if (plan->ends[plan->table[slot] - 1].end == end)
            return &plan->ends[plan->table[slot] - 1];
    }
}

static void put_in_table(tni_plan *plan, uint32_t number)
{
    uint32_t slot = slot_of(plan, plan->ends[number].end);
    while (plan->table[slot] != 0)
        slot = (slot + 1) & (2 * plan->capacity - 1);
    plan->table[slot] = number + 1;
}

static tn_status grow(tni_plan *plan)
{
    size_t n = plan->capacity ? 2 * (size_t)plan->capacity : FIRST;
    tni_planned *ends = n < UINT32_MAX / 4 ? tni_alloc(n * sizeof *ends) : NULL;
    uint32_t *table = ends ? tni_alloc_zeroed(2 * n * sizeof *table) : NULL;
    if (!table) {
        tni_free(ends, n * sizeof *ends);
        return TNI_FAIL_MEMORY("backward", n * sizeof *ends);
    }
    if (plan->used)
        memcpy(ends, plan->ends, plan->used * sizeof *ends);
    tni_plan used = *plan;
    plan->ends = ends;
    plan->table = table;
    plan->capacity = (uint32_t)n;
    for (uint32_t i = 0; i < plan->used; i++)
        put_in_table(plan, i);
    tni_free(used.ends, used.capacity * sizeof *ends);
    tni_free(used.table, 2 * (size_t)used.capacity * sizeof *table);
    return TN_OK;
}

static tn_status meet(tni_plan *plan, tni_edge end)
{
    if (plan->capacity && tni_plan_find(plan, end))
        return TN_OK;
    if (plan->used == plan->capacity && grow(plan))
        return tni_pending();
    plan->ends[plan->used] = (tni_planned){.end = end};
    put_in_table(plan, plan->used++);
    return TN_OK;
}

static uint64_t sequence_of(tni_edge end)
{
    const tni_node *node = tni_edge_node(end);
    return node ? node->sequence : 0;
}

static int by_sequence(const void *a, const void *b)
{
    uint64_t x = sequence_of(((const tni_planned *)a)->end), y = sequence_of(((const tni_planned *)b)->end);
    return x < y ? -1 : x > y;
}

static void mark_needed(tni_plan *plan, const tni_edge *inputs, int n_inputs)
{
    for (int i = 0; inputs && i < n_inputs; i++) {
        tni_planned *input = tni_plan_find(plan, inputs[i]);
        if (input)
            input->needed = true;
    }
    for (uint32_t i = 0; i < plan->used; i++) {
        const tni_node *node = tni_edge_node(plan->ends[i].end);
        plan->ends[i].needed |= !inputs;
        for (uint32_t e = 0; node && e < node->n_edges && !plan->ends[i].needed; e++)
            plan->ends[i].needed = node->edges[e] && tni_plan_find(plan, node->edges[e])->needed;
    }
}

static void count_coming(tni_plan *plan)
{
    for (uint32_t i = 0; i < plan->used; i++) {
        const tni_node *node = tni_edge_node(plan->ends[i].end);
        for (uint32_t e = 0; node && plan->ends[i].needed && e < node->n_edges; e++)
            if (node->edges[e])
                tni_plan_find(plan, node->edges[e])->coming++;
    }
}

tn_status tni_plan_make(tni_plan *plan, const tni_edge *roots, int n_roots, const tni_edge *inputs, int n_inputs)
{
    *plan = (tni_plan){NULL, NULL, 0, 0};
    if (grow(plan))
        return tni_pending();
    for (int i = 0; i < n_roots; i++)
        if (meet(plan, roots[i]))
            return tni_pending();
    for (uint32_t i = 0; i < plan->used; i++) {
        const tni_node *node = tni_edge_node(plan->ends[i].end);
        for (uint32_t e = 0; node && e < node->n_edges; e++)
            if (node->edges[e] && meet(plan, node->edges[e]))
                return tni_pending();
    }
    qsort(plan->ends, plan->used, sizeof *plan->ends, by_sequence);
    memset(plan->table, 0, 2 * (size_t)plan->capacity * sizeof *plan->table);
    for (uint32_t i = 0; i < plan->used; i++)
        put_in_table(plan, i);
    mark_needed(plan, inputs, n_inputs);
    if (n_roots == 1 && !tni_plan_find(plan, roots[0])->needed)
        tni_plan_find(plan, roots[0])->needed = tni_plan_find(plan, roots[0])->only_seen = true;
    count_coming(plan);
    for (int i = 0; i < n_roots; i++)
        tni_plan_find(plan, roots[i])->coming++;
    return TN_OK;
}

void tni_plan_free(tni_plan *plan)
{
    for (uint32_t i = 0; i < plan->used; i++)
        if (plan->ends[i].grad)
            tni_object_release(&plan->ends[i].grad->object);
    tni_free(plan->ends, plan->capacity * sizeof *plan->ends);
    tni_free(plan->table, 2 * (size_t)plan->capacity * sizeof *plan->table);
}
