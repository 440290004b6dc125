"""What other libraries save of an agent, read as plain numbers and turned into a perceptron and a first spec.

archives  parts of a .zip, within limits      instructions  the pickle of torch.save, as data and never run
torch_file, flax_file, array_file             tensors by name, each read when it is asked for
spaces    spaces as Gymnasium prints them     sb3, cleanrl  agents of Stable-Baselines3; CleanRL's critics
layers    tensors as layers in a row          fold          quantiles, duelling heads, averages and scales, taken in
bring     from a file to what is written      spec_text, probe_text   the spec, and the lines that make a probe
"""
