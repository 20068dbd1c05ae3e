/* Reads a checkpoint. */
#include <tenon/checkpoint.h>
#include <tenon/extend.h>

tn_status tn_checkpoint_load(const char *path, const tn_checkpoint *checkpoint)
{
    (void)path, (void)checkpoint;
    return TN_FAIL(TN_ERROR_NOT_IMPLEMENTED, "checkpoint_load", "not there yet");
}

tn_status tn_checkpoint_save(const char *path, const tn_checkpoint *checkpoint)
{
    (void)path, (void)checkpoint;
    return TN_FAIL(TN_ERROR_NOT_IMPLEMENTED, "checkpoint_save", "not there yet");
}
