"""Programs with a defect on which no rule and no constant was tried before they were judged.

    python -m benchmarks.accuracy.held_out [--keep DIRECTORY]

Each was written after the engine was frozen, and recorded as it was, with and without its
defect. What came out is in docs/accuracy.md, whatever it was. Ten of them follow a report
of a user each; "report 4 of the catalogue" numbers these reports, and the thread stands
beside the number.
"""
