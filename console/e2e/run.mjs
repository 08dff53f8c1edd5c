// Runs checks one after the other: a line for each, the counts, and an exit code that says whether all hold.

/** `ONLY` in the environment names a part of the checks' names; by default all are run. Ends the process. */
export async function run(browser, checks) {
  const chosen = Object.entries(checks).filter(([name]) => name.includes(process.env.ONLY ?? ""));
  let failed = 0;
  for (const [name, check] of chosen) {
    try {
      await check();
      console.log(`ok    ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`FAIL  ${name}\n      ${String(error?.message ?? error).replaceAll("\n", "\n      ")}`);
    }
  }
  await browser.close();
  console.log(`${chosen.length - failed} passed, ${failed} failed`);
  process.exit(failed === 0 && chosen.length > 0 ? 0 : 1);
}
