"""The runtime: a store of results, and an executor that fills it. It knows nothing of what the stages compute."""
