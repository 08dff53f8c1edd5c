"""Runs named checks one after another, prints a line for each, and never hangs."""

import asyncio
import time

CHECK_SECONDS_MAX = 20
ALL_SECONDS_MAX = 120


class Checks:
    """The checks of one script, in the order in which they were added."""

    def __init__(self):
        self._checks = []

    def check(self, sentence):
        """Marks an async function as the check of what `sentence` says."""

        def add(function):
            self._checks.append((sentence, function))
            return function

        return add

    async def run(self, *arguments):
        """Runs all checks with these arguments and returns how many failed."""
        failed = 0
        deadline = time.monotonic() + ALL_SECONDS_MAX
        for sentence, function in self._checks:
            seconds = min(CHECK_SECONDS_MAX, deadline - time.monotonic())
            try:
                async with asyncio.timeout(max(seconds, 0)):
                    await function(*arguments)
                print(f'ok - {sentence}', flush=True)
            except Exception as error:  # a check reports whatever went wrong and lets the next one run
                failed += 1
                reason = str(error) or 'took too long'
                print(f'not ok - {sentence}: {type(error).__name__}: {reason}', flush=True)
        print(f'{len(self._checks) - failed} passed, {failed} failed', flush=True)
        return failed
