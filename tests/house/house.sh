# What the scripts of this folder share; each includes it with `. tests/house/house.sh`, from the project's root.
# The variables BUILD, OBJECTS, BUILD_TYPE, SANITIZE, OPENBLAS, CC, NM and READELF come from tests/CMakeLists.txt.
set -u
LC_ALL=C
export LC_ALL
: "${BUILD:?run the house tests through ctest}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
floors="base random core dispatch cpu autograd ops nn data train"

# fail TEXT: notes a failure and goes on; in a file, since the right side of a pipe cannot set a variable
fail() {
    echo "FAILED: $*"
    echo "$*" >>"$work/failures"
}

# fail_lines HEADING: the same for each line on standard input; none is good
fail_lines() {
    sed 's/^/    /' >"$work/lines"
    if [ -s "$work/lines" ]; then
        fail "$1"
        cat "$work/lines"
    fi
}

# skip TEXT: what is asked cannot be judged in this build
skip() {
    echo "skipped: $*"
    exit 77
}

finish() {
    [ ! -s "$work/failures" ] || exit 1
    echo "passed"
}

# objects_of FLOOR: its object files, one a line
objects_of() {
    awk -v floor="$1" '$1 == floor { print $2 }' "$OBJECTS"
}

# The sources of the library, one a line.
library_sources() {
    find engine nn data train -name '*.[ch]' -o -name '*.def'
}
