// Writes docs/protocol.schema.json, for writers of agents in other languages.
import { writeFile } from 'node:fs/promises';
import { protocolSchema } from './protocol-schema.ts';

const target = new URL('../docs/protocol.schema.json', import.meta.url);
await writeFile(target, protocolSchema());
console.log(`wrote ${target.pathname}`);
