"""Checks of what a purpose needs: each turns facts into lines. Pure, but for ``gather``."""
