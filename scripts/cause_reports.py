"""Real reports of each cause: threads that were read, and what they say.

Links only: nothing is fetched, and a thread may have moved since it was read.
"""

from __future__ import annotations

from typing import NamedTuple


class Report(NamedTuple):
    """A thread, and what was reported in it."""

    thread: str
    """OWNER/REPOSITORY#NUMBER on GitHub."""
    says: str

    @property
    def url(self) -> str:
        """Where it was read; GitHub redirects from `issues` to pull requests."""
        repository, _, number = self.thread.partition("#")
        return f"https://github.com/{repository}/issues/{number}"


REPORTS: dict[str, tuple[Report, ...]] = {
    "warm_up": (
        Report(
            "tensorflow/tensorflow#60425",
            "the 13th epoch takes 252 s, and each one after it less; no cause was confirmed",
        ),
        Report(
            "tensorflow/tensorflow#13114",
            "the first epoch takes 12 h, the next ones 2.5 h; each batch has another size",
        ),
    ),
    "retracing": (
        Report(
            "tensorflow/tensorflow#34907",
            "`train_on_batch` is retraced for each batch size; fixed by relaxed shapes",
        ),
        Report(
            "keras-team/keras#20369",
            "1.33 s per step while shapes alternate, 0.048 s once they have all been seen",
        ),
        Report(
            "keiohta/tf2rl#99",
            "TensorFlow's warning names three possible causes, and the user has to guess which",
        ),
        Report(
            "tensorflow/tensorflow#32258",
            'the warning\'s author on retracing: "one of the top usability issues now"',
        ),
    ),
    "xla_compilation": (
        Report("tensorflow/tensorflow#81896", "XLA recompiles whenever a dynamic shape changes"),
        Report(
            "tensorflow/tensorflow#76070",
            "`tf.slice` makes XLA compile on each call although the shape is fixed",
        ),
        Report(
            "tensorflow/tensorflow#25068",
            "a `boolean_mask` has a new length each time, and XLA compiles for each",
        ),
    ),
    "graph_growth": (
        Report(
            "tensorflow/tensorflow#1439",
            "slower and slower; a maintainer: the loop keeps adding nodes to the graph",
        ),
        Report(
            "smallcorgi/Faster-RCNN_TF#10",
            "0.4 s an iteration becomes 1 s after 10,000; a `tf.assign` in the loop was the reason",
        ),
        Report("wbhu/DnCNN-tensorflow#19", "`truncated_normal` is re-created on each call"),
    ),
    "tensor_retention": (
        Report(
            "sql-machine-learning/elasticdl#1144",
            "a persistent gradient tape keeps its tensors for the whole training",
        ),
        Report(
            "tensorflow/tensorflow#32276",
            "memory keeps increasing with `GradientTape`",
        ),
    ),
    "host_memory": (
        Report("tensorflow/tensorflow#27128", "`cache()` takes more memory than the machine has"),
        Report(
            "google/automl#1068",
            "memory climbs through the first epoch until the process is killed; `cache()` again",
        ),
        Report(
            "keras-team/keras#13118",
            "memory climbs beyond 20 GB while `model.predict` is called in a loop",
        ),
    ),
    "gpu_memory": (
        Report(
            "tensorflow/tensorflow#30827",
            "allocations fail although enough is free in total, because it is fragmented",
        ),
        Report("tensorflow/tensorflow#10152", "asks for a defragmentation of the allocator"),
    ),
    "garbage_collection": (
        Report(
            "pytorch/torchtitan#148",
            "collecting at the same steps on all of 512 GPUs makes an iteration 1.5% shorter",
        ),
        Report(
            "marin-community/marin#9224",
            "1.25 to 1.46 s for each full collection of a large heap (JAX)",
        ),
        Report(
            "google/tunix#2086",
            "two forced collections per step make the weight sync 1.2 s longer (JAX)",
        ),
    ),
    "input_pipeline": (
        Report("tensorflow/tensorflow#30646", "the shuffle buffer fills up before every epoch"),
        Report(
            "tensorflow/tensorflow#47090",
            "the same, and training takes drastically longer",
        ),
        Report("beringresearch/ivis#56", "the same, by a defect of TensorFlow 2.0 fixed in 2.1"),
    ),
    "host_device_transfer": (
        Report(
            "tensorflow/tensorflow#44836", "136 of 205 ms of an iteration are copies to the GPU"
        ),
        Report(
            "tensorflow/tensorflow#838",
            "a constant of 600 MB on the CPU is copied to the GPU at every step",
        ),
    ),
    "shape_churn": (
        Report(
            "tensorflow/tensorflow#5048",
            "images of ever-changing sizes train 5 to 10 times slower; cuDNN tunes itself for each",
        ),
    ),
    "optimizer_state": (
        Report(
            "tensorflow/tensorflow#24047",
            "memory grows with each call of `train` for the optimizers that keep state",
        ),
    ),
    "backward_pass": (
        Report(
            "tensorflow/tensorflow#23014",
            "computing gradients takes longer each epoch; still open, no cause confirmed",
        ),
    ),
    "checkpointing": (
        Report("deepchem/deepchem#458", "two minutes for an epoch, 30 s for saving it"),
    ),
    "disk": (
        Report("tensorflow/models#8785", "all checkpoints are kept: 2,250 of them, 560 GB"),
        Report("tensorflow/tensorflow#5929", "old checkpoints stay, and the disk is almost full"),
    ),
    "communication": (
        Report(
            "tensorflow/tensorflow#46278",
            "the profile of several workers shows too much time in collective operations",
        ),
        Report(
            "tensorflow/tensorflow#34752",
            "two workers are 1.3 times as fast as one; a maintainer names what it can be",
        ),
    ),
    "callbacks": (
        Report(
            "tensorflow/tensorflow#37876",
            "`on_train_batch_end` takes 0.4677 s, a batch 0.0027 s",
        ),
        Report(
            "keras-team/keras#608",
            "the author of Keras: most likely a custom callback slows the training down",
        ),
    ),
    "python_overhead": (
        Report(
            "Unity-Technologies/ml-agents#674",
            "slower the longer it runs: sampling from an experience buffer that keeps growing",
        ),
        Report(
            "UoA-CARES/cares_reinforcement_learning#117",
            "the last steps can take 100 times as long as the first; each addition was O(n)",
        ),
    ),
    "cpu_contention": (
        Report(
            "NVIDIA/k8s-device-plugin#56",
            "1.66 iterations a second become 0.85 by the pod's cgroup alone",
        ),
        Report(
            "moby/moby#38839",
            "TensorFlow under a CPU quota of one core is 4 times slower than pinned to one",
        ),
    ),
    "thermal": (
        Report(
            "tensorflow/tensorflow#40042",
            "slower and slower over 100,000 steps, until the GPU got a cooling pad",
        ),
    ),
    "profiling": (
        Report(
            "tensorflow/tensorflow#37876",
            "the warning of a slow callback goes away with `profile_batch=0`",
        ),
    ),
}


def list_reports(cause: str) -> str:
    """The reports of a cause as a Markdown list."""
    return "\n".join(f"- [{one.thread}]({one.url}): {one.says}." for one in REPORTS[cause])
