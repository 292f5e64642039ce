"""Exclusive seconds become findings of accounts; the ledger balances.

Start at `measured_accounts.py`.
"""
