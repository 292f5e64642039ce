"""What the `--help` of each command says below its flags."""

from __future__ import annotations

from typing import Final

DESCRIPTION: Final = "Shows why TensorFlow training got slower, from the records in its logdir."
STATUSES: Final = """\
exit status:
  0  done
  2  unusable input; one line on stderr says what to do
"""
GATE_STATUSES: Final = f"{STATUSES}  3  slower than --fail-over PERCENT allows\n"
EPILOG: Final = f"""{GATE_STATUSES}
examples:
  tbslow run train.py                         train as always, and get a verdict
  tbslow report logs                          every run below logs
  tbslow report logs --run run1 --format json
  tbslow report logs --fail-over 10           for continuous integration
  tbslow compare logs/old logs/new            did the change make it slower?
  tbslow share logs -o run.zip                for a colleague or a bug report
  tbslow demo                                 a slow run to look at
  tbslow trace logs                           what a profiler capture shows
  tbslow fix logs                             a diff of your own source
  tbslow watch logs                           all runs while they train
  tbslow try train.py                         measure which change makes it faster
  tbslow fleet gs://bucket/logs               what all runs lost, and to which causes
"""
REPORT_EPILOG: Final = f"""{GATE_STATUSES}
examples:
  tbslow report logs                          every run below logs
  tbslow report logs --run run1 --format json
  tbslow report logs --format html -o report.html
  tbslow report logs --format markdown        for an issue or a pull request
  tbslow report logs --format junit --fail-over 10 -o tbslow.xml
  tbslow report logs --fail-over 10           for continuous integration:
                                              a run may lose 10% of its wall time
"""
COMPARE_EPILOG: Final = f"""{GATE_STATUSES}
A run is a directory with one run in it, or LOGDIR:RUN. All runs of a LOGDIR with several
are repeats. Runs of one program differ, too: give three or more of each side.

examples:
  tbslow compare logs/old logs/new            # with three runs in each: three per side
  tbslow compare logs:old logs:new --format json
  tbslow compare logs/old logs/new --format html -o compare.html
  tbslow compare --base a1 a2 a3 --with b1 b2 b3 --fail-over 5
"""
SHARE_EPILOG: Final = f"""{STATUSES}
Each record is decoded, searched for absolute paths and for this machine's user and host
names, and rewritten; your scalars, images, and graphs are left out.

examples:
  tbslow share logs -o run.zip
  tbslow share logs/run1 -o run.zip --with-captures
"""
DEMO_EPILOG: Final = f"""{STATUSES}
Trains for some seconds; needs TensorFlow.

examples:
  tbslow demo                                 into the new directory tbslow-demo
  tbslow demo logs/demo
"""
FIX_EPILOG: Final = f"""{STATUSES}
Run it in the program's directory. The diff is on stdout, for `git apply` and `patch -p1`; what
each change does is on stderr. Where no patch is certain to be right, it prints an example.

examples:
  tbslow fix logs                             see the changes
  tbslow fix logs --cause retracing | git apply
  tbslow fix logs --apply                     write them; FILE.orig is kept where git has no copy
"""
TRACE_EPILOG: Final = f"""{STATUSES}
Reads the file of any profiler that writes XPlanes (TensorFlow, JAX, PyTorch/XLA), without
TensorFlow and without XProf. For a directory it shows the newest capture; JSON has all.

examples:
  tbslow trace logs
  tbslow trace logs/plugins/profile/2026_11_21_06_40_12/vm.xplane.pb
  tbslow trace logs --format json
"""


WATCH_EPILOG: Final = f"""{STATUSES}
Follows all runs below LOGDIR, new ones included, until it is interrupted. A finding is sent
once, and once more when it is over or withdrawn. A webhook's address can be a secret: give
env:NAME or file:PATH. TBSLOW_WEBHOOK_TOKEN, or a file that TBSLOW_WEBHOOK_TOKEN_FILE names,
holds a bearer token for it.

examples:
  tbslow watch logs
  tbslow watch logs --once                    one line for each run
  tbslow watch logs --exec 'jq -r .text | mail -s slow me'
  tbslow watch logs --webhook env:SLACK_URL
  tbslow watch logs --prometheus 9464
"""


RUN_EPILOG: Final = """\
The program runs as with python PROGRAM ARGS, with the same output and exit status. At the end,
the verdict is on stderr. A program that uses tbslow defines its own steps. Otherwise the
batches of Keras are steps, or the calls that change trainable variables.

examples:
  tbslow run train.py --epochs 3
  tbslow run --logdir logs/run1 -m package.train
  tbslow run --step train_step train.py       a step is a call of the function train_step
  tbslow run --step fit train.py              only the batches of Keras are steps
"""
TRY_EPILOG: Final = """\
Each change is made from outside, in a new process and a new copy of the program's directory.
Relative paths, and arguments below that directory, lead into the copy. Writing to the original
by an absolute path is refused. Without --all and --only, the causes of the first run decide
what is tried.

exit status:
  0    done
  2    unusable input, or the program can't be tried; one line on stderr says why
  130  interrupted; results so far are printed

examples:
  tbslow try train.py --epochs 3
  tbslow try --all -m package.train
  tbslow try --only input_free,xla --format json train.py
  tbslow try --logdir tbslow-runs/train-20261130-120000 train.py
  tbslow try --patch train.py
"""
FLEET_EPILOG: Final = f"""{STATUSES}
Needs the extra fleet: pip install 'tb-slowdown-plugin[fleet]'; s3:// also needs s3fs, gs:// gcsfs.
With -o, runs that haven't changed are taken from FILE.parquet. A run that can't be read is a row
with the reason.

examples:
  tbslow fleet logs -o fleet.parquet
  tbslow fleet s3://bucket/vision s3://bucket/speech --format json | jq .by_cause
  tbslow fleet gs://bucket/logs --scheduler tcp://10.0.0.1:8786 -o fleet.parquet
  tbslow fleet logs --since 2026-11-01 --team 'exp-([a-z]+)'
"""
