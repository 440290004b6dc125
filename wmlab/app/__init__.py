"""The laboratory: where specs, plans, results and reports come together."""
