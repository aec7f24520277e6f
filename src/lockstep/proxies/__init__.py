"""Proxies: memory behaviour of a program without the program."""
