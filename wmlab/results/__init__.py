"""What is made of stored measurements: named results, statistics, relations and claims."""
