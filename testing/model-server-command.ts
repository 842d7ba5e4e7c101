import { parseArgs } from 'node:util';
import { z } from 'zod';
import { AppError, messageOf } from '../base/errors.ts';
import { readCassette } from '../llm/cassette/cassette-file.ts';
import type { FaultSwitch } from './fault-plan.ts';
import { startModelServer } from './model-server.ts';
import { Fault, readScript } from './script.ts';

const help = `Serves chat completions that a script wrote or a run recorded, over real HTTP, without any key.

Usage: npm run model-server -- --script FILE [--port N] [--fault JSON]...
       npm run model-server -- --cassette FILE [--pace] [--port N]

  --script FILE  the script; its format is in docs/model-scripts.md
  --cassette FILE  what npc-crew run --record kept, played by role where the client tells it, else by what
                 is asked, else in order
  --pace         as slowly as it was recorded
  --port N       port on 127.0.0.1; default 0, a free one
  --fault JSON   a fault for every request until its "times" are used up, such as
                 '{"type":"status","status":429,"retry_after":1,"times":2}'
  --help         this text

The first line on stdout is the base URL. GET /requests tells what was asked, POST /faults replaces the faults.

Example: npm run model-server -- --script hello.json --port 4010
         OPENAI_BASE_URL=http://127.0.0.1:4010/v1 npc-crew run --goal "say hello" --repo .
`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      script: { type: 'string' },
      cassette: { type: 'string' },
      pace: { type: 'boolean', default: false },
      port: { type: 'string', default: '0' },
      fault: { type: 'string', multiple: true, default: [] },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(help);
    return;
  }
  const { script, cassette, pace } = values;
  if ((script === undefined) === (cassette === undefined))
    throw new AppError('usage', 'say what to play: --script FILE or --cassette FILE');
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new AppError('usage', `--port ${values.port}: 0 to 65535`);
  const server = await startModelServer({
    ...(script !== undefined && { script: await readScript(script) }),
    ...(cassette !== undefined && { cassette: await readCassette(cassette), pace }),
    port,
    faults: values.fault.map(toSwitch),
  });
  process.stdout.write(`${server.url}\n`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void server.close());
}

function toSwitch(json: string): FaultSwitch {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new AppError('usage', `--fault ${json}: no JSON (${messageOf(error)})`);
  }
  const fault = Fault.safeParse(value);
  if (!fault.success) throw new AppError('usage', `--fault ${json}: ${z.prettifyError(fault.error)}`);
  return { fault: fault.data };
}

try {
  await main();
} catch (error) {
  process.stderr.write(`model-server: ${messageOf(error)}\n`);
  const wrongUse = error instanceof AppError || (error as NodeJS.ErrnoException).code?.startsWith('ERR_PARSE_ARGS');
  process.exitCode = wrongUse ? 2 : 1;
}
