export type { Attempt } from './attempts.ts';
export { AttemptFold } from './attempts.ts';
export type { HubOptions } from './options.ts';
export { countLog, openLog, readLog, readTasks } from './read-log.ts';
export type { Replayed, ReplayHub } from './replay.ts';
export { startReplay } from './replay.ts';
export type { RunningHub } from './start-hub.ts';
export { startHub } from './start-hub.ts';
