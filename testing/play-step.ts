import type { ServerResponse } from 'node:http';
import { sleep } from '../base/time.ts';
import { sendError, sendJson } from './json-answers.ts';
import { breakOff, playStream } from './play-stream.ts';
import type { Fault, Step } from './script.ts';
import { completionOf, type Frame } from './script-events.ts';

/** One reply to be played. */
export interface Play {
  readonly step: Step;
  readonly fault: Fault | undefined;
  readonly stream: boolean;
  readonly frame: Frame;
}

/** Answers one request with a step, or with what a fault makes of it. Settles when all is sent or the client is gone. */
export async function playStep(response: ServerResponse, { step, fault, stream, frame }: Play): Promise<void> {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  if (step.delay_ms > 0) await sleep(step.delay_ms, gone.signal).catch(ignoreGone);
  if (gone.signal.aborted) return;
  if (fault?.type === 'status') return sendStatusFault(response, fault);
  if (fault?.type === 'html') {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><html><title>Log in</title></html>\n');
    return;
  }
  if (fault?.type === 'error_body') return sendError(response, 200, fault.message, fault.code ?? null);
  if ((fault?.type === 'cut' || fault?.type === 'reset') && fault.after === 0) return breakOff(response, fault.type);
  if (!stream) return sendJson(response, 200, completionOf(step, frame));
  await playStream(response, { step, fault, frame, gone: gone.signal });
}

function ignoreGone(): void {}

function sendStatusFault(response: ServerResponse, fault: Extract<Fault, { type: 'status' }>): void {
  for (const [name, value] of Object.entries(fault.headers ?? {})) response.setHeader(name, value);
  if (fault.retry_after !== undefined) response.setHeader('retry-after', String(fault.retry_after));
  sendError(response, fault.status, fault.message ?? `scripted failure ${fault.status}`, fault.code ?? null);
}

/** What the step says it used, else about what the texts amount to (`asked` = the messages); null in the script means that the server does not say. */
export function usageOf(step: Step, asked: string): object | null {
  if (step.usage === null) return null;
  const output = step.text.length + step.thinking.length + JSON.stringify(step.calls).length;
  const {
    usage = {
      input: Math.ceil(asked.length / 4),
      output: Math.ceil(output / 4),
      cached: 0,
      thinking: 0,
    },
  } = step;
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cached },
    completion_tokens_details: { reasoning_tokens: usage.thinking },
  };
}
