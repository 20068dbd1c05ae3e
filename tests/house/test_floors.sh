# Every undefined symbol of a floor's objects is defined in that floor, in a lower one, or in the C library; nn, data and
# train take from the engine what a public header declares. Include folders alone can be cheated with a prototype.
. tests/house/house.sh
[ -z "$SANITIZE" ] || skip "sanitizers add symbols of their own"

# What the system gives: the C library, its mathematics and loader, and the compiler's own helpers.
system="$work/system"
for name in libc.so.6 libm.so.6 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1; do
    path=$("$CC" -print-file-name=$name)
    [ "$path" = "$name" ] || "$NM" -D --defined-only "$path" | awk '{ sub(/@.*/, "", $NF); print $NF }'
done >"$system"
for path in "$("$CC" -print-libgcc-file-name)" "$("$CC" -print-file-name=libgcc.a)" "$("$CC" -print-file-name=libc_nonshared.a)"; do
    [ ! -e "$path" ] || "$NM" --defined-only "$path" 2>/dev/null | awk 'NF == 3 { print $3 }'
done >>"$system"
echo _GLOBAL_OFFSET_TABLE_ >>"$system"

for floor in $floors; do
    objects_of "$floor" | xargs "$NM" -A --defined-only -g | awk '{ print $NF }' | sort -u >"$work/$floor.defined"
    objects_of "$floor" | xargs "$NM" -A -u | awk '{ file = $1; sub(/:$/, "", file); sub(/.*\//, "", file); print $NF, file }' |
        sort -u >"$work/$floor.used"
    [ -s "$work/$floor.defined" ] || fail "$floor defines nothing"
done

# check FLOOR FILE...: the symbols that FLOOR uses and none of the files defines
check() {
    floor=$1
    shift
    cat "$@" "$system" | awk 'NR == FNR { known[$1] = 1; next } !($1 in known) { print $1, "in", $2 }' - "$work/$floor.used" |
        fail_lines "$floor uses what neither a lower floor nor the C library defines"
}

lower=""
for floor in base random core dispatch cpu autograd ops; do
    lower="$lower $work/$floor.defined"
    check "$floor" $lower
done
cat $lower | grep '^tn_' >"$work/public"
check nn "$work/nn.defined" "$work/public"
check data "$work/data.defined" "$work/public"
grep -h '^tn_' "$work/nn.defined" "$work/data.defined" >>"$work/public"
check train "$work/train.defined" "$work/public"
finish
