"""Reports: pages, figures and tables made of stored results, never computing any."""
