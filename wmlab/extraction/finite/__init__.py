"""What extractions in finite worlds share."""
