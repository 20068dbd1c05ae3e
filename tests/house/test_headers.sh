# Every public header compiles alone and twice, as C11 and as C++, and its blocks have the form that CONTRIBUTING.md names:
# each names the errors of its functions, one item a line.
. tests/house/house.sh

includes="-Iengine/include -Inn/include -Idata/include -Itrain/include"
strict="-fsyntax-only -pedantic -Wall -Wextra -Wshadow -Werror"
cxx=""
for candidate in "${CXX:-g++}" clang++; do
    if echo 'int main() { return 0; }' | "$candidate" -x c++ -fsyntax-only - 2>/dev/null; then
        cxx=$candidate
        break
    fi
done
[ -n "$cxx" ] || echo "no C++ compiler here: headers are tried as C only"

for header in engine/include/tenon/*.h nn/include/tenon/*.h data/include/tenon/*.h train/include/tenon/*.h; do
    name=$(basename "$header")
    printf '#include <tenon/%s>\n#include <tenon/%s>\nint nothing;\n' "$name" "$name" >"$work/one.c"
    for standard in c11 c17; do
        "$CC" -std=$standard $strict -Wstrict-prototypes $includes "$work/one.c" || echo "$header fails as $standard"
    done
    [ -z "$cxx" ] || for standard in c++11 c++17; do
        "$cxx" -x c++ -std=$standard $strict $includes "$work/one.c" || echo "$header fails as $standard"
    done
    grep -q "<tenon/$name>" engine/include/tenon/tenon.h || case $name in
        tenon.h | export.h) ;;
        *) echo "tenon.h does not include $name" ;;
    esac
done 2>&1 | fail_lines "headers that do not stand alone"

# A block is a comment that begins a line, then declarations without a blank line between.
for header in engine/include/tenon/*.h nn/include/tenon/*.h data/include/tenon/*.h train/include/tenon/*.h; do
    awk '
        /^\/\*/ { inside = 1; told = 0; named = 0 }
        inside {
            text = $0
            sub(/^\/?[ *]*/, "", text)
            if (text ~ /^errors( |$)/) named = 1
            sub(/^[a-z]+ +/, "", text)
            if (text ~ /(^|[^A-Za-z0-9_.])(errors|cost|source|grad)([^A-Za-z0-9_(]|$)/ || text ~ /(^|[.;] )dtype  /)
                print FILENAME ":" FNR ": an item that does not begin its line: " $0
        }
        inside && /\*\// { inside = 0; told = 1; next }
        /^$/ { told = 0 }
        /^TN_API/ && !told { print FILENAME ":" FNR ": no comment: " $0 }
        /^TN_API/ && told && !named { print FILENAME ":" FNR ": errors are not named: " $0 }
    ' "$header"
done 2>&1 | fail_lines "blocks that do not have the form of the others"
finish
