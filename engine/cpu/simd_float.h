/* The names of a kernel template for float; simd_undef.h ends them. No include guard: included once per template. */
#define T                             float
#define T_BITS                        uint32_t
#define T_IS_DOUBLE                   0
#define VEC                           vf32
#define VUINT                         vu32
#define VMASK                         vm32
#define VLANES                        VF32_LANES
#define V(op)                         vf32_##op
#define T_NAME(name)                  name##_f32
#define T_PICK(for_float, for_double) for_float
