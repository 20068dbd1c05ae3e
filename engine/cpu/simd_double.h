/* The names of a kernel template for double; simd_undef.h ends them. No include guard: included once per template. */
#define T                             double
#define T_BITS                        uint64_t
#define T_IS_DOUBLE                   1
#define VEC                           vf64
#define VUINT                         vu64
#define VMASK                         vm64
#define VLANES                        VF64_LANES
#define V(op)                         vf64_##op
#define T_NAME(name)                  name##_f64
#define T_PICK(for_float, for_double) for_double
