"""Reading YAML: values with the places where they were written."""
