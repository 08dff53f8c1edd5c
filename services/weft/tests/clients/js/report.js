// Runs named checks one after another, prints a line for each, and never hangs.

const CHECK_MS_MAX = 20_000;
const ALL_MS_MAX = 120_000;

const checks = [];

/** Adds the check of what `sentence` says. */
export function check(sentence, run) {
  checks.push({ sentence, run });
}

/** Runs all checks with this argument and returns how many failed. */
export async function runAll(argument) {
  let failed = 0;
  const deadline = Date.now() + ALL_MS_MAX;
  for (const { sentence, run } of checks) {
    const ms = Math.max(0, Math.min(CHECK_MS_MAX, deadline - Date.now()));
    try {
      await within(ms, run(argument));
      console.log(`ok - ${sentence}`);
    } catch (error) {
      failed += 1;
      console.log(`not ok - ${sentence}: ${error.name}: ${String(error.message).split('\n').join(' ')}`);
    }
  }
  console.log(`${checks.length - failed} passed, ${failed} failed`);
  return failed;
}

async function within(ms, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no end within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
