# What a reader of the sources may rely on: short files, no banned call, no leftovers.
. tests/house/house.sh

# Text without comments and strings, with file and line in front.
code_of() {
    awk '{
        line = $0; out = ""
        if (FNR == 1) inside = 0
        gsub(/\\\\|\\"/, "", line); gsub(/"[^"]*"/, "\"\"", line)
        while (line != "") {
            if (inside) { at = index(line, "*/"); if (!at) break; line = substr(line, at + 2); inside = 0 }
            else { at = index(line, "/*"); if (!at) { out = out line; break } out = out substr(line, 1, at - 1); line = substr(line, at + 2); inside = 1 }
        }
        sub(/\/\/.*/, "", out)
        if (out != "") print FILENAME ":" FNR ": " out
    }' "$@"
}

find engine nn data train models tests cmake -name '*.[ch]' -o -name '*.def' -o -name '*.sh' -o -name '*.cmake' -o -name '*.py' |
    xargs wc -l | awk '$2 != "total" && $1 > 600 { print $2 " has " $1 " lines, needed at most 600" }' |
    fail_lines "long files"

find engine nn data train models tests cmake -name '*.[ch]' -o -name '*.def' -o -name '*.cmake' |
    xargs awk 'length > 120 { print FILENAME ":" FNR " has " length " columns, needed at most 120" }' |
    fail_lines "long lines"

code_of $(library_sources) >"$work/code"
[ "$(wc -l <"$work/code")" -gt 1000 ] || fail "the sources were not found"

banned='abort|exit|_exit|raise|longjmp|setjmp|signal|printf|fprintf|vprintf|vfprintf|puts|putchar|fputs|perror|setlocale|strtod|strtof|strtold|atof|atoi|atol|sscanf|fscanf|scanf|rand|srand|random|strtok|gets|strcpy|strcat|sprintf|vsprintf|alloca|system|fopen|popen|tmpnam|mktemp|getenv'
grep -E "(^|[^A-Za-z0-9_.>])($banned) *\(" "$work/code" | fail_lines "banned calls"
grep -E '(^|[^A-Za-z0-9_.>])(malloc|calloc|realloc|free|aligned_alloc|posix_memalign|strdup) *\(' "$work/code" |
    grep -Ev '^engine/base/alloc(_system)?\.c:' | fail_lines "memory that does not come from base/alloc.h"
grep -E '# *include *[<"]cblas' "$work/code" | grep -v '^engine/cpu/gemm_blas\.c:' | fail_lines "cblas.h outside cpu/gemm_blas.c"
grep -E '# *include *<cmocka' -r tests --include='*.[ch]' | grep -v '^tests/support/' | fail_lines "cmocka.h outside tests/support"
grep -nE '__attribute__\(\((constructor|destructor)' -r engine nn data train | fail_lines "constructors"

# Models, nn, data and train live on public headers: <tenon/...>, the C library's, and those beside them.
for folder in nn data train models; do
    find $folder -name '*.[ch]' | xargs grep -nE '# *include *"[^"]*/' | fail_lines "$folder includes from another folder"
done

find engine nn data train models tests cmake -name '*.[ch]' -o -name '*.def' -o -name '*.cmake' |
    xargs grep -nE '\<(TODO|FIXME|XXX)\>' | fail_lines "notes to oneself"
for file in $(library_sources) $(find models tests -name '*.[ch]'); do
    case $(head -c 2 "$file") in
    '/*') ;;
    *) [ "${file%.kernel.h}" != "$file" ] && [ "$(head -c 1 "$file")" = "#" ] || echo "$file" ;;
    esac
done | fail_lines "files that do not begin with a comment that says what they are"
finish
