import type { Hook } from '../core/hook.ts';

/** Masks secrets in what tools return, before a model or the log sees it. `mask` is that of the run's masker. */
export function redaction(mask: (text: string) => string): Hook {
  return {
    name: 'redaction',
    at: {
      'tool.after': ({ call, outcome }) => ({ replace: { call, outcome: { ...outcome, text: mask(outcome.text) } } }),
    },
  };
}
