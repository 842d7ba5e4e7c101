/** CNB: from a build's variables to a trigger, and the forge over its API. */
export { readConnection } from './connection.ts';
export { createCnbForge } from './forge.ts';
export { languageOf } from './language.ts';
export { liveMentions } from './mention.ts';
export { type PlatformModels, platformModels } from './platform-models.ts';
export { completeTrigger, readTrigger } from './trigger.ts';
