/* A binary heap on the sequence number over places found by a hash of their edge. A walk rarely has more than a few
 * gradients under way; the first 32 places need no memory. */
#include "autograd/pending.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

enum { FIRST = 32 };

static inline uint32_t slot_of(const tni_pending_set *set, tni_edge edge)
{
    return (uint32_t)(((uint64_t)edge >> 6) * UINT64_C(0x9e3779b97f4a7c15) >> 40) & (2 * set->capacity - 1);
}

void tni_pending_begin(tni_pending_set *set)
{
    set->places = set->first_places;
    set->heap = set->first_heap;
    set->table = set->first_table;
    set->used = set->waiting = set->free = 0;
    set->capacity = FIRST;
    memset(set->first_table, 0, sizeof set->first_table);
}

static void free_memory(tni_pending_set *set)
{
    if (set->places == set->first_places)
        return;
    tni_free(set->places, set->capacity * sizeof *set->places);
    tni_free(set->heap, set->capacity * sizeof *set->heap);
    tni_free(set->table, 2 * (size_t)set->capacity * sizeof *set->table);
}

void tni_pending_end(tni_pending_set *set)
{
    for (uint32_t i = 0; i < set->used; i++)
        if (set->places[i].edge && set->places[i].grad)
            tni_object_release(&set->places[i].grad->object);
    free_memory(set);
}

static tn_status grow(tni_pending_set *set)
{
    tni_pending_set larger = *set;
    size_t n = 2 * (size_t)set->capacity;
    if (n > UINT32_MAX / 4)
        return TNI_FAIL(TN_ERROR_MEMORY, "backward", "more than %u gradients under way at once", set->capacity);
    larger.places = tni_alloc(n * sizeof *set->places);
    larger.heap = tni_alloc(n * sizeof *set->heap);
    larger.table = tni_alloc_zeroed(2 * n * sizeof *set->table);
    if (!larger.places || !larger.heap || !larger.table) {
        tni_free(larger.places, n * sizeof *set->places);
        tni_free(larger.heap, n * sizeof *set->heap);
        tni_free(larger.table, 2 * n * sizeof *set->table);
        return TNI_FAIL_MEMORY("backward", n * sizeof *set->places);
    }
    memcpy(larger.places, set->places, set->used * sizeof *set->places);
    memcpy(larger.heap, set->heap, set->waiting * sizeof *set->heap);
    larger.capacity = (uint32_t)n;
    for (uint32_t i = 0; i < set->used; i++) {
        if (!larger.places[i].edge)
            continue;
        uint32_t *slot = &larger.table[slot_of(&larger, larger.places[i].edge)];
        larger.places[i].next = *slot;
        *slot = i + 1;
    }
    free_memory(set);
    set->places = larger.places;
    set->heap = larger.heap;
    set->table = larger.table;
    set->capacity = larger.capacity;
    return TN_OK;
}

tni_waiting *tni_pending_find(tni_pending_set *set, tni_edge edge)
{
    for (uint32_t i = set->table[slot_of(set, edge)]; i; i = set->places[i - 1].next)
        if (set->places[i - 1].edge == edge)
            return &set->places[i - 1];
    return NULL;
}

tni_waiting *tni_pending_at(tni_pending_set *set, tni_edge edge, uint64_t sequence)
{
    tni_waiting *place = tni_pending_find(set, edge);
    if (place)
        return place;
    if (!set->free && set->used == set->capacity && grow(set))
        return NULL;
    uint32_t number = set->free ? set->free - 1 : set->used++;
    place = &set->places[number];
    if (set->free)
        set->free = place->next;
    uint32_t *slot = &set->table[slot_of(set, edge)];
    *place = (tni_waiting){edge, NULL, sequence, *slot, false};
    *slot = number + 1;
    uint32_t at = set->waiting++;
    while (at > 0 && set->places[set->heap[(at - 1) / 2]].sequence < sequence) {
        set->heap[at] = set->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    set->heap[at] = number;
    return place;
}

static void unlink_place(tni_pending_set *set, uint32_t number)
{
    uint32_t *link = &set->table[slot_of(set, set->places[number].edge)];
    while (*link != number + 1)
        link = &set->places[*link - 1].next;
    *link = set->places[number].next;
}

bool tni_pending_next(tni_pending_set *set, tni_waiting *next)
{
    if (set->waiting == 0)
        return false;
    uint32_t number = set->heap[0], last = set->heap[--set->waiting], at = 0;
    uint64_t sequence = set->places[last].sequence;
    for (uint32_t child; (child = 2 * at + 1) < set->waiting; at = child) {
        if (child + 1 < set->waiting &&
            set->places[set->heap[child + 1]].sequence > set->places[set->heap[child]].sequence)
            child++;
        if (set->places[set->heap[child]].sequence <= sequence)
            break;
        set->heap[at] = set->heap[child];
    }
    set->heap[at] = last;
    *next = set->places[number];
    unlink_place(set, number);
    set->places[number].edge = 0;
    set->places[number].next = set->free;
    set->free = number + 1;
    return true;
}
