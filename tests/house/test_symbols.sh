# What the libraries let in and out: no function that ends, silences or prints on the host's process, no writable data
# without a reason, no constructor, and no name outside tn_ (public) and tni_ (internal).
. tests/house/house.sh
[ -z "$SANITIZE" ] || skip "sanitizers add symbols of their own"

headers() {
    cat engine/include/tenon/*.h nn/include/tenon/*.h data/include/tenon/*.h train/include/tenon/*.h
}

# 1. Denied. assert is for debug builds only; __printf_chk and its kin are _FORTIFY_SOURCE's names of printf and its kin.
denied="abort exit _exit _Exit quick_exit raise kill __assert_fail __assert_perror_fail longjmp siglongjmp signal sigaction
    printf fprintf vprintf vfprintf dprintf puts putchar fputs fputc fwrite perror gets setlocale strtod strtof strtold
    atof atoi sscanf fscanf rand srand random drand48 strtok system stdin stdout stderr fesetround fesetenv feenableexcept"
for name in $denied; do
    [ "$name $BUILD_TYPE" = "__assert_fail Debug" ] || printf '%s\n__%s_chk\n__isoc99_%s\n' "$name" "$name" "$name"
done >"$work/denied"
cut -d' ' -f2 "$OBJECTS" | xargs "$NM" -A -u |
    awk 'NR == FNR { denied[$1] = 1; next } $NF in denied { print $NF, "in", $1 }' "$work/denied" - |
    fail_lines "the library must not call"

# 2. Writable data, thread-local or not. Constant data with addresses in it (.data.rel.ro) is read-only once loaded.
while read -r floor object; do
    file=$(basename "$object" .o)
    "$NM" -f sysv --defined-only "$object" | tr -d ' ' |
        awk -F'|' -v file="$floor/${file%.c}" '$3 ~ /^[bBdDC]$/ && $7 !~ /rel\.ro/ { sub(/\.[0-9.]+$/, "", $1); print file, $1 }'
done <"$OBJECTS" | sort -u >"$work/writable"
awk '/^#/ || NF == 0 { next } /^[a-z]/ { file = $1; sub(/:$/, "", file); next } { for (i = 1; i <= NF && $i != "--"; i++) print file, $i }' \
    tests/house/writable.txt | sort -u >"$work/allowed"
comm -23 "$work/writable" "$work/allowed" | fail_lines "writable data without a reason in tests/house/writable.txt"
if [ "$BUILD_TYPE $OPENBLAS" = "Release ON" ]; then
    comm -13 "$work/writable" "$work/allowed" | fail_lines "tests/house/writable.txt allows what is not there"
fi

# 3. Constructors: the linker drops an archive's members that nothing calls, and theirs with them.
cut -d' ' -f2 "$OBJECTS" | while read -r object; do
    "$READELF" -SW "$object" | grep -E '\.(init_array|ctors)' | sed "s|^|$object |"
done | fail_lines "constructors or destructors"

# 4. Names.
cut -d' ' -f2 "$OBJECTS" | xargs "$NM" -A -g --defined-only | awk '{ print $NF }' | sort -u >"$work/global"
grep -vE '^tni?_' "$work/global" | fail_lines "global names must begin with tn_ or tni_"
"$NM" -D --defined-only "$BUILD/libtenon.so" | awk '{ print $NF }' | sort -u >"$work/exported"
grep -v '^tn_' "$work/exported" | fail_lines "the shared library exports what does not begin with tn_"
grep '^tn_' "$work/global" | comm -23 - "$work/exported" | fail_lines "tn_ names that TN_API does not export"

# 5. Headers and library say the same.
headers | sed -n 's/^TN_API [^(]*[ *]\(tn_[A-Za-z0-9_]*\)(.*/\1/p' | sort -u >"$work/declared"
comm -23 "$work/exported" "$work/declared" | fail_lines "exported, but in no public header"
comm -13 "$work/exported" "$work/declared" | fail_lines "declared in a public header, but not there"

# 6. The shared library needs the C library alone, and is linked as a hardened one.
"$READELF" -d "$BUILD/libtenon.so" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p' |
    grep -vE '^(libc|libm|ld-linux[-a-z0-9_]*)\.so' | fail_lines "libtenon.so needs further libraries"
"$READELF" -d "$BUILD/libtenon.so" | grep -q 'SONAME.*libtenon\.so\.0' || fail "libtenon.so has another SONAME than libtenon.so.0"
if [ "$BUILD_TYPE" = Release ]; then
    for file in "$BUILD/libtenon.so" "$BUILD/tenon"; do
        "$READELF" -lW "$file" | grep -q GNU_RELRO || fail "$file has no RELRO"
        "$READELF" -d "$file" | grep -qE 'BIND_NOW|FLAGS_1.*NOW' || fail "$file binds late"
        "$READELF" -lW "$file" | grep -E 'GNU_STACK' | grep -q 'RWE' && fail "$file has an executable stack"
    done
    "$READELF" -d "$BUILD/tenon" | grep -q 'FLAGS_1.*PIE' || fail "the tenon command is no PIE"
    "$NM" -u "$BUILD/libtenon.so" | grep -q __stack_chk_fail || fail "libtenon.so has no stack protector"
fi
finish
