# Installs into an empty folder and builds a small program on it, through pkg-config and through find_package.
. tests/house/house.sh
[ -z "$SANITIZE" ] || skip "a host program would have to be sanitized, too"
command -v cmake >/dev/null || skip "no cmake on the path"

prefix="$work/prefix"
cmake --install "$BUILD" --prefix "$prefix" >"$work/log" 2>&1 || { cat "$work/log"; fail "cmake --install"; finish; }

mkdir "$work/program"
cat >"$work/program/program.c" <<'C'
#include <stdio.h>
#include <tenon/tenon.h>

int main(void)
{
    tn_tensor *x = tn_ones((int64_t[]){2, 3}, 2, TN_FLOAT32);
    printf("%g\n", tn_item(tn_sum(x, NULL, 0, false, TN_DTYPE_NONE)));
    return tn_error_code() != TN_OK;
}
C
cat >"$work/program/CMakeLists.txt" <<'L'
cmake_minimum_required(VERSION 3.25)
project(program LANGUAGES C)
find_package(tenon 0.1 REQUIRED)
find_package(tenon 99 QUIET)
if(tenon_FOUND)
  message(FATAL_ERROR "version 0.1 passes for 99")
endif()
find_package(tenon 0.1 REQUIRED)
foreach(kind tenon static)
  add_executable(program_${kind} program.c)
  target_link_libraries(program_${kind} PRIVATE tenon::${kind})
endforeach()
L

# says_six NAME COMMAND...: the program adds six ones
says_six() {
    name=$1
    shift
    said=$("$@" 2>&1) || fail "the program built $name ends with an error"
    [ "$said" = 6 ] || fail "the program built $name says '$said', needed 6"
}

cmake -S "$work/program" -B "$work/build" -G Ninja -DCMAKE_C_COMPILER="$CC" -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" 2>&1 &&
    cmake --build "$work/build" >>"$work/log" 2>&1 || { cat "$work/log"; fail "building with find_package"; finish; }
says_six "on tenon::tenon" "$work/build/program_tenon"
says_six "on tenon::static" "$work/build/program_static"

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name tenon.pc)")
export PKG_CONFIG_PATH
libraries=$(dirname "$PKG_CONFIG_PATH")
pkg-config --atleast-version 0.1 tenon || fail "pkg-config does not find tenon 0.1"
"$CC" -std=c11 -o "$work/shared" "$work/program/program.c" $(pkg-config --cflags --libs tenon) || fail "building with pkg-config"
says_six "with pkg-config" env LD_LIBRARY_PATH="$libraries" "$work/shared"
"$CC" -std=c11 -o "$work/static" "$work/program/program.c" $(pkg-config --cflags tenon) "$libraries/libtenon.a" \
    $(pkg-config --static --libs-only-l tenon | sed 's/-ltenon//') || fail "building with libtenon.a"
says_six "with libtenon.a" "$work/static"

# A host that opens the library late must find room for its thread-local state.
cat >"$work/late.c" <<'C'
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *library = dlopen(argv[argc - 1], RTLD_NOW);
    puts(library && dlsym(library, "tn_add") ? "6" : dlerror());
    return 0;
}
C
"$CC" -o "$work/late" "$work/late.c" -ldl || fail "building the program that opens the library"
says_six "to open it with dlopen" "$work/late" "$libraries/libtenon.so.0"

[ -L "$libraries/libtenon.so" ] && [ -e "$libraries/libtenon.so.0" ] || fail "libtenon.so does not lead to libtenon.so.0"
[ -e "$prefix/include/tenon/dtype.def" ] || fail "dtype.def, which dtype.h includes, is not installed"
"$prefix/bin/tenon" compare --json >"$work/json" || fail "the installed tenon command"
grep -q '"gap"' "$work/json" || fail "the installed 'tenon compare --json' says: $(cat "$work/json")"
finish
