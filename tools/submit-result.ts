import { z } from 'zod';
import { defineTool } from '../core/tool.ts';
import { TaskResultPayload } from '../protocol/index.ts';
import { mendResult } from './lib/mend-result.ts';

/** What the model is shown is the contract itself; what it sends is read more kindly. */
const { type: _type, $schema: _schema, ...contract } = z.toJSONSchema(TaskResultPayload, { io: 'input' });

export default defineTool({
  name: 'submit-result',
  description:
    'End this task with its result. status says whether you did your own job (a reviewer who objects has done it: ' +
    'success, with a blocking issue). Claim only what you saw happen. Call it once, alone, when nothing is left to do.',
  // It changes nothing by itself: when the result it named was lost with its attempt, the call is just run again.
  concurrent: true,
  input: z.looseObject({}).meta({ ...contract, additionalProperties: true }),
  run(input) {
    const { result, mended, wrong } = mendResult(input);
    if (result === undefined) {
      const shape =
        '{status: "success"|"failed", summary: text up to 2000 characters, artifacts: [{kind, title, text?, path?}], ' +
        'issues: [{severity: "blocking"|"warning"|"note", message, path?, line?, evidence?}]}';
      return { ok: false, text: ['The result was not taken:', ...wrong, `It has the shape ${shape}.`].join('\n') };
    }
    const notes = mended.length > 0 ? [`Put right: ${mended.join('; ')}.`] : [];
    return { ok: true, text: ['The result was taken.', ...notes].join(' '), filesTouched: [], submits: result };
  },
});
