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

# C that is quoted from a model stands there, line by line.
n=2
while :; do
    block c $n README.md >"$work/quoted"
    [ -s "$work/quoted" ] || break
    found=no
    for file in models/*.c; do
        awk 'NR == FNR { want[++n] = $0; next } { $0 == want[at + 1] ? at++ : at = $0 == want[1]; if (at == n) { ok = 1; exit } }
            END { exit !ok }' "$work/quoted" "$file" && found=yes
    done
    [ $found = yes ] || fail "README's C block $n is in no model: $(head -1 "$work/quoted")"
    n=$((n + 1))
done

# A number is a #, and a column is as wide as it likes.
normal() {
    sed -E 's/-?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?/#/g; s/ +/ /g; s/ $//'
}

# The lines of a block that begin with "$ " are commands, those below what each says. They run in a folder of their own,
# where later ones find the files of earlier ones.
run_block() {
    awk -v to="$work/step" '/^\$ / { n++; print substr($0, 3) >(to "." n ".command"); printf "" >(to "." n ".expected"); next }
        { print >(to "." n ".expected") }' "$1"
}

mkdir "$work/shown"
n=1
shown=0
while :; do
    rm -f "$work"/step.*
    block console $n README.md >"$work/console"
    [ -s "$work/console" ] || break
    run_block "$work/console"
    i=1
    while [ -e "$work/step.$i.command" ]; do
        command=$(cat "$work/step.$i.command")
        case $command in
        *"build/release/tenon "*)
            line=$(printf '%s' "$command" | sed "s|build/release/tenon|$BUILD/tenon|g")
            (cd "$work/shown" && eval "$line" </dev/null >"$work/output" 2>&1) || fail "$command ends with an error"
            normal <"$work/step.$i.expected" >"$work/expected"
            normal <"$work/output" | diff "$work/expected" - >"$work/difference" ||
                { fail "$command says something else"; cat "$work/difference"; }
            shown=$((shown + 1))
            ;;
        esac
        i=$((i + 1))
    done
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
