// Node.js with pg: the errors of the claim have SQLSTATEs of class KJ.
//
//   DATABASE_URL=postgresql://… K8SJOB_JOB=billing/daily-credit K8SJOB_PERIOD=2026-09-13 node credit.mjs 10

import pg from "pg";

// region: credit
export async function credit(client, { job, period, amount }) {
  await client.query("BEGIN");
  try {
    await client.query("SELECT k8sjob.claim_text($1, $2, $3)", [job, period, String(amount)]);
    await client.query("UPDATE accounts SET balance = balance + $1 WHERE name = 'alice'", [amount]);
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK").catch(() => {}); // the connection may be gone
    throw error;
  }
}
// endregion

// region: errors
// A duplicate had nothing to do; a conflict is no better at the next try.
const EXIT_CODES = { KJ001: 0, KJ002: 65 };

async function main({ DATABASE_URL, K8SJOB_JOB, K8SJOB_PERIOD }, amount) {
  const client = new pg.Client({ connectionString: DATABASE_URL });
  await client.connect();
  try {
    await credit(client, { job: K8SJOB_JOB, period: K8SJOB_PERIOD, amount });
    console.log("applied");
  } catch (error) {
    if (!(error.code in EXIT_CODES)) throw error;
    console.error(`${error.code} ${error.message}. ${error.detail}\n  ${error.hint}`);
    process.exitCode = EXIT_CODES[error.code];
  } finally {
    await client.end();
  }
}
// endregion

await main(process.env, process.argv[2]);
