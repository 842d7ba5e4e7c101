export { checkCommandLine } from './command-line.ts';
export type { ExternalAgentOptions } from './run-external-agent.ts';
export { runExternalAgent } from './run-external-agent.ts';
