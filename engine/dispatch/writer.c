/* Each entry is three words that are read and written alone: readers believe one whose counter and version are those
 * they ask for. */
#include "dispatch/writer.h"

enum { ENTRIES = 64 };

static struct {
    uintptr_t counter;
    uint32_t version;
    const char *name;
} writers[ENTRIES];

static unsigned place_of(const tni_storage *counter)
{
    return (unsigned)(((uint64_t)(uintptr_t)counter >> 6) * UINT64_C(0x9e3779b97f4a7c15) >> 58);
}

void tni_note_writer(const tni_storage *counter, const char *operator_name)
{
    unsigned i = place_of(counter);
    __atomic_store_n(&writers[i].counter, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&writers[i].version, counter->version, __ATOMIC_RELAXED);
    __atomic_store_n(&writers[i].name, operator_name, __ATOMIC_RELAXED);
    __atomic_store_n(&writers[i].counter, (uintptr_t)counter, __ATOMIC_RELEASE);
}

const char *tni_writer_of(const tni_storage *counter)
{
    unsigned i = place_of(counter);
    if (__atomic_load_n(&writers[i].counter, __ATOMIC_ACQUIRE) != (uintptr_t)counter ||
        __atomic_load_n(&writers[i].version, __ATOMIC_RELAXED) != counter->version)
        return NULL;
    return __atomic_load_n(&writers[i].name, __ATOMIC_RELAXED);
}
