"""The application: where specs, plans, results and reports come together."""
