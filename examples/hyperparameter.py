"""Choosing a hyper-parameter on private records: the depth of a decision tree, with scikit-learn.

The models are trained on public records, the choice is made on private ones. A model scores the number of
private records it classifies right. One record more or less moves each score by one or not at all, and
all in the same direction: sensitivity 1, monotonic, whatever the models are.
"""

from typing import Any

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

import discreet

DEPTHS = [1, 2, 3, 4, 6, 8]


def correct(public: Any, private: Any, depths: list[int]) -> dict[int, int]:
    """Return how many private records the tree of each depth, grown on public ones, gets right."""
    trees = {d: DecisionTreeClassifier(max_depth=d, random_state=0).fit(*public) for d in depths}
    records, labels = private
    return {d: int((tree.predict(records) == labels).sum()) for d, tree in trees.items()}


def main() -> None:
    """Release the depth that does well on private records."""
    records, labels = load_breast_cancer(return_X_y=True)
    split = train_test_split(records, labels, train_size=200, random_state=0)
    public, private = (split[0], split[2]), (split[1], split[3])
    scores = correct(public, private, DEPTHS)
    depth = discreet.select(
        scores, sensitivity=1, monotonic=True, epsilon=1, mechanism="permute_and_flip"
    )
    print(f"depth {depth}")


if __name__ == "__main__":
    main()
