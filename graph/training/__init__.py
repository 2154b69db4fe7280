"""Training of the clause model: a command of its own, never imported by a run."""
