"""Exclusive seconds become findings of accounts; the ledger balances.

The flow: `contention` and `input_contention` take off what other processes did ->
`measured_accounts.judge_accounts` -> `balance.balance`, which adds up -> `verdict.judge`.
"""
