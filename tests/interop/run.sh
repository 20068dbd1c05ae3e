# Runs a test of this folder in Python ($PYTHON, else python3), or the rest of the line under valgrind; skipped (77)
# where that cannot be. usage: sh tests/interop/run.sh TEST.py | sh tests/interop/run.sh valgrind PROGRAM
skip() {
    echo "skipped: $*"
    exit 77
}

[ -z "${SANITIZE:-}" ] || skip "the library is sanitized, and its host is not"
if [ "$1" = valgrind ]; then
    command -v valgrind >/dev/null || skip "no valgrind here"
    # the pool of threads lives on: the memory of its threads is "possibly lost"
    exec valgrind --quiet --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
        --error-exitcode=9 "$2"
fi
python=${PYTHON:-python3}
command -v "$python" >/dev/null || skip "no $python here"
exec "$python" -B "$1"
