import { sendJson } from './answer.ts';
import type { OpenEndpoint } from './endpoint.ts';

/** Says that the process answers. */
export const healthz: OpenEndpoint = {
  method: 'GET',
  path: '/healthz',
  help: 'whether the process answers',
  answer: (response) => sendJson(response, { status: 'ok' }),
};

/** Says whether the hub can take and log frames, and up to where its log goes. */
export const readyz: OpenEndpoint = {
  method: 'GET',
  path: '/readyz',
  help: 'whether the hub serves: its epoch and the position of its log, or 503 and why not',
  answer: (response, state) => {
    if (state.name !== 'ready') return sendJson(response, { status: state.name, reason: state.reason }, 503);
    const { storage, position, replay } = state.view;
    return sendJson(response, { status: 'ready', epoch: storage.epoch, lsn: position(), ...(replay && { replay }) });
  },
};
