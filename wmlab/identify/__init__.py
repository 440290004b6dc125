"""What an agent's values say about the world for certain: ranks, gaps, identified sets and bounds."""
