/** One client of a model in a process of its own, asked to read replies. */
import { Rescue } from '../../llm/rescue/rescue.ts';
import { answer, settings } from '../answer.ts';
import { watchMemory } from '../watch.ts';
import { type ClientName, openClient } from './clients.ts';
import { tool } from './streams.ts';

const { name, baseURL } = settings<{ name: ClientName; baseURL: string }>();
const client = await openClient(name, baseURL);

/** What one reply took: CPU time of the whole process, user and system, and time on the wall, both µs. */
export interface Read {
  readonly cpu: number;
  readonly wall: number;
}

let memory: ReturnType<typeof watchMemory> | undefined;

const handlers = {
  /** Reads a reply from its first byte to its last. */
  read: async (stream: string): Promise<Read & { readonly characters: number }> => {
    const before = process.cpuUsage();
    const begun = performance.now();
    const characters = await client(stream);
    const wall = (performance.now() - begun) * 1000;
    const { user, system } = process.cpuUsage(before);
    return { cpu: user + system, wall, characters };
  },
  /** Puts a text through the rescue in pieces of so many characters; CPU time in µs. */
  rescue: ({ text, size }: { text: string; size: number }): { cpu: number; calls: number } => {
    const pieces: string[] = [];
    for (let at = 0; at < text.length; at += size) pieces.push(text.slice(at, at + size));
    const before = process.cpuUsage();
    const rescue = new Rescue({ offered: new Set([tool.function.name]) });
    for (const piece of pieces) rescue.text(piece);
    const { calls } = rescue.finish([]);
    const { user, system } = process.cpuUsage(before);
    return { cpu: user + system, calls: calls.length };
  },
  /** Resident memory in bytes; the first question starts the watch for the peak. */
  memory: () => {
    memory ??= watchMemory();
    return memory();
  },
};
export type ClientHandlers = typeof handlers;

answer(handlers, () => undefined);
