/** The thread beside a recording: takes the secrets out of long replies, one after the other. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { createMasker } from '../../base/mask.ts';
import type { Exchange } from './format.ts';
import { maskReply, type Reading } from './mask-reply.ts';

/** A reply that is to be looked through. */
export interface LongReply {
  readonly chunks: Exchange['chunks'];
  readonly reading: Reading;
}

const port = parentPort as MessagePort;
const masker = createMasker(workerData as readonly string[]);
port.on('message', ({ chunks, reading }: LongReply) => {
  port.postMessage(maskReply(chunks, reading, masker));
});
