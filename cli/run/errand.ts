import type { Log } from '../../base/log.ts';
import { completeTrigger, createCnbForge, languageOf, readConnection, readTrigger } from '../../cnb/index.ts';
import type { Environment } from '../../config/index.ts';
import type { Forge } from '../../coordinator/forge.ts';
import { runKeyOf } from '../../coordinator/run-key.ts';
import { threadCommandOf } from '../../coordinator/thread-command.ts';
import type { Trigger, TriggerReading } from '../../coordinator/trigger.ts';
import { Exit } from '../exit-code.ts';
import { goalTrigger } from './goal-trigger.ts';

type Impossible = Extract<TriggerReading, { kind: 'impossible' }>;

/** What a run is asked to do. */
export interface Errand {
  readonly trigger: Trigger;
  readonly runKey: string;
  /** Why it cannot be done; told in the comment where there is a thread. */
  readonly impossible?: Pick<Impossible, 'cause' | 'message'>;
}

/** Nothing to run: one line, and the exit code to end with. */
export interface NoErrand {
  readonly line: string;
  readonly exit: number;
}

interface ErrandSource {
  readonly goal?: string;
  readonly repo?: string;
  /** Key of a run that no thread started. */
  readonly drawnKey: string;
}

/** Reads what is to be done, from `--goal` or from the build's variables. */
export async function readErrand(source: ErrandSource, env: Environment): Promise<Errand | NoErrand> {
  if (source.goal === undefined) return fromReading(readTrigger(env));
  if (source.goal.trim() === '') {
    return {
      line: 'the goal is empty: say what is to be done, as in --goal "fix the failing test"',
      exit: Exit.partial,
    };
  }
  const trigger = await goalTrigger(source.goal, source.repo ?? '.', languageOf(source.goal));
  return { trigger, runKey: source.drawnKey };
}

function fromReading(reading: TriggerReading): Errand | NoErrand {
  switch (reading.kind) {
    case 'not_for_us':
      return { line: `nothing to do: ${reading.reason}`, exit: Exit.ok };
    case 'unusable':
      return { line: reading.message, exit: Exit.usage };
    case 'impossible':
      if (!reading.trigger?.thread) {
        return { line: reading.message, exit: reading.cause === 'needs_input' ? Exit.partial : Exit.red };
      }
      return { trigger: reading.trigger, runKey: runKeyOf(reading.trigger.thread), impossible: reading };
    case 'run':
      if (!reading.trigger.thread) return { line: 'the build names no thread', exit: Exit.usage };
      // the run that is meant reads it in the thread
      if (threadCommandOf(reading.trigger.request) === 'stop')
        return { line: 'nothing to do: a stop is for the run that is at work', exit: Exit.ok };
      return { trigger: reading.trigger, runKey: runKeyOf(reading.trigger.thread) };
    default:
      return reading satisfies never;
  }
}

/** The platform behind an errand; undefined for `--goal`. */
export function forgeOf(errand: Errand, env: Environment, log: Log): Forge | undefined {
  const { thread } = errand.trigger;
  return thread && createCnbForge({ connection: readConnection(env), thread, log });
}

/** Reads a request that the platform dropped for its size. */
export async function complete(errand: Errand, forge: Forge | undefined, env: Environment): Promise<Errand> {
  if (!forge || errand.impossible) return errand;
  const reading = await completeTrigger(errand.trigger, forge, readConnection(env).self.slug);
  if (reading.kind === 'run') return { ...errand, trigger: reading.trigger };
  return reading.kind === 'impossible' ? { ...errand, impossible: reading } : errand;
}
