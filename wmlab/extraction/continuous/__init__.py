"""World models fitted to an agent's values in a continuous world.

options     what a spec may say            models      next states from weights
unroll      returns inside a model         estimators  gradients of the Bellman residual
fit         from a view to a model         match       the best-matching next states
"""
