/* The most memory that this process has held, in bytes; 0 where the system does not tell. */
#ifndef TENON_BENCH_PEAK_H
#define TENON_BENCH_PEAK_H

#include <stdio.h>
#include <string.h>

static inline long long peak_bytes(void)
{
    char line[128];
    long long kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmHWM: %lld", &kib) == 1)
            break;
    if (file)
        fclose(file);
    return kib * 1024;
}

#endif
