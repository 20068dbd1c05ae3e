# Every public header compiles alone and twice, as C11 and as C++, and says something about every function.
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
    # a comment, then declarations without a blank line between: the comment is theirs
    awk '/\*\// { told = 1; next } /\/\*/ { inside = 1 } /^$/ { told = 0 }
         /^TN_API/ && !told { print FILENAME ":" FNR ": " $0 }' "$header"
done 2>&1 | fail_lines "headers that do not stand alone, or declare without a comment"
finish
