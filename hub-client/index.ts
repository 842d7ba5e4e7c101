export { connectHub } from './client.ts';
export type { ClientState, HubClient, HubClientOptions } from './hub-client.ts';
export type { AssignedTask } from './serve-tasks.ts';
export { serveTasks } from './serve-tasks.ts';
export { wireCode } from './wire-error.ts';
