"""What the `--help` of each command says below its flags."""

from __future__ import annotations

from typing import Final

DESCRIPTION: Final = "Tells why TensorFlow training got slower, from what it wrote into its logdir."
STATUSES: Final = """\
exit status:
  0  done
  2  unusable input; one line on stderr says what and what to do
  3  slower than --fail-over PERCENT allows
"""
EPILOG: Final = f"""{STATUSES}
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
  tbslow try train.py                         prove which change makes it faster
  tbslow fleet gs://bucket/logs               what all runs lost, and to which causes
"""
REPORT_EPILOG: Final = f"""{STATUSES}
examples:
  tbslow report logs                          every run below logs
  tbslow report logs --run run1 --format json
  tbslow report logs --format html -o report.html
  tbslow report logs --format markdown        for an issue or a pull request
  tbslow report logs --format junit --fail-over 10 -o tbslow.xml
  tbslow report logs --fail-over 10           for continuous integration:
                                              a run may lose 10% of its wall time
"""
COMPARE_EPILOG: Final = f"""{STATUSES}
A run is a directory with one run in it, or LOGDIR:RUN. All runs of a LOGDIR with several
are repeats.
Two runs of one program differ too: give three of each, and chance is told from change.

examples:
  tbslow compare logs/old logs/new            # if each holds three, three a side
  tbslow compare logs:old logs:new --format json
  tbslow compare logs/old logs/new --format html -o compare.html
  tbslow compare --base a1 a2 a3 --with b1 b2 b3 --fail-over 5
"""
SHARE_EPILOG: Final = f"""{STATUSES}
Each record is decoded, searched for absolute paths and for this machine's user and host
names, and written again; your scalars, images and graphs stay out.

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
Run it where the program is. The diff is on stdout, for `git apply` and `patch -p1`; what each
change does is on stderr. Where no patch is certain to be right, there is an example instead.

examples:
  tbslow fix logs                             see the changes
  tbslow fix logs --cause retracing | git apply
  tbslow fix logs --apply                     write them; FILE.orig is kept where git has no copy
"""
TRACE_EPILOG: Final = f"""{STATUSES}
Reads the file of any profiler that writes XPlanes (TensorFlow, JAX, PyTorch/XLA), without
TensorFlow and without XProf. Of a directory the newest capture is shown; JSON has all.

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
The program runs as by python PROGRAM ARGS, with the same output and exit status. Then the
verdict is on stderr. A program that uses tbslow itself says what a step is; else the batches
of Keras are steps, else the calls that change trainable variables.

examples:
  tbslow run train.py --epochs 3
  tbslow run --logdir logs/run1 -m package.train
  tbslow run --step train_step train.py       a step is a call of the function train_step
  tbslow run --step fit train.py              only the batches of Keras are steps
"""
TRY_EPILOG: Final = """\
Each change is made from outside, in a fresh process and a fresh copy of the program's
directory: relative paths lead into the copy, and so do arguments below that directory. What
the program would write there by an absolute path of its own is refused. Without --all and
--only, the causes of the first run decide what is tried.

exit status:
  0    done
  2    unusable input, or the program can't be tried; one line on stderr says why
  130  interrupted; what was known by then is printed

examples:
  tbslow try train.py --epochs 3
  tbslow try --all -m package.train
  tbslow try --only input_free,xla --format json train.py
  tbslow try --logdir tbslow-runs/train-20261130-120000 train.py
  tbslow try --patch train.py
"""
FLEET_EPILOG: Final = f"""{STATUSES}
Needs the extra fleet: pip install 'tb-slowdown-plugin[fleet]'; s3:// also needs s3fs, gs:// gcsfs.
With -o, runs that did not change since are taken from FILE.parquet and not read again. A run
that can't be read is a row with the reason.

examples:
  tbslow fleet logs -o fleet.parquet
  tbslow fleet s3://bucket/vision s3://bucket/speech --format json | jq .by_cause
  tbslow fleet gs://bucket/logs --scheduler tcp://10.0.0.1:8786 -o fleet.parquet
  tbslow fleet logs --since 2026-11-01 --team 'exp-([a-z]+)'
"""
