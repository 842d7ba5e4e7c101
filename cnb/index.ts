/** CNB: from a build's variables to a trigger, and the forge over its API. */
export { type CnbConnection, readConnection } from './connection.ts';
export { type CnbForgeOptions, createCnbForge } from './forge.ts';
export { languageOf } from './language.ts';
export { liveMentions, type Mention, type NpcIdentity } from './mention.ts';
export { neutraliseMentions } from './neutralise.ts';
export { completeTrigger, readTrigger, type TriggerOptions } from './trigger.ts';
