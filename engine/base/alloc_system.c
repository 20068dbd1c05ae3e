/* Memory of the system: from malloc, and whole pages for large blocks, on huge ones where the system gives them. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, madvise */
#include <stdlib.h>
#include <sys/mman.h>

#include "base/alloc.h"

#define HUGE_PAGE ((size_t)2 << 20)

static void *map_pages(size_t bytes)
{
    size_t slack = bytes >= HUGE_PAGE ? HUGE_PAGE : 0;
    char *start = mmap(NULL, bytes + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
        return NULL;
    if (slack == 0)
        return start;
    size_t before = (HUGE_PAGE - (uintptr_t)start % HUGE_PAGE) % HUGE_PAGE;
    if (before)
        munmap(start, before);
    if (slack - before)
        munmap(start + before + bytes, slack - before);
#ifdef MADV_HUGEPAGE
    madvise(start + before, bytes, MADV_HUGEPAGE);
#endif
    return start + before;
}

void *tni_system_allocate(void *context, size_t bytes, size_t alignment)
{
    (void)context;
    if (!TNI_EXACT_BLOCKS && bytes > TNI_MIDDLE_LIMIT)
        return map_pages(bytes);
    void *block = NULL;
    return posix_memalign(&block, alignment, bytes) == 0 ? block : NULL;
}

void tni_system_release(void *context, void *block, size_t bytes)
{
    (void)context;
    if (!TNI_EXACT_BLOCKS && bytes > TNI_MIDDLE_LIMIT)
        munmap(block, bytes);
    else
        free(block);
}
