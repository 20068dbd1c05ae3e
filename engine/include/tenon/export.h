/* TN_API marks what the shared library exports; TN_BEGIN / TN_END give C linkage to C++ readers. */
#ifndef TENON_EXPORT_H
#define TENON_EXPORT_H

#if defined(__FAST_MATH__)
#error "Tenon needs IEEE arithmetic as written: build without -ffast-math"
#endif

#if defined(TENON_BUILDING)
#define TN_API __attribute__((visibility("default")))
#else
#define TN_API
#endif

#ifdef __cplusplus
#define TN_BEGIN extern "C" {
#define TN_END   }
#else
#define TN_BEGIN
#define TN_END
#endif

#endif
