"""Kernel and devices: samples of CPU, memory, pressure, and GPU.

All of them are read in the background, from `kernel_files` or a driver. Start at `cpu.py`.
"""
