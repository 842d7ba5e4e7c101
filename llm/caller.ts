import type { ModelDelta } from '../core/model.ts';

/** Who asks, and pays. */
export interface Caller {
  readonly role: string;
  readonly agent: string;
  readonly taskId: string;
  readonly attempt: number;
  /** Replies the task had before, when the caller knows; else they are counted here. */
  readonly turn?: number | undefined;
  /** Logs what the model thinks itself. Default false: then whoever runs the gateway does. */
  readonly logsThinking?: boolean | undefined;
}

/** What a caller sees while a reply comes; `onRestart` = what was shown so far does not count. */
export interface Listener {
  readonly onDelta?: ((delta: ModelDelta) => void) | undefined;
  readonly onRestart?: (() => void) | undefined;
}
