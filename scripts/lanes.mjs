// Runs dependency-cruiser over the rooms and fails when it saw no modules: a TypeScript it cannot read makes it pass in silence.
import { cruise } from 'dependency-cruiser';
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config';
import config from '../.dependency-cruiser.mjs';

const folders = [
  'agents',
  'base',
  'bench',
  'cli',
  'cnb',
  'config',
  'coordinator',
  'core',
  'hooks',
  'hub',
  'hub-client',
  'llm',
  'protocol',
  'testing',
  'tools',
  'test',
];
const result = await cruise(
  folders,
  { ...config.options, ruleSet: { forbidden: config.forbidden }, validate: true },
  undefined,
  {
    tsConfig: extractTSConfig('tsconfig.json'),
  },
);
const { summary } = result.output;
for (const { rule, from, to } of summary.violations) console.error(`${rule.name}: ${from} -> ${to}`);
if (summary.totalCruised < 20) {
  console.error(
    `lanes: only ${summary.totalCruised} modules were seen; is this TypeScript one that dependency-cruiser reads?`,
  );
  process.exit(1);
}
if (summary.error > 0) process.exit(1);
console.error(`lanes: ${summary.totalCruised} modules, no import crosses a lane`);
