"""Kernel and devices: samples of CPU, memory, pressure, and GPU.

Start at `cpu.py`.
"""
