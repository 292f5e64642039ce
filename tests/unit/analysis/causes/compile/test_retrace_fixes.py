"""What helps against a retrace, by what changed and what is declared already."""

from dataclasses import replace

import pytest

from tb_slowdown_plugin.analysis.causes.common.programs.program import Program
from tb_slowdown_plugin.analysis.causes.compile.retrace_fixes import advise
from tb_slowdown_plugin.records.types import Change, Trace

SHAPE = Change("x", "shape", "(32, 10)", "(20, 10)")


def traced(cause, *changes, function="train_step", signature=("tf.TensorSpec([None])",)):
    return Trace(
        1, function, "train.py:12", 0.1, 0.1, cause, 2, changes=changes, signature=signature
    )


@pytest.mark.parametrize(
    ("evidence", "texts"),
    [
        (
            traced(
                "signature",
                Change("rate", "python_number", "Python float 0.05", "Python float 0.04"),
            ),
            ("Pass a tensor for `rate`", "At train.py:12, declare what varies"),
        ),
        (
            traced("signature", SHAPE),
            (
                "At train.py:12, declare what varies",
                "Drop the partial last",
                "Let TensorFlow generalize",
            ),
        ),
        (
            replace(
                traced("signature", Change("x", "shape", "(32, 10, 3)", "(32, 14, 3)")),
                jit_compile=True,
            ),
            ("Pad to a few lengths", "At train.py:12, declare what varies"),
        ),
        (
            traced("signature", Change("x", "dtype", "float32", "int32"), signature=()),
            ("Cast `x` to one dtype",),
        ),
        (traced("new_object"), ("Create the `tf.function` of `train_step`",)),
        (
            traced("new_object", function="Trainer.step"),
            ("Create the `Trainer` once", "Create the `tf.function` of `Trainer.step`"),
        ),
        (traced("new_object", function="Keras train step"), ("Call `compile()` once",)),
    ],
)
def test_advice_fits_what_is_known(evidence, texts):
    found = [each.text for each in advise(evidence)]
    assert len(found) == len(texts)
    assert all(text.startswith(start) for text, start in zip(found, texts, strict=True)), found


def test_a_function_that_is_declared_gets_no_declaration():
    key = frozenset({"train_step (train.py:12)"})
    found = advise(traced("signature", SHAPE), Program(declared=key, generalized=key))
    assert [each.text[:21] for each in found] == ["Drop the partial last"]
