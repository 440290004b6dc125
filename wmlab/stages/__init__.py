"""Thin adapters between stored data and the domain, one package for each sort of world."""
