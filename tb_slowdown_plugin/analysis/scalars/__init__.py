"""Steps of a run without records to its report: pauses, onset, other scalars that change."""
