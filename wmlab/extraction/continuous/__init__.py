"""World models that are networks, fitted to an agent's values in a continuous world.

options     what a spec may say            networks    multilayer perceptrons
models      next states from weights       losses      distances, and their slopes
unroll      returns inside a model         estimators  gradients of the Bellman residual
fit         all updates, with resumption   residual    how well a model explains the values
search      the best-matching next state   grids       models stored on a grid
"""
