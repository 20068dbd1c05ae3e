"""Writes tests/data/metrics_sklearn.txt: accuracy, confusion, precision, recall, F1 and ROC area of drawn outputs as
scikit-learn has them. Replayed by tests/train/test_recorded_metrics.c.

    python tests/train/generate_metrics.py >tests/data/metrics_sklearn.txt

Words and numbers, lines that begin with # apart. A case is

    case SAMPLES OUTPUTS        1 output: a logit; more: one a class
    logits VALUES               SAMPLES times OUTPUTS, quarters, so that many are equal
    classes VALUES
    accuracy VALUE
    confusion VALUES            classes times classes
    precision VALUES            0 where nothing was classified so
    recall VALUES               0 where nothing is of the class
    f1 VALUES
    auc VALUE                   of 1 output; nan where one class is alone"""
import warnings

import numpy as np
import sklearn
from sklearn import metrics

warnings.simplefilter("ignore")
draw = np.random.default_rng(11)


def line(name, values):
    print(name, *[repr(v.item()) for v in np.asarray(values).ravel()])


def case(logits, classes):
    n, outputs = logits.shape
    said = logits.argmax(1) if outputs > 1 else (logits[:, 0] > 0).astype(int)
    labels = list(range(max(outputs, 2)))
    print("case", n, outputs)
    line("logits", logits)
    line("classes", classes)
    line("accuracy", metrics.accuracy_score(classes, said))
    line("confusion", metrics.confusion_matrix(classes, said, labels=labels))
    scores = metrics.precision_recall_fscore_support(classes, said, labels=labels, zero_division=0)
    for name, values in zip(("precision", "recall", "f1"), scores):
        line(name, values)
    if outputs == 1:
        line("auc", metrics.roc_auc_score(classes, logits[:, 0]))


print(f"# scikit-learn {sklearn.__version__}, NumPy {np.__version__}: tests/train/generate_metrics.py")
for n in (1, 2, 3, 5, 12, 40):
    for outputs in (1, 1, 1, 2, 3, 5):
        case(draw.integers(-8, 9, (n, outputs)) / 4, draw.integers(0, max(outputs, 2), n))
for n, number in ((1, 0), (4, 1), (9, 0)):
    case(draw.integers(-8, 9, (n, 1)) / 4, np.full(n, number))
    case(draw.integers(-8, 9, (n, 3)) / 4, np.full(n, number))
case(np.zeros((6, 1)), np.array([0, 1, 1, 0, 1, 1]))
case(np.zeros((6, 4)), np.array([0, 1, 2, 3, 3, 0]))
case(np.array([[-1.0], [-0.5], [0.25], [2.0]]), np.array([0, 0, 1, 1]))
case(np.array([[-1.0], [-0.5], [0.25], [2.0]]), np.array([1, 1, 0, 0]))
print("end")
