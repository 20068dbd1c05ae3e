/* Ends what simd_float.h or simd_double.h began. */
#undef T
#undef T_BITS
#undef T_IS_DOUBLE
#undef VEC
#undef VUINT
#undef VMASK
#undef VLANES
#undef V
#undef T_NAME
#undef T_PICK
