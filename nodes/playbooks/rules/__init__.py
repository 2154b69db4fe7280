"""Clause rules by language, read by nodes.domain.rules."""
