# README tells the truth: its C program compiles and says what is printed below it; the shown runs of `tenon` look like that
# (numbers may differ in their last digits from one CPU to another); files and functions that are named exist.
. tests/house/house.sh

# block LANGUAGE N FILE: the N-th fenced block of that language
block() {
    awk -v fence="\`\`\`$1" -v n="$2" '$0 == fence { if (++seen == n) { on = 1; next } } on && /^```$/ { exit } on' "$3"
}

if [ -z "$SANITIZE" ]; then
    block c 1 README.md >"$work/main.c"
    block text 1 README.md >"$work/expected"
    [ -s "$work/main.c" ] && [ -s "$work/expected" ] || fail "README has no C program with its output below"
    if "$CC" -std=c11 -Wall -Wextra -Werror -Iengine/include -Inn/include -Idata/include -Itrain/include -o "$work/main" \
        "$work/main.c" "$BUILD/libtenon.a" -lm -lpthread -ldl; then
        "$work/main" >"$work/said" || fail "README's program ends with an error"
        diff "$work/expected" "$work/said" >"$work/difference" || { fail "README's program says something else"; cat "$work/difference"; }
    else
        fail "README's program does not compile"
    fi
fi

# A number is a #, and a column is as wide as it likes.
normal() {
    sed -E 's/-?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?/#/g; s/ +/ /g; s/ $//'
}

n=1
shown=0
while :; do
    block console $n README.md >"$work/console"
    [ -s "$work/console" ] || break
    command=$(sed -n '1s/^\$ //p' "$work/console")
    case $command in
    "build/release/tenon "*)
        sed 1d "$work/console" | normal >"$work/expected"
        eval "$BUILD/tenon ${command#* }" </dev/null >"$work/output" 2>&1 || fail "$command ends with an error"
        normal <"$work/output" | diff "$work/expected" - >"$work/difference" || { fail "$command says something else"; cat "$work/difference"; }
        shown=$((shown + 1))
        ;;
    esac
    n=$((n + 1))
done
[ $shown -gt 0 ] || fail "README shows no run of tenon"

for file in README.md CONTRIBUTING.md; do
    grep -oE '`[A-Za-z_.]+/[A-Za-z0-9_./]*`' $file | tr -d '`' | sort -u | while read -r path; do
        case $path in build/* | *FLOOR* | *NAME*) continue ;; esac
        [ -e "$path" ] || echo "$file names $path"
    done | fail_lines "files that are not there"
    # names of C: whole ones, as fronts are made by macros a name may be there as its stem alone
    grep -oE '`tni?_[A-Za-z0-9_]+`' $file | tr -d '`' | sort -u | while read -r name; do
        grep -rqw -e "$name" engine nn data train || echo "$file names $name"
    done | fail_lines "functions that are not there"
    grep -oE '`TENON_[A-Z_]+`' $file | tr -d '`' | sort -u | while read -r name; do
        grep -rqw -e "$name" CMakeLists.txt cmake tests/CMakeLists.txt || echo "$file names $name"
    done | fail_lines "options that are not there"
done
finish
