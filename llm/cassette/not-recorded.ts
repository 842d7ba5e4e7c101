import { ModelError } from '../../core/model.ts';

/** A replay has no answer to a request: the fault of nobody's endpoint, so that no other try and no other route can help. */
export class NotRecorded extends ModelError {
  constructor(message: string) {
    super('misconfigured', message, { retryable: false });
    this.name = 'NotRecorded';
  }
}
