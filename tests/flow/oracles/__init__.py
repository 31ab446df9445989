"""Tests that know the right answer because they made the program: oracles of values, of sameness and of delivery."""
