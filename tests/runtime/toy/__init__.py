"""Stages of integers, to test the runtime with."""
