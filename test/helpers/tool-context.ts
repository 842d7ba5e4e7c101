import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { CommentRequest, PlanItem } from '../../core/host.ts';
import type { Tool, ToolContext, ToolOutcome } from '../../core/tool.ts';

/** A work tree in a temporary folder, with a host that notes what it is told; gone when the test ends. */
export interface Bench {
  readonly context: ToolContext;
  readonly cwd: string;
  readonly comments: CommentRequest[];
  readonly plans: (readonly PlanItem[])[];
  readonly cancel: AbortController;
  /** How often a tool showed that it is alive. */
  signs(): number;
  put(path: string, content: string | Buffer): Promise<void>;
  bytes(path: string): Promise<Buffer>;
  text(path: string): Promise<string>;
  /** Runs a tool as the loop does: input checked, a throw turned into text. */
  use(tool: Tool, input: Record<string, unknown>): Promise<ToolOutcome>;
}

/** Makes a {@link Bench}; call it inside a test. */
export async function toolBench(env: Record<string, string> = {}): Promise<Bench> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'npc-tool-')));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const cwd = join(root, 'tree');
  await mkdir(cwd);
  const comments: CommentRequest[] = [];
  const plans: (readonly PlanItem[])[] = [];
  const cancel = new AbortController();
  let signs = 0;
  const context: ToolContext = {
    cwd,
    signal: cancel.signal,
    memo: new Map(),
    env: { PATH: process.env.PATH ?? '', HOME: root, TMPDIR: root, LANG: 'C.UTF-8', ...env },
    alive: () => {
      signs += 1;
    },
    host: {
      ask: async (question) => `answer to: ${question}`,
      comment: async (request) => `c${comments.push(request)}`,
      plan: async (items) => {
        plans.push(items);
      },
    },
  };
  return {
    context,
    cwd,
    comments,
    plans,
    cancel,
    signs: () => signs,
    put: (path, content) => writeFile(join(cwd, path), content),
    bytes: (path) => readFile(join(cwd, path)),
    text: (path) => readFile(join(cwd, path), 'utf8'),
    async use(tool, input) {
      try {
        const outcome = await tool.run(tool.input.parse(input), context);
        return typeof outcome === 'string' ? { ok: true, text: outcome } : outcome;
      } catch (error) {
        cancel.signal.throwIfAborted();
        return { ok: false, text: (error as Error).message };
      }
    },
  };
}
