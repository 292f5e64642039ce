"""Exclusive seconds become findings of accounts; the ledger balances.

The flow: `contention` and `input_contention` take off what other processes did ->
`measured_accounts.judge_account` -> `balance.balance`, which adds up and says the verdict.
"""
