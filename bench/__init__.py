"""Benchmarks: speed and quality beside the field's other tools, with limits that must hold."""
