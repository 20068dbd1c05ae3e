# A host may close the library while a thread that used it still runs: what the thread hung on itself ends with it, later.
. tests/house/house.sh
[ -z "$SANITIZE" ] || skip "a host program would have to be sanitized, too"

cat >"$work/host.c" <<'C'
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <tenon/tenon.h>

static pthread_barrier_t used, closed;
static tn_tensor *(*ones)(const int64_t *, int, tn_dtype);

static void *work(void *argument)
{
    *(tn_tensor **)argument = ones((int64_t[]){2, 3}, 2, TN_FLOAT32);
    pthread_barrier_wait(&used);
    pthread_barrier_wait(&closed);
    return NULL; /* the thread's scopes and blocks end here, by the library's code */
}

int main(int argc, char **argv)
{
    pthread_t thread;
    tn_tensor *made = NULL;
    void *library = dlopen(argv[argc - 1], RTLD_NOW | RTLD_LOCAL);
    *(void **)&ones = library ? dlsym(library, "tn_ones") : NULL;
    if (!ones)
        return puts(dlerror());
    pthread_barrier_init(&used, NULL, 2);
    pthread_barrier_init(&closed, NULL, 2);
    if (pthread_create(&thread, NULL, work, &made) != 0)
        return puts("no thread");
    pthread_barrier_wait(&used);
    dlclose(library);
    pthread_barrier_wait(&closed);
    pthread_join(thread, NULL);
    return puts(made ? "made and ended" : "nothing was made") < 0;
}
C
"$CC" -std=c11 -D_POSIX_C_SOURCE=200809L -Iengine/include -Inn/include -Idata/include -Itrain/include -o "$work/host" \
    "$work/host.c" -lpthread -ldl || fail "building the program that closes the library"
said=$("$work/host" "$BUILD/libtenon.so" 2>&1) || fail "the program that closes the library ends with an error"
[ "$said" = "made and ended" ] || fail "the program that closes the library says '$said', needed 'made and ended'"
finish
