/* A scalar function with the bits of SLEEF's expf_u10, for results that must equal PyTorch's. */
#ifndef TNI_CPU_SLEEF_TWIN_H
#define TNI_CPU_SLEEF_TWIN_H

/* e^x with the bits of SLEEF 3.5's Sleef_expf1_u10purecfma, whose vector forms for AVX2 and AVX-512 give the same.
 * Within 1 ulp for normal results; 0 below -104, infinity above 100. The bits do not depend on the instruction set this
 * is compiled for. */
float tni_sleef_expf(float x);

#endif
