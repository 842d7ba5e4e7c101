// Reads vitest's JSON report, names what failed or was skipped, and ends with "N passed, N failed".
// Exits 1 when a test failed, when there was none, or when the Python example was skipped (CI installs what it needs).
import { readFileSync } from 'node:fs';

const report = read('test-report.json');
const tests = report.testResults.flatMap((file) => file.assertionResults.map((test) => ({ ...test, file: file.name })));
const having = (...states) => tests.filter((test) => states.includes(test.status));
const passed = having('passed');
const failed = having('failed');
const skipped = having('skipped', 'pending', 'todo');
// a file that could not be loaded has no tests of its own
const broken = report.testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0);

for (const test of failed) console.log(`failed: ${test.title}`);
for (const file of broken) console.log(`failed: ${file.name} could not be loaded`);
for (const test of skipped) console.log(`skipped: ${test.title}`);
const python = skipped.filter((test) => /python/i.test(test.title));
if (python.length > 0) console.log('the Python example must run here: install python3-websockets');

const failures = failed.length + broken.length + python.length;
console.log(`${passed.length} passed, ${failures} failed`);
process.exitCode = failures > 0 || passed.length === 0 ? 1 : 0;

function read(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    console.log(`no ${path}: the tests did not run`);
    console.log('0 passed, 1 failed');
    process.exit(1);
  }
}
