"""What was trained, and what it is trained on: data, read by nodes.domain.clauses.classifier."""
