/** The lanes: which room may import which. This table is the whole rule; ARCHITECTURE.md explains it. */
const floor = ['base', 'protocol'];
const lanes = {
  base: [],
  protocol: [],
  core: floor,
  config: floor,
  hub: floor,
  'hub-client': floor,
  tools: [...floor, 'core'],
  hooks: [...floor, 'core'],
  llm: [...floor, 'core'],
  testing: [...floor, 'core', 'cnb', 'llm/cassette'],
  coordinator: [...floor, 'core', 'hub-client'],
  cnb: [...floor, 'coordinator'],
  agents: [...floor, 'core', 'tools', 'hooks', 'hub-client'],
};
const all = [...Object.keys(lanes), 'cli', 'test', 'bench', 'examples'].join('|');
const rule = (name, from, to) => ({ name, severity: 'error', from, to });

export default {
  forbidden: [
    ...Object.entries(lanes).map(([room, ok]) =>
      rule(
        `lane:${room}`,
        { path: `^${room}/`, pathNot: '\\.test\\.ts$' },
        { path: `^(${all})/`, pathNot: `^(${[room, ...ok].join('|')})/` },
      ),
    ),
    rule('no-cycles', {}, { circular: true }),
    rule('nobody-imports-bench', { pathNot: '^bench/' }, { path: '^bench/' }),
    rule('agents-are-strangers', { path: '^agents/([^/]+)/' }, { path: '^agents/[^/]+/', pathNot: '^agents/$1/' }),
    rule(
      'pure',
      { path: '^(core|protocol)/', pathNot: '\\.test\\.ts$' },
      { dependencyTypes: ['core', 'npm'], pathNot: 'node_modules/zod/' },
    ),
    rule('openai-only-in-llm', { pathNot: '^(llm|bench)/' }, { path: 'node_modules/openai/' }),
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
  },
};
