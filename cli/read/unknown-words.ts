import { nearest } from '../../base/nearest.ts';
import { LoopEvent, loggedTypes, RunEvent } from '../../protocol/index.ts';
import type { LogFilter } from './filter.ts';
import type { Source } from './source.ts';

const eventTypes = [...LoopEvent.options, ...RunEvent.options].map(({ shape }) => shape.type.value);
const knownTypes: readonly string[] = [...loggedTypes, ...eventTypes];

/** What of a filter that found nothing is not known here, a line for each, with what was probably meant. */
export async function unknownWords(source: Source, { types = [], agents = [] }: LogFilter): Promise<string[]> {
  const ofTypes = types
    .filter((type) => !knownTypes.includes(type))
    .map((type) =>
      told(`${type} is no type of message, nor of an event that npc-crew knows`, nearest(type, knownTypes)),
    );
  const names = agents.length === 0 ? [] : await knownNames(source);
  const ofNames = agents
    .filter((name) => !names.includes(name))
    .map((name) => told(`nobody here is called ${name}`, nearest(name, names)));
  return [...ofTypes, ...ofNames];
}

async function knownNames(source: Source): Promise<string[]> {
  const agents = (await source.agents()).map(({ name }) => name);
  const ofTasks = (await source.tasks()).flatMap(({ owner, agent, target }) => [owner, agent ?? '', target]);
  return [...new Set([...agents, ...ofTasks])].filter((name) => name !== '');
}

function told(what: string, meant: string | undefined): string {
  return `npc-crew: ${what}${meant === undefined ? '' : `; did you mean ${meant}?`}`;
}
