"""Metrics beside scikit-learn's, over drawn scores with ties, classes that nobody has or chose, and one class alone."""

import ctypes as c
import math
import warnings

import tenon

try:
    warnings.simplefilter("ignore")
    import numpy as np
    from sklearn import metrics as theirs
except ImportError as missing:
    tenon.skip(missing)

import training as t

declare, pointer = t.declare, t.pointer
binary_accuracy = declare("tn_binary_accuracy", c.c_double, pointer, pointer)
accuracy = declare("tn_accuracy", c.c_double, pointer, pointer)
confusion_matrix = declare("tn_confusion_matrix", pointer, pointer, pointer)
class_score_of = declare("tn_class_score_of", c.c_int, pointer, c.c_int64, c.POINTER(t.ClassScore))
roc_auc = declare("tn_roc_auc", c.c_double, pointer, pointer)


def compare(matrix, classes, said, labels):
    wanted = theirs.confusion_matrix(classes, said, labels=labels)
    assert (t.to_array(t.make(matrix)) == wanted).all()
    all_of = theirs.precision_recall_fscore_support(classes, said, labels=labels, zero_division=0)
    for k in labels:
        score = t.ClassScore()
        t.done(class_score_of(matrix, k, score))
        found = (score.precision, score.recall, score.f1)
        assert all(abs(a - b[k]) <= 1e-15 for a, b in zip(found, all_of)), (found, [b[k] for b in all_of])
        assert score.samples == all_of[3][k]


def test_classes():
    draw = np.random.default_rng(1)
    for turn in range(200):
        n, kinds = int(draw.integers(1, 60)), int(draw.integers(2, 7))
        logits = draw.integers(-3, 4, (n, kinds)).astype(["f4", "f8"][turn % 2])  # with ties
        classes = draw.integers(0, draw.integers(1, kinds + 1), n)
        said = logits.argmax(1)
        with tenon.Scope():
            z, y = t.to_tensor(logits), t.to_tensor(classes)
            assert abs(accuracy(z, y) - theirs.accuracy_score(classes, said)) <= 1e-15
            compare(confusion_matrix(z, y), classes, said, list(range(kinds)))


def test_two_classes():
    draw = np.random.default_rng(2)
    for turn in range(200):
        n = int(draw.integers(1, 60))
        logits = (draw.integers(-3, 4, n) / 2).astype(["f4", "f8"][turn % 2])
        classes = draw.integers(0, 2, n) if turn % 5 else np.full(n, turn % 2)
        said = (logits > 0).astype(int)
        with tenon.Scope():
            z, y = t.to_tensor(logits), t.to_tensor(classes)
            wanted = theirs.accuracy_score(classes, said)
            assert abs(binary_accuracy(z, y) - wanted) <= 1e-15 and abs(accuracy(z, y) - wanted) <= 1e-15
            compare(confusion_matrix(z, y), classes, said, [0, 1])


def test_roc_auc():
    draw = np.random.default_rng(3)
    alone = 0
    for turn in range(400):
        n = int(draw.integers(1, 200))
        scores = draw.normal(size=n) if turn % 3 else draw.integers(-2, 3, n) / 4.0
        if turn % 7 == 0:
            scores[0] = 1e308
        scores = scores.astype(["f8", "f4"][turn % 2] if turn % 7 else "f8")
        classes = (draw.random(n) < draw.random()).astype(int)
        with tenon.Scope():
            found = roc_auc(t.to_tensor(scores), t.to_tensor(classes))
            if len(set(classes)) < 2:  # scikit-learn warns and gives nan
                alone += 1
                assert math.isnan(found) and tenon.status()[0] == tenon.ARGUMENT
                assert math.isnan(theirs.roc_auc_score(classes, scores))
            else:
                wanted = theirs.roc_auc_score(classes, scores)
                assert abs(found - wanted) <= 1e-14, (turn, found, wanted)
    assert alone > 5


t.run([test_classes, test_two_classes, test_roc_auc])
