/* What the lesson's own run gave, to compare with. */
#ifndef TENON_LESSON_H
#define TENON_LESSON_H

/* Outputs of forward_np in the lesson "Tensors" (make_moons(200, noise=0.2, random_state=0), init([2, 16, 16, 1]) with
 * seed 0, ReLU, ReLU, sigmoid, all in float64), by NumPy 1.24.2 with scikit-learn 1.2.1 on x86-64, in the order of the
 * points. */
enum { LESSON_SAMPLES = 200 };
extern const double lesson_output[LESSON_SAMPLES];

#endif
