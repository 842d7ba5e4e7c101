/** What the agent loop, its hooks and the runtime of an agent promise. */
export const loop = {
  'R-LOOP-1': 'A task ends with the result that was submitted; a one-line answer takes one model call.',
  'R-LOOP-2': 'A state costs a model call only if the policy of the role asks for it.',
  'R-LOOP-3': 'A failing tool becomes a turn that the model can read.',
  'R-LOOP-4': 'An unknown tool and arguments that do not fit are told to the model, and nothing runs.',
  'R-LOOP-5': 'Nothing runs on arguments that are cut or broken (A10).',
  'R-LOOP-6':
    'Adjacent read-only calls run in parallel, all others one by one; order is kept, results are paired by id.',
  'R-LOOP-7': 'Every step is an event, durable before the next step begins.',
  'R-LOOP-8': 'Text without a result gets one nudge, unless the role was asked a question.',
  'R-LOOP-9': 'An empty reply is asked for once more.',
  'R-LOOP-10': 'A model that fails for good stops the loop with a typed reason and its own words.',
  'R-LOOP-11': 'The step limit stops the loop.',
  'R-LOOP-12': 'Cancel ends the loop at once, whatever model, tool or hook do (A11).',
  'R-LOOP-13': 'A result is capped by bytes, lines and line length, with head, tail and a word on how to get the rest.',
  'R-LOOP-14': 'Calls without progress are nudged, blocked and stopped (A9).',
  'R-LOOP-15': 'A hook may replace or refuse; a refusal is text for the model; a submit hook refuses at most twice.',
  'R-LOOP-16': 'Hooks stand at every point of a cycle; one that throws or hangs is reported and never fatal.',
  'R-LOOP-17': 'A new attempt goes on from the transcript and pays for no recorded reply again.',
  'R-LOOP-18': 'A crowded context loses old tool output, in whole pairs; one that cannot fit stops the loop (A14).',
  'R-LOOP-19': 'The loop shows that it is alive.',
} as const;
