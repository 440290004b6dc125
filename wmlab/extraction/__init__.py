"""World models read out of an agent's values. Nothing here can see the true dynamics."""
